"""What evidence makes of one rule, without a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from gossamer.rules.url_rules import fingerprints, forms, rule_states
from gossamer.rules.url_rules.rule_states import (
    ACTIVE,
    CONTRADICTED,
    DISABLED,
    LEARNING,
    MIN_SECTIONS,
    TRIAL,
)
from gossamer.tables import URL_RULES
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

EVIDENCE = 15
ROUND = 7


@pytest.mark.parametrize(
    ("state", "kind", "target", "votes", "contradictions", "enough", "expected"),
    [
        (LEARNING, forms.SLASH, None, (0, 0), 0, False, (LEARNING, "without")),
        (LEARNING, forms.SLASH, None, (0, 0), 0, True, (ACTIVE, "without")),
        (LEARNING, forms.SLASH, None, (2, 0), 0, True, (ACTIVE, "without")),
        (LEARNING, forms.SLASH, None, (0, 2), 0, True, (ACTIVE, "with")),
        (LEARNING, forms.SCHEME, None, (0, 1), 0, False, (LEARNING, "http")),
        (LEARNING, forms.SLASH, None, (1, 1), 0, True, (CONTRADICTED, "without")),
        (LEARNING, forms.SLASH, None, (1, 2), 0, True, (CONTRADICTED, "with")),
        (LEARNING, forms.SLASH, None, (0, 0), 1, True, (CONTRADICTED, "without")),
        (LEARNING, forms.PARAMETER, None, (3, 0), 0, True, (ACTIVE, "")),
        (LEARNING, forms.PARAMETER, None, (0, 1), 0, True, (CONTRADICTED, "")),
        (LEARNING, forms.SLASH, "with", (0, 0), 0, True, (ACTIVE, "without")),
        (TRIAL, forms.SLASH, "without", (0, 0), 0, False, (TRIAL, "without")),
        (TRIAL, forms.SLASH, "without", (0, 0), 0, True, (ACTIVE, "without")),
        (TRIAL, forms.SLASH, "without", (0, 1), 0, True, (LEARNING, "with")),
        (ACTIVE, forms.SLASH, "without", (1, 0), 0, False, (ACTIVE, "without")),
        (ACTIVE, forms.SLASH, "without", (0, 1), 0, True, (CONTRADICTED, "without")),
        (ACTIVE, forms.SLASH, "with", (0, 1), 0, True, (ACTIVE, "with")),
        (ACTIVE, forms.SLASH, "with", (0, 1), 1, True, (CONTRADICTED, "with")),
        (CONTRADICTED, forms.SLASH, "with", (9, 0), 0, True, (CONTRADICTED, "with")),
        (DISABLED, forms.SLASH, "with", (9, 0), 1, True, (DISABLED, "with")),
        (DISABLED, forms.SLASH, None, (0, 1), 0, True, (DISABLED, "with")),
    ],
)
def test_the_state_and_direction_of_a_rule(
    state: str,
    kind: str,
    target: str | None,
    votes: tuple[int, int],
    contradictions: int,
    enough: bool,
    expected: tuple[str, str],
) -> None:
    counts = {"forward": votes[0], "backward": votes[1], "contradictions": contradictions}
    assert rule_states.decide_state(state, kind, target, counts, enough=enough) == expected


def content(number: int) -> bytes:
    found = fingerprints.fingerprint(number, None, None)
    assert found is not None
    return found


def group(key: int, folder: str = "a", of: int | None = None) -> dict[str, Any]:
    return {
        "key": key,
        "url": f"https://a.test/{folder}/{key}?s",
        "other": f"https://a.test/{folder}/{key}",
        "content": content(key if of is None else of),
    }


def rule(**given: Any) -> dict[str, Any]:
    """What a round says of a rule of which nothing was known."""
    old = dict.fromkeys(URL_RULES.column_names)
    counts = dict.fromkeys(("new_supports", "new_contradictions", "new_forward", "new_backward"), 0)
    new = {"rule": "r", "host": "a.test", "section": "/a/", "kind": forms.PARAMETER, "name": "s"}
    return old | counts | {"agreeing": None, "differing": None} | new | given


def merged(**given: Any) -> dict[str, Any]:
    return rule_states.merge_evidence(rule(**given), EVIDENCE, ROUND)


def groups(count: int, begin: int = 0) -> list[dict[str, Any]]:
    return [group(begin + n) for n in range(count)]


def test_a_new_rule() -> None:
    found = merged(agreeing=groups(2)[::-1], differing=[], new_supports=2, new_forward=1)
    assert found["state"] == LEARNING
    assert (found["supports"], found["contradictions"]) == (2, 0)
    assert (found["forward"], found["backward"]) == (1, 0)
    assert found["contents"] == content(0) + content(1)
    assert found["examples"] == [each[of] for each in groups(2) for of in ("url", "other")]
    assert found["counterexamples"] == found["sections"] == []
    assert (found["first_round"], found["last_round"]) == (ROUND, ROUND)
    assert (found["rewritten"], found["sampled"], found["settled"]) == (0, 0, True)
    assert found["rule"] == "r"


def test_evidence_is_added_to_what_was_known() -> None:
    old = {"contents": content(9), "examples": ["x", "y"], "first_round": 2, "rewritten": 5}
    old |= {"supports": 4, "contradictions": 0, "forward": 1, "backward": 0, "sampled": 3}
    found = merged(agreeing=[group(9), *groups(3)], new_supports=3, settled=False, **old)
    assert found["contents"] == b"".join(map(content, (9, 0, 1, 2)))
    assert (found["supports"], found["forward"], found["settled"]) == (7, 1, False)
    assert (found["first_round"], found["rewritten"], found["sampled"]) == (2, 5, 3)
    assert found["examples"] == ["x", "y", *(group(0)[of] for of in ("url", "other"))] + [
        group(1)[of] for of in ("url", "other")
    ]


@pytest.mark.parametrize(
    ("agreeing", "state"),
    [(2, LEARNING), (3, TRIAL), (14, TRIAL), (15, ACTIVE), (16, ACTIVE)],
)
def test_with_enough_contents_a_rule_is_tried_and_then_active(agreeing: int, state: str) -> None:
    found = merged(agreeing=groups(agreeing))
    assert found["state"] == state
    assert found["settled"] is (state == LEARNING)
    assert len(found["contents"]) == fingerprints.BYTES * min(agreeing, EVIDENCE)


def test_equal_contents_count_once() -> None:
    assert merged(agreeing=[group(n, of=1) for n in range(20)])["state"] == LEARNING


@pytest.mark.parametrize(("known", "state"), [(2, TRIAL), (3, LEARNING)])
def test_a_trial_begins_with_new_contents_only(known: int, state: str) -> None:
    contents = b"".join(content(100 + n) for n in range(known))
    assert merged(agreeing=groups(1), contents=contents)["state"] == state


@pytest.mark.parametrize(
    ("evidence", "contents"), [(1, 3), (15, 3), (16, 4), (20, 4), (21, 5), (100, 20)]
)
def test_a_trial_needs_a_part_of_the_evidence(evidence: int, contents: int) -> None:
    assert rule_states._trial_contents(evidence) == contents


@pytest.mark.parametrize(
    ("count", "sections", "state"),
    [
        (2 * EVIDENCE, MIN_SECTIONS, ACTIVE),
        (2 * EVIDENCE - 1, MIN_SECTIONS, LEARNING),
        (2 * EVIDENCE, MIN_SECTIONS - 1, LEARNING),
    ],
)
def test_a_rule_for_a_whole_host_needs_more(count: int, sections: int, state: str) -> None:
    agreeing = [group(n, folder=f"f{n % sections}") for n in range(count)]
    found = merged(section=forms.WHOLE_HOST, agreeing=agreeing, sections=["/f0/"])
    assert found["state"] == state
    assert found["sections"] == [f"/f{n}/" for n in range(sections)]


def test_few_sections_are_kept() -> None:
    agreeing = [group(n, folder=f"f{n}") for n in range(MIN_SECTIONS)]
    found = merged(section=forms.WHOLE_HOST, agreeing=agreeing, sections=["/z/"])
    assert found["sections"] == [f"/f{n}/" for n in range(MIN_SECTIONS)]


def test_an_old_example_stays_and_few_are_kept() -> None:
    found = merged(agreeing=groups(9), differing=groups(2, begin=50), new_contradictions=1)
    assert len(found["examples"]) == 6
    assert found["counterexamples"][0] == group(50)["url"]
    assert len(found["counterexamples"]) == 4
    assert (found["state"], found["settled"]) == (CONTRADICTED, True)


@pytest.mark.parametrize(
    ("before", "settled", "contradicted", "expected"),
    [
        (ACTIVE, True, 0, True),
        (ACTIVE, True, 1, False),
        (ACTIVE, False, 0, False),
        (TRIAL, None, 0, True),
        (CONTRADICTED, None, 1, True),
    ],
)
def test_a_rule_that_changes_its_use_is_not_settled(
    before: str, settled: bool | None, contradicted: int, expected: bool
) -> None:
    found = merged(state=before, target="", settled=settled, new_contradictions=contradicted)
    assert found["settled"] is expected


def put_rule(rule_: str, section: str, state: str, contents: int, **more: Any) -> dict[str, Any]:
    row = {"host": "a.test", "kind": forms.SLASH, "name": "", "target": "without", "settled": True}
    content = bytes(fingerprints.BYTES * contents)
    return row | {"rule": rule_, "section": section, "state": state, "contents": content} | more


ENOUGH = 15
WHOLE = put_rule("whole", forms.WHOLE_HOST, LEARNING, ENOUGH)


@pytest.mark.parametrize(
    ("whole", "section", "becomes"),
    [
        ({}, {}, (ACTIVE, False)),
        ({"state": ACTIVE}, {"state": TRIAL}, (ACTIVE, True)),
        ({"state": TRIAL}, {}, (LEARNING, True)),
        ({"state": CONTRADICTED}, {}, (LEARNING, True)),
        ({"contents": bytes(fingerprints.BYTES * ENOUGH - 1)}, {}, (LEARNING, True)),
        ({"target": "with"}, {}, (LEARNING, True)),
        ({"kind": forms.CASE}, {}, (LEARNING, True)),
        ({"name": "x"}, {}, (LEARNING, True)),
        ({"host": "b.test"}, {}, (LEARNING, True)),
        ({}, {"contents": bytes(fingerprints.BYTES * 5 - 1)}, (LEARNING, True)),
        ({}, {"state": CONTRADICTED}, (CONTRADICTED, True)),
        ({}, {"state": DISABLED}, (DISABLED, True)),
        ({}, {"section": "/~ann/"}, (LEARNING, True)),
        ({}, {"settled": False}, (ACTIVE, False)),
    ],
)
def test_a_section_may_rely_on_its_host(
    work: Workspace, whole: dict[str, Any], section: dict[str, Any], becomes: tuple[str, bool]
) -> None:
    """With a third of the evidence, if the host has all of it, and the same direction."""
    part = put_rule("part", "/a/", LEARNING, 5)
    rows = frame(work, "url_rules", [WHOLE | whole, part | section])
    found = by_url(rule_states.activate_by_host(rows, ENOUGH), "rule")
    assert set(found) == {"whole", "part"}
    assert (found["part"]["state"], found["part"]["settled"]) == becomes
    assert found["whole"]["state"] == (WHOLE | whole)["state"]


def test_rules_of_whole_hosts_and_with_most_evidence_have_the_places_left(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_states, "MAX_RULES_PER_HOST", 4)
    known = [put_rule(f"known{n}", "/a/", LEARNING, 0, supports=0) for n in range(2)]
    put(work, "url_rules", known)
    new = [
        put_rule("best", "/a/", LEARNING, 0, supports=9),
        put_rule("worse", "/a/", LEARNING, 0, supports=8),
        put_rule("whole", forms.WHOLE_HOST, LEARNING, 0, supports=1),
        put_rule("another host", "/a/", LEARNING, 0, supports=1) | {"host": "b.test"},
    ]
    rows = frame(work, "url_rules", [*new, known[0]])
    found = {row.rule for row in rule_states.drop_excess_rules(work, rows).collect()}
    assert found == {"best", "whole", "another host", "known0"}


@pytest.mark.parametrize(
    ("rule_", "is_refused"),
    [
        ({"kind": forms.HOST}, True),
        ({"kind": forms.WWW, "target": "with"}, True),
        ({"kind": forms.WWW, "target": "without"}, False),
        ({"kind": forms.WWW, "target": "without", "host": "seed.test"}, True),
        ({"kind": forms.SLASH}, False),
        ({"kind": forms.HOST, "settled": True}, False),
        ({"kind": forms.HOST, "state": CONTRADICTED}, False),
        ({"kind": forms.HOST, "host": "b.test"}, False),
    ],
)
def test_no_rule_leads_away_from_the_host_of_a_seed(
    work: Workspace, rule_: dict[str, Any], is_refused: bool
) -> None:
    seeds = ("a.test", "www.seed.test")
    pages = [{"url": f"http://{host}/", "host": host, "source": "seed"} for host in seeds]
    put(work, "pages", [*pages, {"url": "http://b.test/", "host": "b.test"}])
    row = put_rule("r", "/a/", ACTIVE, 0, settled=False) | rule_
    rows, count = rule_states.keep_hosts_of_seeds(work, frame(work, "url_rules", [row]), 1)
    (found,) = rows.collect()
    assert count == 1
    state = LEARNING if is_refused else row["state"]
    assert (found.state, found.settled) == (state, is_refused or row["settled"])


def test_a_round_sums_up_its_verdicts(work: Workspace) -> None:
    """Each group of pages counts once, and one pair that differs makes its group differ."""
    agree = {"rule": "r", "host": "a.test", "section": "/a/", "kind": forms.SLASH, "name": ""}
    columns = ("rule", "host", "section", "kind", "name", "key", "agrees", "vote", "url", "other")
    rows = [
        agree | {"key": key, "agrees": agrees, "vote": vote, "url": url, "other": f"{url}/"}
        for key, agrees, vote, url in [
            *[(1, True, 1, "b"), (1, True, -1, "a")],
            *[(2, True, 0, "c"), (2, False, 1, "d")],
            *[(3 + n, False, 0, f"e{n}") for n in range(5)],
            *[(10 + n, True, -1, f"f{n}") for n in range(9)],
        ]
    ]
    ddl = "rule string, host string, section string, kind string, name string, key long, "
    ddl += "agrees boolean, vote int, url string, other string"
    verdicts = work.engine.spark.createDataFrame([tuple(r[n] for n in columns) for r in rows], ddl)
    verdicts = verdicts.withColumn("content", F.encode("url", "utf-8"))
    summed, count = rule_states.summarize_verdicts(work, verdicts, evidence=1)
    (found,) = summed.collect()
    assert count == 1
    assert (found.new_supports, found.new_contradictions) == (10, 6)
    assert (found.new_forward, found.new_backward) == (2, 10)
    assert sorted(each.key for each in found.agreeing) == [1, *range(10, 17)]
    (first,) = (each for each in found.agreeing if each.key == 1)
    assert (first.url, first.other, bytes(first.content)) == ("a", "a/", b"a")
    assert sorted(each.key for each in found.differing) == [2, 3, 4]
