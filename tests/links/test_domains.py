from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.links import domains
from gossamer.state import table_io
from gossamer.web.public_suffixes import registrable
from tests.support.computed_columns import computed, rows_as_frame
from tests.support.rows import by_url, frame

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

NOBODY: list[dict[str, Any]] = []


def met(
    work: Workspace,
    links: list[tuple[str, str]],
    answers: list[dict[str, Any]] = NOBODY,
    **link: Any,
) -> dict[str, list[str]]:
    """Voters by domain, after a round with these links; what it changed is committed."""
    rows = [{"src": src, "dst": dst} | link for src, dst in links]
    round_ = work.round + 1
    with work.step("update", round_) as draft:
        said = domains.update_domains(
            work, frame(work, "links", rows), frame(work, "responses", answers), round_
        )
        draft.counts["changed"] = 0 if said is None else said.rows.count()
        if said is not None:
            draft.replace["domains"] = said.layers
    rows_by_domain = by_url(domains.domain_rows(work), "domain")
    return {name: row["linked_from"] for name, row in rows_by_domain.items()}


def changed(work: Workspace) -> int:
    return work.store.manifest.history[-1].counts["changed"]


def test_each_linking_domain_is_one_voter(work: Workspace) -> None:
    found = met(
        work,
        [
            ("http://a.example/1", "http://www.b.example/"),
            ("http://a.example/2", "http://b.example/x"),
            ("http://other.a.example/", "http://b.example:8080/"),
            ("http://c.example/", "http://b.example/"),
        ],
    )
    assert found == {"b.example": ["a.example", "c.example"]}


def test_a_farm_gains_nothing_by_links_among_its_own_hosts(work: Workspace) -> None:
    links = [(f"http://a{n}.farm.example/", f"http://a{n + 1}.farm.example/") for n in range(200)]
    assert met(work, links) == {}


def test_users_of_one_service_have_budgets_of_their_own_and_one_vote(work: Workspace) -> None:
    alice, bob, eve = (f"http://{name}.github.io/" for name in ("alice", "bob", "eve"))
    assert registrable("alice.github.io") == "alice.github.io"
    assert registrable("alice.github.io", only_icann=True) == "github.io"
    assert met(work, [(bob, alice), (eve, alice)]) == {}
    found = met(
        work, [(bob, "http://b.example/"), (eve, "http://b.example/"), ("http://b.example/", alice)]
    )
    assert found == {"b.example": ["github.io"], "alice.github.io": ["b.example"]}


@pytest.mark.parametrize("link", [{"nofollow": True}, {"relation": "sitemap"}, {"relation": "img"}])
def test_what_is_no_vote_counts_for_nothing(work: Workspace, link: dict[str, Any]) -> None:
    assert met(work, [("http://a.example/", "http://b.example/")], **link) == {}


def test_rounds_add_voters_and_write_only_what_they_change(work: Workspace) -> None:
    to_b, to_c = (
        ("http://a.example/", "http://b.example/"),
        ("http://a.example/", "http://c.example/"),
    )
    met(work, [to_b, to_c])
    assert met(work, [("http://d.example/", "http://b.example/"), to_c]) == {
        "b.example": ["a.example", "d.example"],
        "c.example": ["a.example"],
    }
    assert changed(work) == 1
    met(work, [to_b, to_c])
    assert changed(work) == 0


def test_a_row_keeps_as_many_voters_as_its_budget_depends_on(work: Workspace) -> None:
    popular = "http://b.example/"
    met(work, [(f"http://v{n}.example/", popular) for n in range(150)])
    found = met(work, [(f"http://w{n}.example/", popular) for n in range(150)])
    assert len(found["b.example"]) == domains.FULL_LINKS
    assert changed(work) == 0


