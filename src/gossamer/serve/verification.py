"""Proves an answer from the archive: its record, the digest of the body, and the words in it.

An answer names pages, and for each where its body lies (`search/provenance.py`). A file is never
opened because an answer names it: the rows of `responses` say where bodies of a page are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gossamer.index.format.normalization import compose_characters
from gossamer.parse.page_rules import rules_of
from gossamer.parse.parsed_page import Page
from gossamer.parse.process.guarded_parser import standing_parser
from gossamer.search.provenance import Provenance
from gossamer.storage.warc import StoredResponse, WarcReader, payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.parse.parsed_page import ParsedPage
    from gossamer.search.page_info import PageInfo
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace

TEXTS = ("markdown", "text", "passage", "snippet")
"""Fields of answers with text of the page."""
MAX_DEPTH = 8
LISTS = ("results", "hits", "passages")
"""Fields of answers that hold others."""
_ROW = ("outcome", "digest", "fetched_ms", "warc_file", "warc_offset")


class Claim(NamedTuple):
    """What an answer says about a page. `provenance` has the fields of Provenance, or is empty."""

    url: str
    texts: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the archive proves a claim; if not, `why`, and the `remedy`.

    `texts` of the answer were found in the page that the record holds.
    """

    url: str
    verified: bool
    why: str = ""
    remedy: str = ""
    texts: int = 0
    provenance: Provenance | None = None


