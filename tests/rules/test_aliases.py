"""What becomes of URLs that rules have rewritten, from rows made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from gossamer.rules.spellings import FOREIGN
from gossamer.rules.url_rules import aliases
from gossamer.rules.url_rules.aliases import COMPARED, KNOWN, REPLACED, WAITING
from gossamer.tables import ALIASES, REWRITTEN
from tests.support.rows import by_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

URL, TARGET, FAR = "http://a.test/x?s=1", "http://a.test/x", "http://b.test/x"
BEFORE_DDL = f"{REWRITTEN.ddl}, inlinks long, fetched boolean, due_ms long"
NEW_DDL = f"{ALIASES.ddl}, due boolean"


def rows(work: Workspace, ddl: str, *given: dict[str, Any]) -> DataFrame:
    names = [column.split()[0] for column in ddl.split(", ")]
    plain = {"depth": 2, "hops": 0, "rules": ["r"], "round": 1, "inlinks": 1, "due_ms": 0}
    plain |= dict.fromkeys(("fetched", "sampled", "due"), False) | {"active": True}
    found = [tuple((plain | row).get(name) for name in names) for row in given]
    return work.engine.spark.createDataFrame(found, ddl)


@pytest.mark.parametrize(
    ("becomes", "status", "expected"),
    [
        (None, "unfetched", ("unfetched", False)),
        (None, "alias", ("alias", False)),
        (KNOWN, "alias", ("as before", True)),
        (KNOWN, "fetched", ("fetched", False)),
        (WAITING, "unfetched", ("alias", False)),
        (WAITING, "fetched", ("fetched", False)),
        (REPLACED, "unfetched", ("alias", False)),
        (REPLACED, "fetched", ("alias", False)),
        (REPLACED, "gone", ("gone", False)),
        (COMPARED, "fetched", ("fetched", True)),
    ],
)
def test_the_status_of_a_page_after_its_turn(
    work: Workspace, becomes: str | None, status: str, expected: tuple[str, bool]
) -> None:
    """That of a seed stays; a page that returns has the status of before it was an alias."""
    given = [("link", None), ("link", 7), ("seed", None), (None, 7)]
    pages = work.engine.spark.createDataFrame(
        [(becomes, status, *each) for each in given],
        "becomes string, status string, source string, stored_ms long",
    )
    after, due = aliases.alias_status_after_change(F.col("status"))
    found = pages.select(after.alias("after"), due.alias("due")).collect()
    stored = ["unfetched", "fetched", "unfetched", "fetched"]
    kept = {"as before": stored}.get(expected[0], [expected[0]] * 4)
    if expected[0] == "alias" != status:
        kept[2] = status
    assert [(row.after, row.due) for row in found] == [(each, expected[1]) for each in kept]


@pytest.mark.parametrize(
    ("spelling", "target", "expected"),
    [
        (None, TARGET, URL),
        ("http://a.test/X?s=1", TARGET, "http://a.test/X?s=1"),
        (None, FAR, URL + FOREIGN),
        ("http://a.test/X", FAR, "http://a.test/X" + FOREIGN),
        (FOREIGN, TARGET, URL + FOREIGN),
        (FOREIGN, FAR, URL + FOREIGN),
        ("http://a.test/X" + FOREIGN, TARGET, "http://a.test/X" + FOREIGN),
    ],
)
def test_the_spelling_that_links_to_an_alias_have_of_its_target(
    work: Workspace, spelling: str | None, target: str, expected: str
) -> None:
    row = work.engine.spark.createDataFrame(
        [(URL, target, spelling)], "url string, target string, spelling string"
    )
    (found,) = row.select(aliases._spelling_of_target().alias("found")).collect()
    assert found.found == expected


U = {"u": (0, 0, True)}


@pytest.mark.parametrize(
    ("due", "expected"),
    [
        (None, {"r": (3, 1, False), "s": (1, 0, False), "t": (0, 2, False)}),
        (
            ["t", "u"],
            {"r": (3, 1, False), "s": (1, 0, False), "t": (0, 2, True), "u": (0, 0, True)},
        ),
    ],
)
def test_new_aliases_are_counted_by_rule(
    work: Workspace, due: Sequence[str] | None, expected: dict[str, tuple[int, int, bool]]
) -> None:
    new = rows(
        work,
        NEW_DDL,
        {"rules": ["r"]},
        {"rules": ["r", "s"]},
        {"rules": ["r"], "sampled": True},
    )
    again = rows(work, ALIASES.ddl, {"rules": ["t"], "sampled": True}, {"rules": ["t"]})
    named = None
    if due is not None:
        named = work.engine.spark.createDataFrame([(rule,) for rule in due], "rule string")
    found = aliases._count_by_rule(new, again, named).collect()
    assert {
        row.rule: (row.more_rewritten, row.more_sampled, row.was_due) for row in found
    } == expected


def test_pages_that_aliases_make_known(work: Workspace) -> None:
    before = rows(
        work,
        BEFORE_DDL,
        {"url": URL, "target": TARGET, "depth": 5, "hops": 1, "inlinks": 7},
        {"url": URL + "2", "target": TARGET, "depth": 4, "hops": 3, "inlinks": 2},
    )
    new = rows(work, NEW_DDL, {"url": "n1", "sampled": True, "depth": 3}, {"url": "n2"})
    again = rows(work, ALIASES.ddl, {"url": "again", "hops": 2})
    returning = rows(work, ALIASES.ddl, {"url": "back"}, {"url": "sample", "sampled": True})
    found = by_url(aliases._discovered_pages(before, new, again, returning))
    assert {
        url: (row["found_depth"], row["found_hops"], row["found_inlinks"])
        for url, row in found.items()
    } == {TARGET: (4, 1, 9), "n1": (3, 0, 1), "again": (2, 2, 1), "back": (2, 0, 1)}
    assert {row["found_source"] for row in found.values()} == {"link"}
    assert found[TARGET]["found_spelling"] == URL
    assert found["n1"]["found_spelling"] is None