def test_domains_of_seeds_are_marked(work: Workspace) -> None:
    answers = [
        {"url": "http://www.a.example/", "host": "www.a.example", "depth": 0},
        {"url": "http://b.example/", "host": "b.example", "depth": 1},
    ]
    assert met(work, [("http://a.example/", "http://b.example/")], answers) == {
        "a.example": [],
        "b.example": ["a.example"],
    }
    rows = by_url(domains.domain_rows(work), "domain")
    assert {name: row["seed"] for name, row in rows.items()} == {
        "a.example": True,
        "b.example": False,
    }
    met(work, [("http://b.example/", "http://a.example/")])
    assert by_url(domains.domain_rows(work), "domain")["a.example"]["seed"]


@pytest.mark.parametrize(
    ("row", "standing"),
    [
        ({"seed": False, "linked_from": []}, 1),
        ({"seed": False, "linked_from": ["a.example"]}, 1),
        ({"seed": False, "linked_from": [f"v{n}.example" for n in range(7)]}, 7),
        ({"seed": False, "linked_from": [f"v{n}.example" for n in range(100)]}, 100),
        ({"seed": True, "linked_from": []}, 100),
        ({"seed": None, "linked_from": None}, 1),
    ],
)
def test_standing_is_the_number_of_voters(
    work: Workspace, row: dict[str, Any], standing: int
) -> None:
    rows = frame(work, "domains", [{"domain": "b.example"} | row])
    assert rows.select(domains.budget_share()).collect()[0][0] == standing


@pytest.mark.spark
@pytest.mark.long
def test_voters_are_counted_alike_on_a_cluster(spark_engine: Engine, tmp_path: Path) -> None:
    from gossamer.config import Config
    from gossamer.state.workspace import Workspace
    from gossamer.storage.local_backend import LocalBackend
    from gossamer.storage.store import Store

    for number, test in enumerate(
        (
            test_each_linking_domain_is_one_voter,
            test_rounds_add_voters_and_write_only_what_they_change,
            test_domains_of_seeds_are_marked,
        )
    ):
        store = Store.create(LocalBackend(tmp_path / str(number)))
        test(Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=spark_engine))


@pytest.mark.parametrize("few", [0, 1_000])
def test_large_domains_are_found_among_all_hosts(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """The sizes of a domain's hosts are summed, whatever their ports and public suffixes."""
    monkeypatch.setattr(table_io, "FEW", few)
    sizes = {
        "www.large.example": 3,
        "large.example:8080": 3,
        "a.large.co.uk": 4,
        "large.co.uk": 2,
        "small.co.uk": 5,
        "small.example": 5,
        "localhost:81": 6,
    }
    rows = work.engine.spark.createDataFrame(list(sizes.items()), "host string, size long")
    found = domains.hosts_of_large_domains(work, rows, "size", 5).collect()
    named = {row["host"]: row["domain"] for row in found}
    assert named.pop("small.co.uk", "small.co.uk") == "small.co.uk"  # looked up, but not large
    assert named == {
        "www.large.example": "large.example",
        "large.example:8080": "large.example",
        "a.large.co.uk": "large.co.uk",
        "large.co.uk": "large.co.uk",
        "localhost:81": "localhost",
    }


def test_the_share_of_a_domain_grows_with_its_voters(engine: Engine) -> None:
    types = {"seed": pa.bool_(), "linked_from": pa.list_(pa.string())}
    voters = [f"{number}.test" for number in range(2 * domains.FULL_LINKS)]
    cases: list[tuple[bool | None, list[str] | None, int]] = [
        (False, voters[:5], 5),
        (None, voters[:1], 1),
        (False, [], 1),
        (None, None, 1),
        (False, voters, domains.FULL_LINKS),
        (True, [], domains.FULL_LINKS),
        (True, None, domains.FULL_LINKS),
    ]
    rows = [{"seed": seed, "linked_from": listed} for seed, listed, _ in cases]
    found = computed(rows_as_frame(engine, types, rows), {"share": domains.budget_share()})
    assert [row["share"] for row in found] == [share for *_, share in cases]