class _UnprovedError(Exception):
    """Why, and the remedy."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(why)


def claims_of(answer: object) -> list[Claim]:
    """The claims of an answer, or of several in a list: those about the same record are one.

    Answers of tools, of /api/v1/search and /api/v1/document, and lines of passages.jsonl are known.
    There are no claims in anything else.
    """
    texts: dict[tuple[str, bytes], dict[str, None]] = defaultdict(dict)
    for url, said, provenance in _claims(answer, "", {}, MAX_DEPTH):
        encoded = msgspec.json.encode(provenance, order="sorted")
        texts[url, encoded].update(dict.fromkeys(said))
    return [
        Claim(url, tuple(said), msgspec.json.decode(encoded))
        for (url, encoded), said in texts.items()
    ]


def _claims(answer: object, url: str, provenance: Mapping[str, Any], depth: int) -> Iterator[Claim]:
    """The claims of a part of an answer. `url`, `provenance`: those of what it is a part of."""
    if isinstance(answer, list) and depth:
        for each in answer:
            yield from _claims(each, url, provenance, depth - 1)
    if not isinstance(answer, Mapping) or not depth:
        return
    found = answer.get("structuredContent")
    if isinstance(found, Mapping):  # the envelope of a tool's answer
        answer = found
    named = answer.get("url")
    if isinstance(named, str) and named:
        url = named.partition("#")[0]
    metadata = answer.get("metadata")
    inner = metadata.get("provenance") if isinstance(metadata, Mapping) else None
    given = answer.get("provenance") or inner or (answer if "warc_file" in answer else None)
    if isinstance(given, Mapping):
        kept = Provenance.__struct_fields__
        provenance = {name: given[name] for name in kept if name in given}
    if url:
        said = (answer[name] for name in TEXTS if isinstance(answer.get(name), str))
        yield Claim(url, tuple(text for text in said if text.strip()), provenance)
    for name in LISTS:
        yield from _claims(answer.get(name), url, provenance, depth - 1)


class Verifier:
    """Verifies claims. Each page is parsed once per claim."""

    def __init__(self, work: Workspace, pages: PageInfo, lookup: Lookup) -> None:
        self._work, self._pages, self._lookup = work, pages, lookup
        self._rules = msgspec.structs.replace(
            rules_of(work.config, work.root), renders=True, max_links=0
        )

    def verify(self, claim: Claim) -> Verdict:
        """Whether the archive proves a claim. Raises StoreError."""
        url = self._pages.normal(claim.url)
        if url is None:
            why = "it is not a URL that a crawl could contain"
            return Verdict(url=claim.url, verified=False, why=why, remedy="give another URL")
        try:
            found, record = self._proved_record(url, claim.provenance)
        except _UnprovedError as error:
            return Verdict(url=url, verified=False, why=error.why, remedy=error.remedy)
        missing = self._missing_texts(url, claim, record, found)
        number = len(claim.texts) - len(missing)
        if not missing:
            return Verdict(url=url, verified=True, texts=number, provenance=found)
        why = f"{len(missing)} of {len(claim.texts)} texts are not in the page: {missing[0]!r}"
        return Verdict(
            url=url, verified=False, why=why, remedy=CHANGED, texts=number, provenance=found
        )

    def _proved_record(
        self, url: str, given: Mapping[str, Any]
    ) -> tuple[Provenance, StoredResponse]:
        """The record that is meant, and where it is. Raises _UnprovedError."""
        found = self._place(url, given)
        record = self._record(found)
        _check_digest(record, found)
        length = given.get("warc_length")
        if length not in (None, record.length) and _same_place(given, found):
            why = f"its record has {record.length:,} bytes, and not {length!r}"
            raise _UnprovedError(why, CHANGED)
        return msgspec.structs.replace(found, warc_length=record.length), record

    def _place(self, url: str, given: Mapping[str, Any]) -> Provenance:
        """Where the body is of which an answer was made: as it says, or moved with its digest."""
        rows = [
            row
            for row in self._lookup.rows("responses", "url", url, _ROW)
            if row["outcome"] == "ok" and row["warc_file"] is not None
        ]
        if not rows:
            raise _UnprovedError("the crawl has stored no body of this page", UNKNOWN)
        digest = given.get("digest")
        chosen = [row for row in rows if _same_place(given, row)] or [
            row for row in rows if digest and row["digest"] == digest
        ]
        if given and not chosen:
            raise _UnprovedError(
                f"the archive has no body of this page with the digest {digest!r}: what it has was "
                f"fetched {_moment(rows[0]['fetched_ms'])}",
                AGAIN,
            )
        row = (chosen or rows)[0]
        if digest and row["digest"] != digest:
            raise _UnprovedError(
                f"the body that was stored there has the digest {row['digest']}, and not {digest}",
                CHANGED,
            )
        kept = {name: row[name] for name in _ROW if name != "outcome"}
        return msgspec.convert({**kept, "digest": row["digest"] or ""}, Provenance)

    def _record(self, found: Provenance) -> StoredResponse:
        try:
            with WarcReader(f"{self._work.root}/{found.warc_file}") as reader:
                record = reader.at(found.warc_offset)
        except FileNotFoundError:
            raise _UnprovedError(f"{found.warc_file} is gone", CHECK) from None
        if record is None:
            raise _UnprovedError(
                f"{found.warc_file} has no complete record at byte {found.warc_offset:,}", CHECK
            )
        return record

    def _missing_texts(
        self, url: str, claim: Claim, record: StoredResponse, found: Provenance
    ) -> list[str]:
        """The beginnings of the texts that are not in the page."""
        if not claim.texts:
            return []
        fetched = datetime.fromtimestamp(found.fetched_ms / 1000, UTC)
        page = standing_parser(self._rules).parse(Page(url, record.headers, record.body, fetched))
        held = "\n".join(map(_folded, _texts_of(page)))
        missing = (
            part
            for text in claim.texts
            if (part := next((each for each in _parts(text) if each not in held), None))
        )
        return [part[:SHOWN_CHARS] for part in missing]


SHOWN_CHARS = 80
CHANGED = "somebody changed the answer, or another version of Gossamer made it: ask again"
AGAIN = "ask again, and verify the new answer; fetch.warc_days and fetch.warc_keep keep old bodies"
CHECK = "to find out what is damaged: gossamer check; put the file back from a copy"
UNKNOWN = "to see what the crawl knows: gossamer explain"


def _check_digest(record: StoredResponse, found: Provenance) -> None:
    """Compare the digest of a body with those of its record and of the crawl."""
    computed = payload_digest(record.body)
    stated = record.fields.get("warc-payload-digest", "").removeprefix("sha1:")
    for said, who in ((stated, "its record"), (found.digest, "the crawl")):
        if said and said != computed:
            raise _UnprovedError(
                f"its body has the digest {computed}, and {who} says {said}: it was changed", CHECK
            )


def _same_place(given: Mapping[str, Any], row: Mapping[str, Any] | Provenance) -> bool:
    place = row if isinstance(row, Mapping) else msgspec.structs.asdict(row)
    return all(given.get(name) == place[name] for name in ("warc_file", "warc_offset"))


def _texts_of(page: ParsedPage) -> Iterable[str]:
    """All texts of a page that an answer may quote."""
    shown = (page.title, page.headline, page.description, *page.headings, page.main_text, page.text)
    yield from filter(None, shown)
    if page.rendition is not None:
        yield page.rendition.markdown
        yield from (passage.text for passage in page.rendition.passages)


def _parts(text: str) -> Iterator[str]:
    """What has to be in the page: a text, or the pieces that a snippet has between ellipses."""
    plain = unescape(text.replace("<b>", "").replace("</b>", "")) if "<b>" in text else text
    whole = _folded(plain)
    yield from filter(None, (part.strip() for part in whole.split("…")))


def _folded(text: str) -> str:
    """A text as the index keeps it, its white space folded, without the ellipses of snippets."""
    return " ".join(compose_characters(text).split())


def _moment(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(" ", "seconds")
