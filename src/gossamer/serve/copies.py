"""The stored copy of a page: whether it may be shown, and as what.

A copy is a stranger's document, and is answered so that no browser gives it our rights:

  * characters are decoded as they were when the page was parsed and sent as UTF-8, with a header
    that says so, which outranks any meta element; a byte-order mark cannot say otherwise (WHATWG
    Encoding §6, HTML §13.2.3.1);
  * `sandbox` gives it an origin of its own, and neither scripts, forms, popups nor navigation of
    another frame; the rest of the policy leaves nothing to be fetched (CSP 3, HTML §7.1.5);
  * no policy keeps Chromium from calling the host of a `<link rel=preconnect>`, or of a frame that
    it then does not load: these are sent as meta elements, which ignore what they were;
  * nor from connecting to where a click on a link would lead, were it allowed. So links lead to
    other places of the copy alone: what else is called `href` is sent as `&#104;ref`, which is the
    same where it is text, and no attribute that anything knows. What could bring it back, SVG's
    animations, become meta elements, too;
  * what is neither HTML nor text is a file to be saved, of a type that nothing opens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from gossamer.encodings import NAMES, codec_of
from gossamer.errors import MissingFile
from gossamer.warc import WarcReader

if TYPE_CHECKING:
    from gossamer.serve.pages import Capture, Pages
    from gossamer.workspace import Workspace

MAX_COPY_BYTES = 16 << 20
MARKUP = frozenset(("text/html", "application/xhtml+xml"))
POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""Of a copy. Only our own page may frame it."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-dns-prefetch-control": "off",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
}
REACHABLE = '<body tabindex="0">'
"""Keys reach a frame only where something in it takes the focus (Chromium). A second body gives its
attributes to the first one (HTML §13.2.6.4.7)."""
_CALLS = re.compile(r"<(?:link|i?frame|animate|set)(?=[\s/>])", re.IGNORECASE)
_LEADS = re.compile(r"""(?<=[\s/"':])h(?=ref\s*=(?!\s*["']?\#))""", re.IGNORECASE)

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


class Refusal(msgspec.Struct, frozen=True):
    """Why a copy is not shown, in a sentence, and the HTTP status that says so."""

    status: int
    why: str


def find(work: Workspace, pages: Pages, url: str) -> Copy | Refusal:
    """The copy of a URL in normal form. Raises StoreError."""
    state = pages.state(url)
    captured = pages.capture(url)
    if state is None or captured is None:
        return Refusal(404, "The crawl has stored no copy of this page.")
    if (why := _unwanted(state["status"], captured, work.now_ms())) is not None:
        return why
    row, document = captured.response, captured.document or {}
    charset = _charset(document["content_type"], document["charset"])
    named = {
        file.path
        for layer in work.store.manifest.layers("warc", row["round"])
        for file in layer.files
    }
    if row["warc_file"] not in named:
        return Refusal(
            503, f"{row['warc_file']} is no part of this crawl: put it back from a copy."
        )
    return Copy(
        url,
        row["fetched_ms"],
        _kind(document["content_type"], charset),
        charset,
        row["truncated"],
        row["warc_file"],
        row["warc_offset"],
    )


def _unwanted(status: str, captured: Capture, now_ms: int) -> Refusal | None:
    """Why a copy that is there must not be shown."""
    document = captured.document
    if document is None:
        return Refusal(404, "This page is not parsed yet.")
    until_ms = document["unavailable_after_ms"]
    reasons = (
        (
            document["outcome"] == "failed",
            "This page could not be read; it may ask not to be shown.",
        ),
        (status == "excluded", "The site's robots.txt does not want this page to be fetched."),
        (document["noarchive"], "This page asks that no copy of it be shown (noarchive)."),
        (until_ms is not None and until_ms <= now_ms, "This page asked not to be shown any more."),
        (
            captured.response["body_bytes"] > MAX_COPY_BYTES,
            f"The copy is larger than {MAX_COPY_BYTES >> 20} MB.",
        ),
    )
    why = next((why for holds, why in reasons if holds), None)
    return None if why is None else Refusal(403, why)


def _charset(content_type: str | None, found: str | None) -> str | None:
    """The encoding of a text; None: it is none. Parsers of JSON and XML do not tell theirs."""
    if found is None and _TEXT.fullmatch(content_type or ""):
        return "utf-8"
    return found if found in NAMES else None


def _kind(content_type: str | None, charset: str | None) -> Kind:
    if charset is None:
        return "file"
    return "markup" if content_type in MARKUP else "text"


def stored(root: str, copy: Copy) -> bytes:
    """The bytes of a copy as they were fetched. Raises MissingFile."""
    path = f"{root}/{copy.file}"
    try:
        with WarcReader(path) as reader:
            record = reader.at(copy.offset)
    except OSError:
        record = None
    if record is None:
        raise MissingFile(path, f"no whole record at {copy.offset}", "put it back from a copy")
    return record.body


def body(root: str, copy: Copy) -> tuple[bytes, dict[str, str]]:
    """The bytes to be sent for a copy, and their headers. Raises MissingFile."""
    fetched = stored(root, copy)
    if copy.charset is None:
        saved = {"content-type": "application/octet-stream", "content-disposition": "attachment"}
        return fetched, HEADERS | saved
    text = fetched.decode(codec_of(copy.charset), "replace").removeprefix("\ufeff")
    if copy.kind == "markup":
        text = _LEADS.sub(lambda h: f"&#{ord(h[0])};", _CALLS.sub("<meta", text)) + REACHABLE
    media = "text/html" if copy.kind == "markup" else "text/plain"
    return text.encode("utf-8", "replace"), HEADERS | {"content-type": f"{media}; charset=utf-8"}
