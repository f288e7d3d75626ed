from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FetchConfig, egress
from gossamer.config.egress import GROUPS, POSTPONED
from gossamer.schedule import generate
from gossamer.schedule.limits import part_assignment
from gossamer.schedule.limits.part_assignment import assign_units
from gossamer.state import lsm, table_io
from gossamer.tables import HOSTS, PAGES
from gossamer.web.urls import domain_of
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

NAMES = ("eu", "us", "asia")
SETTING = {
    "eu": ("*-eu.example", "shared.example"),
    "us": ("*-us.example", "*.shared.example", "198.51.100.0/24"),
}


@st.composite
def drawn_units(draw: st.DrawFn) -> tuple[list[frozenset[str]], list[dict[str, Any]]]:
    """Slots, and units of groups that have one."""
    slots = draw(st.lists(st.frozensets(st.sampled_from(NAMES)), min_size=1, max_size=6))
    there = [n for n, name in enumerate(NAMES) if any(name in slot for slot in slots)]
    groups = st.sampled_from([None, *there])
    sizes = draw(st.lists(st.tuples(st.integers(1, 50), groups), min_size=1, max_size=40))
    return slots, [
        {"domain": f"{n}.example", "pages": size, "group": group}
        for n, (size, group) in enumerate(sizes)
    ]


@given(drawn_units())
def test_domains_go_to_slots_of_their_group_and_loads_are_balanced(
    drawn: tuple[list[frozenset[str]], list[dict[str, Any]]],
) -> None:
    slots, units = drawn
    columns = {name: [unit[name] for unit in units] for name in ("domain", "pages", "group")}
    types = {"domain": pa.string(), "pages": pa.int64(), "group": pa.int32()}
    table = pa.table({name: pa.array(columns[name], types[name]) for name in types})
    batches = iter(table.to_batches(max_chunksize=7))
    (batch,) = part_assignment._assign_all(NAMES, slots, batches)
    rows = {row["domain"]: row for row in batch.to_pylist()}
    assert len(rows) == batch.num_rows == len(units)
    loads = [0] * len(slots)
    groups, free = defaultdict(set), defaultdict(list)
    for unit in units:
        row = rows[unit["domain"]]
        loads[row["part"]] += unit["pages"]
        assert row["egress"] == (None if unit["group"] is None else NAMES[unit["group"]])
        if unit["group"] is None:
            free[row["part"]].append(unit["pages"])
        else:
            groups[row["part"]].add(row["egress"])
    for part, slot in enumerate(slots):
        assert groups[part] <= slot
        if free[part]:  # the last one came when no part had a smaller load
            assert loads[part] - min(free[part]) <= min(loads)
    largest = max(unit["pages"] for unit in units)
    for one, other in combinations(range(len(slots)), 2):
        if slots[one] == slots[other]:
            assert abs(loads[one] - loads[other]) <= largest


def test_the_largest_unit_is_dealt_first() -> None:
    permitted = {0: [True, True], None: [True, True]}
    assert list(assign_units([5, 3, 2], [0, 0, None], permitted)) == [0, 1, 1]


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_domain_has_one_part_and_one_group(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(table_io, "FEW", few)
    hosts = {"a-eu.example": 6, "www.a-eu.example": 3, "b-us.example": 5, "x.shared.example": 2}
    hosts |= {"shared.example": 1, "free1.example": 1, "free2.example": 4, "known.example": 1}
    rows = [{"url": f"http://{h}/{i}", "host": h} for h, n in hosts.items() for i in range(n)]
    put(work, "pages", rows)
    put(work, "hosts", [{"host": "known.example", "address": "198.51.100.3"}])
    restrict(work)
    askable = generate.Askable(work.now_ms(), lsm.current(work, HOSTS))
    chosen = generate.due_now(work, lsm.current(work, PAGES), askable)
    slots = [frozenset({"us"}), frozenset({"eu"})]
    parted = part_assignment.assign_parts(work, chosen, lsm.current(work, HOSTS), slots).collect()
    found = {(domain_of(row["url"]), row["part"], row["egress"]) for row in parted}
    assert found == {
        ("a-eu.example", 1, "eu"),  # all of its hosts, although one is of no group
        ("shared.example", 1, "eu"),  # the first group of its hosts
        ("b-us.example", 0, "us"),
        ("known.example", 0, "us"),  # by its last address
        ("free1.example", 0, None),
        ("free2.example", 0, None),
    }
    assert len(parted) == sum(hosts.values())


def restrict(work: Workspace, **setting: tuple[str, ...]) -> None:
    fetch = FetchConfig(egress=setting or SETTING)
    work.config = msgspec.structs.replace(work.config, fetch=fetch)


@pytest.mark.embedded
def test_pages_of_a_group_without_a_worker_stay_due_and_take_no_place(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = {"a-eu.example": 9, "b-us.example": 5, "free.example": 3}
    rows = [
        {"url": f"http://{h}/{i}", "host": h, "inlinks": 10 * n}
        for h, n in hosts.items()
        for i in range(n)
    ]
    put(work, "pages", rows)
    restrict(work)
    work.config = msgspec.structs.replace(
        work.config, generate=msgspec.structs.replace(work.config.generate, pages=8)
    )
    monkeypatch.setenv(GROUPS, "us")
    assert generate.run(work).counts == {"pages": 8, POSTPONED: 9}
    assert {(row["host"], row["egress"]) for row in listed(work)} == {
        ("b-us.example", "us"),
        ("free.example", None),
    }
    monkeypatch.setenv(GROUPS, "us, eu")
    assert generate.run(work).counts["pages"] == 8
    assert {row["host"] for row in listed(work)} >= {"a-eu.example"}
    monkeypatch.delenv(GROUPS)
    assert generate.run(work).counts == {"pages": 3, POSTPONED: 14}


def listed(work: Workspace) -> list[dict[str, Any]]:
    return list(by_url(work.read("fetchlist", work.round)).values())


def test_without_the_setting_workers_are_not_asked(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "groups_here", None)
    put(work, "pages", [{"url": "http://a.example/"}])
    assert generate.run(work).counts == {"pages": 1}
    assert [row["egress"] for row in listed(work)] == [None]
    assert part_assignment.free_slots(replace(work, _engine=None)) == []
