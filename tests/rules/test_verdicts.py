"""What two pages, or a redirect, say about a rule, without a crawl."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.rules.url_rules import fingerprints, forms, verdicts
from gossamer.rules.url_rules.verdicts import APPLIED, FRESH_MS
from gossamer.tables import RESPONSES
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

URL, OTHER = "https://a.test/x?s=1", "https://a.test/x"
CONTENT = fingerprints.fingerprint(1, None, None)
UNLIKE = fingerprints.fingerprint(2, None, None)


def pair(**given: Any) -> dict[str, Any]:
    usual = {"kind": forms.PARAMETER, "name": "s", "key": 5, "url": URL, "other": OTHER}
    moments = {"fetched_ms": 0, "other_ms": 0}
    prints = {"fingerprint": CONTENT, "other_print": UNLIKE}
    return usual | moments | prints | {"is_form": True} | given


@pytest.mark.parametrize(
    ("given", "agree", "expected"),
    [
        ({}, True, (True, 0)),
        ({"fetched_ms": FRESH_MS + 1}, True, (True, 0)),
        ({}, False, (False, 0)),
        ({"fetched_ms": FRESH_MS}, False, (False, 0)),
        ({"fetched_ms": FRESH_MS + 1}, False, (None, 0)),
        ({"other_ms": FRESH_MS}, False, (False, 0)),
        ({"other_ms": FRESH_MS + 1}, False, (None, 0)),
        ({"other_print": None}, None, (False, 0)),
        ({"fingerprint": None}, None, (None, 0)),
        ({"fingerprint": None, "other_print": None}, None, (None, 0)),
        ({"other_print": None, "is_form": False}, None, (None, 0)),
        ({"other_print": None, "fetched_ms": FRESH_MS + 1}, None, (None, 0)),
        ({"other_print": None, "kind": forms.SLASH}, None, (None, -1)),
        ({"fingerprint": None, "kind": forms.SLASH}, None, (None, 1)),
        ({"is_form": False, "other": "https://a.test/x?s=2"}, True, (True, 0)),
        ({"is_form": False, "other": "https://a.test/x?s=1"}, True, (None, 0)),
        ({"is_form": False, "kind": forms.CASE}, True, (True, 0)),
    ],
)
def test_what_a_pair_of_pages_says(
    given: dict[str, Any], agree: bool | None, expected: tuple[bool | None, int]
) -> None:
    assert verdicts._verdict(pair(**given), agree) == expected


@pytest.mark.parametrize(
    ("name", "url", "other", "expected"),
    [
        ("a&b", "https://a.test/?a=1&b=1", "https://a.test/?a=2&b=2", True),
        ("a&b", "https://a.test/?a=1&b=1", "https://a.test/?a=2&b=1", False),
        ("a&b", "https://a.test/?a=1&b=1", "https://a.test/?a=1&b=2", False),
        ("a", "https://a.test/?a=1", "https://a.test/", True),
        ("a", "ftp://a.test/?a=1", "https://a.test/", False),
        ("a", "https://a.test/?a=1", "ftp://a.test/", False),
    ],
)
def test_a_pair_speaks_for_the_parameters_in_which_it_differs(
    name: str, url: str, other: str, expected: bool
) -> None:
    assert verdicts._differs_in_verdict(pair(name=name, url=url, other=other)) is expected


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [
        ("https://a.test/x?s=1", "https://b.test/x?s=1", "https://b.test/x?s=1"),
        ("http://a.test/x", "https://b.test/x", "http://b.test/x"),
        ("https://a.test/x", "https://b.test/y", None),
        ("https://a.test/x?s=1", "https://b.test/x", None),
        ("https://a.test/x", "http://a.test/x", None),
        ("https://a.test/x", "https://www.a.test/x", None),
        ("https://a.test/x", "ftp://b.test/x", None),
        ("ftp://a.test/x", "https://b.test/x", None),
        ("https://a.test/x", None, None),
    ],
)
def test_a_page_may_name_its_place_on_another_host(
    url: str, other: str | None, expected: str | None
) -> None:
    found = verdicts._mirror_form(url, other)
    assert (None if found is None else found.url) == expected
    assert found is None or (found.kind, found.name) == (forms.HOST, "b.test")


@pytest.mark.parametrize(
    ("url", "target", "expected"),
    [
        ("http://a.test/x", "https://a.test/x", {("scheme", "", 1)}),
        ("https://a.test/x", "http://a.test/x", {("scheme", "", -1)}),
        ("https://www.a.test/x", "https://a.test/x", {("www", "", 1)}),
        ("https://a.test/x", "https://www.a.test/x", {("www", "", -1)}),
        ("http://a.test/x", "https://www.a.test/x", {("scheme", "", 1), ("www", "", -1)}),
        ("http://a.test:81/x", "https://a.test:81/x", set()),
        ("http://a.test:81/x", "https://a.test/x", {("host", "a.test", 1)}),
        ("https://a.test/x", "https://b.test/x", {("host", "b.test", 1)}),
        ("https://a.test/x/", "https://a.test/x", {("slash", "", 1)}),
        ("https://a.test/x", "https://a.test/x/", {("slash", "", -1)}),
        ("https://a.test/x?s=1", "https://a.test/x", {("parameter", "s", 1)}),
        ("https://a.test/x", "https://a.test/x?s=1", {("parameter", "s", -1)}),
        ("https://a.test/x", "https://a.test/x", set()),
        ("https://a.test/x", "https://a.test/y", set()),
        ("ftp://a.test/x", "https://a.test/x", set()),
        ("https://a.test/x", "ftp://a.test/x", set()),
    ],
)
def test_redirects_to_another_form(url: str, target: str, expected: set[object]) -> None:
    assert set(verdicts._differences(url, target)) == expected


def batches(rows: list[dict[str, Any]]) -> Any:
    return iter([pa.RecordBatch.from_pylist(rows)])


def judged(url: str, target: str) -> list[dict[str, Any]]:
    rows = batches([{"url": url, "redirect_url": target}])
    return [row for batch in verdicts._judge_redirects((), rows) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("url", "target", "agrees", "vote", "pair"),
    [
        (URL, OTHER, True, 1, (URL, OTHER)),
        (OTHER, URL, False, -1, (URL, OTHER)),
        ("https://a.test/x", "https://a.test/x/", True, -1, ("https://a.test/x/", OTHER)),
    ],
)
def test_rows_of_a_redirect(
    url: str, target: str, agrees: bool, vote: int, pair: tuple[str, str]
) -> None:
    rows = judged(url, target)
    assert [row["section"] for row in rows] == ["/", "*"]
    for row in rows:
        assert (row["agrees"], row["vote"], row["url"], row["other"]) == (agrees, vote, *pair)
        assert row["key"] == verdicts.form_key(target)
        assert row["content"] == fingerprints.fingerprint(None, None, target)
        assert row["host"] == "a.test"
        assert row["rule"] == verdicts.rule_id("a.test", row["section"], row["kind"], row["name"])


def test_a_page_without_verdict_has_no_rows() -> None:
    rows = [
        pair(),
        pair(fingerprint=None),
        pair(other_print=CONTENT, key=6),
        pair(fingerprint=None, kind=forms.SLASH, name="", url="https://a.test/x/", key=7),
    ]
    (found,) = verdicts._judge_pairs(batches(rows))
    assert [(row["key"], row["agrees"], row["vote"]) for row in found.to_pylist()] == [
        *[(5, False, 0)] * 2,
        *[(6, True, 0)] * 2,
        *[(7, None, 1)] * 2,
    ]
    (nothing,) = verdicts._judge_pairs(batches([pair(fingerprint=None)]))
    assert nothing.num_rows == 0


VERDICT = (True, 1, URL, OTHER, CONTENT)


@pytest.mark.parametrize(
    ("kind", "name", "url", "hosts", "sections"),
    [
        (forms.PARAMETER, "s", "https://a.test/f/x?s=1", "a.test", ["/f/", "*"]),
        (forms.WWW, "", "https://www.a.test/f/x", "a.test", ["/f/", "*"]),
        (forms.SLASH, "", "https://www.a.test/f/x/", "www.a.test", ["/f/", "*"]),
        (forms.HOST, "b.test", "https://a.test/f/x", "a.test", ["/f/", "*"]),
        (forms.PARAMETER, "s", "https://a.test/~ann/x?s=1", "a.test", ["/~ann/"]),
        (forms.SLASH, "", "https://a.test/~ann/", "a.test", []),
        (forms.SLASH, "", "ftp://a.test/x/", "a.test", []),
    ],
)
def test_the_rules_that_a_verdict_is_about(
    kind: str, name: str, url: str, hosts: str, sections: list[str]
) -> None:
    found = list(verdicts._verdict_rows(kind, name, 5, (True, 1, url, OTHER, CONTENT)))
    assert [row[1:6] for row in found] == [(hosts, each, kind, name, 5) for each in sections]
    assert all(row[6:] == (True, 1, url, OTHER, CONTENT) for row in found)


@pytest.mark.parametrize(
    ("agrees", "rules"), [(True, ["r1", "r2"]), (False, ["r1"]), (None, ["r1", "r2"])]
)
def test_of_rules_applied_together_the_weakest_is_contradicted(
    agrees: bool | None, rules: list[str]
) -> None:
    verdict = (agrees, *VERDICT[1:])
    found = list(verdicts._verdict_rows(APPLIED, "r1 r2", 5, verdict))
    assert found == [(rule, *(None,) * 4, 5, *verdict) for rule in rules]


def form_rows(page: dict[str, Any]) -> list[dict[str, Any]]:
    usual = {"fetched_ms": 3, "text_hash": 1, "sketch": None, "digest": None, "canonical": None}
    rows = batches([usual | {"missing": False} | page])
    judge = partial(verdicts._form_rows, (), ())
    return [row for batch in judge(rows) for row in batch.to_pylist()]


def test_the_forms_of_a_page() -> None:
    found = form_rows({"url": "http://a.test/x/?s=1", "canonical": "https://b.test/x/?s=1"})
    kinds = ["", "scheme", "slash", "parameter", "host"]
    assert [row["kind"] for row in found] == kinds
    assert [row["name"] for row in found] == ["", "", "", "s", "b.test"]
    assert found[0]["key"] == found[0]["form"] == verdicts.form_key("http://a.test/x/?s=1")
    assert found[3]["form"] == verdicts.form_key("http://a.test/x/")
    assert found[3]["key"] == verdicts.form_key("parameter\ns\nhttp://a.test/x/")
    assert {row["fingerprint"] for row in found} == {CONTENT}
    assert {(row["url"], row["fetched_ms"]) for row in found} == {("http://a.test/x/?s=1", 3)}


def test_a_missing_page_has_forms_of_two_directions() -> None:
    found = form_rows({"url": "http://a.test/x/?s=1", "text_hash": None, "missing": True})
    assert [row["kind"] for row in found] == ["", "scheme", "slash"]


@pytest.mark.parametrize("page", [{"url": "ftp://a.test/x"}, {"url": URL, "text_hash": None}])
def test_pages_without_forms(page: dict[str, Any]) -> None:
    assert form_rows(page) == []


def row_of(url: str, kind: str) -> dict[str, Any]:
    """A row of `url_forms`: of a page itself without a kind, or of its form without `s`."""
    itself = verdicts.form_key(OTHER)
    key = 5 if kind else verdicts.form_key(url)
    moments = {"fetched_ms": 1, "fingerprint": CONTENT}
    return {"key": key, "form": itself, "kind": kind, "name": "s", "url": url} | moments


@pytest.mark.parametrize(
    ("stored", "new", "expected"),
    [
        ([], [(OTHER, ""), (URL, "parameter")], {(URL, OTHER, True)}),
        ([(OTHER, "")], [(URL, "parameter")], {(URL, OTHER, True)}),
        ([(URL, "parameter")], [(OTHER, "")], {(URL, OTHER, True)}),
        ([], [(URL, "parameter"), (f"{URL}2", "parameter")], {(f"{URL}2", URL, False)}),
        ([(f"{URL}2", "parameter")], [(URL, "parameter")], {(URL, f"{URL}2", False)}),
        ([(OTHER, ""), (URL, "parameter")], [(f"{URL}2", "parameter")], {(f"{URL}2", OTHER, True)}),
        ([(OTHER, ""), (URL, "parameter")], [("https://b.test/", "")], set()),
        ([], [(URL, "parameter")], set()),
    ],
)
def test_pages_are_compared_if_one_of_them_is_new(
    work: Workspace,
    stored: list[tuple[str, str]],
    new: list[tuple[str, str]],
    expected: set[tuple[str, str, bool]],
) -> None:
    if stored:
        put(work, "url_forms", [row_of(*each) for each in stored])
    rows = frame(work, "url_forms", [row_of(*each) for each in new])
    found = verdicts.pairs_for_verdicts(work, rows, work.engine.read([], RESPONSES.ddl))
    assert {(row.url, row.other, row.is_form) for row in found.collect()} == expected
