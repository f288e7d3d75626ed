"""The stored copy of a page: whether it may be shown, and in which form.

A copy is a stranger's document, so it is sent in a way that gives it none of our origin's rights:

  * The text is decoded as it was when the page was parsed, and sent as UTF-8. The header declares
    that and outranks any meta element; a byte-order mark, which would outrank the header, is
    removed (WHATWG Encoding §6, HTML §13.2.3.1).
  * `sandbox` gives it an opaque origin and forbids scripts, forms, popups and navigating other
    frames. The rest of the policy allows no fetches (CSP 3, HTML §7.1.5).
  * No policy keeps Chromium from connecting to the host of a `<link rel=preconnect>`, or of a frame
    that it then does not load. These elements are sent as meta elements, which ignore such
    attributes.
  * Nor does a policy keep it from connecting ahead to the target of a link. So only links within
    the copy work: every other `href` is sent as `&#104;ref`, which reads the same in text but is
    not a known attribute name. SVG's animation elements, which could set `href` again, also become
    meta elements.
  * Anything but HTML and text is sent as a file to save, with a type that no program opens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from gossamer.errors import RESTORE, MissingFile
from gossamer.storage.warc import WarcReader
from gossamer.web.encodings import NAMES, codec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.search.page_info import Capture, PageInfo
    from gossamer.state.workspace import Workspace
    from gossamer.storage.warc import StoredResponse

MAX_COPY_BYTES = 16 << 20
MARKUP = frozenset(("text/html", "application/xhtml+xml"))
POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""The Content-Security-Policy of a copy. Only our own page may frame it."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-dns-prefetch-control": "off",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
}
REACHABLE = '<body tabindex="0">'
"""Makes a copy scrollable by keyboard: in Chromium, keys reach a frame only if something in it can
take the focus. A second body element adds its attributes to the first one (HTML §13.2.6.4.7)."""
_CALLS = re.compile(r"<(?:link|i?frame|animate|set)(?=[\s/>])", re.IGNORECASE)
_LEADS = re.compile(r"""(?<=[\s/"':])h(?=ref\s*=(?!\s*["']?\#))""", re.IGNORECASE)

PIECE_CHARS = 32_768
"""A regular expression holds the interpreter until it is done. The event loop would stand still for
a whole copy, so markup is rewritten in pieces."""

_TEXT = re.compile(r"text/.+|application/(?:.+\+)?(?:json|xml)|image/svg\+xml")

Kind = Literal["markup", "text", "file"]


class Copy(msgspec.Struct, frozen=True):
    """A copy that may be shown."""

    url: str
    fetched_ms: int
    kind: Kind
    charset: str | None
    truncated: bool
    file: str
    offset: int
    bytes: int


class Refusal(msgspec.Struct, frozen=True):
    """Why a copy is not shown, as a sentence, with the HTTP status to send."""

    status: int
    why: str


def find_copy(work: Workspace, pages: PageInfo, url: str) -> Copy | Refusal:
    """Find the copy of a URL in normal form, or why it is not shown. Raises StoreError."""
    state = pages.state(url)
    captured = pages.capture(url)
    if state is None or captured is None:
        return Refusal(404, "The crawl has stored no copy of this page.")
    if (why := _copy_objection(state["status"], captured, work.now_ms())) is not None:
        return why
    row, document = captured.response, captured.document or {}
    if row["warc_file"] is None:
        return Refusal(
            404, "The copy of this page was lost. The page is fetched again when it is due."
        )
    charset = _copy_charset(document["content_type"], document["charset"])
    if not work.store.manifest.names(row["warc_file"], row["round"]):
        return Refusal(503, f"The manifest does not name {row['warc_file']}: {RESTORE}.")
    return Copy(
        url,
        row["fetched_ms"],
        _copy_kind(document["content_type"], charset),
        charset,
        row["truncated"],
        row["warc_file"],
        row["warc_offset"],
        row["body_bytes"],
    )


def _copy_objection(status: str, captured: Capture, now_ms: int) -> Refusal | None:
    """Why an existing copy must not be shown, or None."""
    document = captured.document
    if document is None:
        return Refusal(404, "This page has not been parsed yet.")
    until_ms = document["unavailable_after_ms"]
    reasons = (
        (
            document["outcome"] == "failed",
            "This page could not be parsed, so it is not known whether it allows copies.",
        ),
        (status == "excluded", "robots.txt or a filter rule forbids fetching this page."),
        (document["noarchive"], "This page asks search engines not to show copies (noarchive)."),
        (until_ms is not None and until_ms <= now_ms, "This page has expired (unavailable_after)."),
        (
            captured.response["body_bytes"] > MAX_COPY_BYTES,
            f"The copy is larger than {MAX_COPY_BYTES >> 20} MB, the most that is shown.",
        ),
    )
    why = next((why for holds, why in reasons if holds), None)
    return None if why is None else Refusal(403, why)


def _copy_charset(content_type: str | None, found: str | None) -> str | None:
    """The encoding of a text, or None if the body is not text.

    The parsers of JSON and XML do not report theirs; UTF-8 is assumed.
    """
    if found is None and _TEXT.fullmatch(content_type or ""):
        return "utf-8"
    return found if found in NAMES else None


def _copy_kind(content_type: str | None, charset: str | None) -> Kind:
    if charset is None:
        return "file"
    return "markup" if content_type in MARKUP else "text"


def read_record(root: str, file: str, offset: int) -> StoredResponse:
    """The response at a place of the archive as it was fetched. Raises MissingFile."""
    path = f"{root}/{file}"
    try:
        with WarcReader(path) as reader:
            record = reader.at(offset)
    except OSError:
        record = None
    if record is None:
        raise MissingFile(path, f"no complete record at byte {offset}")
    return record


def read_body(root: str, copy: Copy) -> bytes:
    """The body of a copy as it was fetched. Raises MissingFile."""
    return read_record(root, copy.file, copy.offset).body


def copy_body(root: str, copy: Copy) -> tuple[bytes, dict[str, str]]:
    """The body and the headers to send for a copy. Raises MissingFile."""
    fetched = read_body(root, copy)
    if copy.charset is None:
        saved = {"content-type": "application/octet-stream", "content-disposition": "attachment"}
        return fetched, HEADERS | saved
    text = fetched.decode(codec_of(copy.charset), "replace").removeprefix("\ufeff")
    if copy.kind == "markup":
        text = "".join(map(block_connections, copy_pieces(text))) + REACHABLE
    media = "text/html" if copy.kind == "markup" else "text/plain"
    return text.encode("utf-8", "replace"), HEADERS | {"content-type": f"{media}; charset=utf-8"}


def copy_pieces(markup: str) -> Iterator[str]:
    """Yield pieces of at least PIECE_CHARS, except the last, each of which ends before a `<`.

    No match of _CALLS or _LEADS, nor what it looks ahead to, contains a `<` but at its beginning.
    """
    start = 0
    while start < len(markup):
        tag = markup.find("<", start + PIECE_CHARS)
        end = tag if tag > 0 else len(markup)
        yield markup[start:end]
        start = end


def block_connections(markup: str) -> str:
    """Rewrite what would make Chromium connect to other hosts; see above."""
    return _LEADS.sub(lambda h: f"&#{ord(h[0])};", _CALLS.sub("<meta", markup))
