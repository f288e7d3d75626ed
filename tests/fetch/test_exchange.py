"""Answers that a filter rule refuses by their content type, and details that can be stored."""

from __future__ import annotations

import pytest

from gossamer.fetch.exchange import (
    DETAIL_CHARS,
    FetchResult,
    Request,
    clip_detail,
    refuse_type,
    replace_surrogates,
)
from gossamer.rules.filter_rules.rule_index import RuleIndex
from gossamer.rules.filter_rules.rule_syntax import Rule
from gossamer.tables.outcomes import FILTERED_TYPE

RULES = RuleIndex([Rule("deny", "type", "image/")])
URL = "https://a.test/"


def answer(outcome: str, kind: str | None) -> FetchResult:
    return FetchResult(
        outcome, 0, content_type=kind, body=b"body", etag="e", last_modified="l", detail="d"
    )


@pytest.mark.parametrize(
    ("outcome", "kind", "rules", "is_refused"),
    [
        ("ok", "image/png", RULES, True),
        ("ok", "text/html", RULES, False),
        ("ok", "image/png", None, False),
        ("unchanged", "image/png", RULES, True),
        ("unchanged", None, RULES, False),
        ("redirect", "image/png", RULES, False),
        ("gone", "image/png", RULES, False),
    ],
)
def test_an_answer_of_a_refused_type_is_not_kept(
    outcome: str, kind: str | None, rules: RuleIndex | None, is_refused: bool
) -> None:
    found = answer(outcome, kind)
    assert refuse_type(Request(URL, 9, rules=rules), found) == is_refused
    if not is_refused:
        assert found == answer(outcome, kind)
        return
    assert (found.outcome, found.detail) == (FILTERED_TYPE, "deny type image/")
    assert (found.body, found.truncated, found.etag, found.last_modified) == (b"", True, None, None)


def test_an_answer_without_a_type_may_be_refused_too() -> None:
    rules = RuleIndex([Rule("allow", "type", "text/"), Rule("deny", "all", "")])
    assert refuse_type(Request(URL, 9, rules=rules), answer("ok", None)) == (
        rules.refusing_type(URL, None) is not None
    )


def test_a_detail_is_short_and_can_be_stored() -> None:
    assert clip_detail("é\udcfc" * DETAIL_CHARS) == "é?" * (DETAIL_CHARS // 2)
    assert replace_surrogates(None) is None
    assert replace_surrogates("plain") == "plain"
