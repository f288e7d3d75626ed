"""Parts of other formats that stand in a DOCX file (altChunk, ISO/IEC 29500-1 §17.17.2.1).

Programs that make reports put HTML there, often as MHTML (RFC 2557), and Word merges it. What a
chunk is follows from its bytes.
"""

from __future__ import annotations

import re
from email import policy
from email.parser import BytesParser
from typing import TYPE_CHECKING

from gossamer.parse.documents.docx import read_docx
from gossamer.parse.documents.html_markup import HtmlWalk
from gossamer.parse.documents.rtf import read_rtf
from gossamer.parse.documents.zip_archive import opened
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from gossamer.parse.documents.document_draft import Draft

MAX_MESSAGE_BYTES = 4 << 20
"""Bytes of an MHTML chunk that are read."""
_MESSAGE = re.compile(rb"\s*(?:MIME-Version|Content-[A-Za-z-]+|From|Date|Subject):", re.IGNORECASE)
_MARKUP = re.compile(rb"<[A-Za-z!]")
_START_BYTES = 1_024


def read_chunk(body: bytes, draft: Draft) -> None:
    """Add the text of a chunk to a draft, whose metadata stays. Raises Broken and Unsupported."""
    metadata, pages = dict(draft.metadata), draft.pages
    try:
        _read(body, draft)
    finally:
        draft.metadata, draft.pages = metadata, pages


def _read(body: bytes, draft: Draft) -> None:
    start = body[:_START_BYTES].lstrip()
    if start.startswith(b"PK\x03\x04"):
        with opened(body) as archive:
            read_docx(archive, draft)
    elif start.startswith(b"{\\rtf"):
        read_rtf(body, draft)
    elif _MESSAGE.match(start):
        HtmlWalk(draft).read_html(_html_of(body[:MAX_MESSAGE_BYTES]))
    elif _MARKUP.search(start):
        HtmlWalk(draft).read_html(decode(body, None)[0])
    else:
        for line in decode(body, None)[0].splitlines():
            draft.say(line)


def _html_of(message: bytes) -> str:
    """Return the first HTML part of a message."""
    for part in BytesParser(policy=policy.compat32).parsebytes(message).walk():
        if part.get_content_type() == "text/html":
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes):
                return decode(payload, part.get_content_charset())[0]
    return ""
