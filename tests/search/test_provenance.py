"""Which record of the archive a page comes from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from gossamer.search.provenance import Provenance, find_provenance

if TYPE_CHECKING:
    from gossamer.search.page_info import PageInfo

URL = "http://a.example/"
RESPONSE = {"warc_file": "warc/1.warc.gz", "warc_offset": 7, "digest": "ABC", "fetched_ms": 10}


def pages(response: dict[str, Any] | None, **visit: Any) -> PageInfo:
    captured = None if response is None else SimpleNamespace(response=response)
    known = SimpleNamespace(
        capture={URL: captured}.__getitem__,
        visit={URL: {"fetched_ms": 20, "outcome": "ok"} | visit}.__getitem__,
    )
    return cast("PageInfo", known)


@pytest.mark.parametrize(
    ("response", "outcome", "found"),
    [
        (RESPONSE, "ok", Provenance("warc/1.warc.gz", 7, "ABC", 10)),
        (RESPONSE, "unchanged", Provenance("warc/1.warc.gz", 7, "ABC", 10, None, 20)),
        (RESPONSE, "timeout", Provenance("warc/1.warc.gz", 7, "ABC", 10)),
        (RESPONSE | {"digest": None}, "ok", Provenance("warc/1.warc.gz", 7, "", 10)),
        (RESPONSE | {"warc_file": None}, "ok", None),
        (None, "ok", None),
    ],
)
def test_a_page_comes_from_the_record_of_its_last_body(
    response: dict[str, Any] | None, outcome: str, found: Provenance | None
) -> None:
    assert find_provenance(pages(response, outcome=outcome), URL) == found
