"""Which node holds which shards, which of them answer together, and when an index is replaced."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.messages import Holding, Report
from gossamer.serve.cluster import members, replica
from gossamer.serve.cluster.cover import MAX_STEPS, Part, best_cover
from gossamer.serve.cluster.follower import deal_shards, node_share
from gossamer.serve.cluster.members import GONE_S, Members
from gossamer.serve.cluster.rolling import MAX_HELD, droppable_later, droppable_now, is_turn

if TYPE_CHECKING:
    from collections.abc import Iterable

NODES = [f"10.0.0.{number}:9400" for number in range(40)]
WHOLE = (0, 1, 2, 3)
ODD, EVEN = (1, 3), (0, 2)


@given(st.sets(st.integers(0, 500), min_size=1), st.integers(1, 50))
def test_groups_are_of_one_size(items: set[int], groups: int) -> None:
    groups = min(groups, len(items))
    found = deal_shards(items, groups)
    assert found.keys() == items
    sizes = Counter(found.values())
    assert len(sizes) == groups
    assert max(sizes.values()) - min(sizes.values()) <= 1


@pytest.mark.parametrize(("nodes", "groups"), [(4, 2), (5, 2), (10, 3), (39, 8)])
def test_few_nodes_change_their_group_when_one_comes(nodes: int, groups: int) -> None:
    before, after = deal_shards(NODES[:nodes], groups), deal_shards(NODES[: nodes + 1], groups)
    assert sum(after[each] != before[each] for each in before) <= nodes // 4


def test_all_shards_are_held_by_as_many_nodes() -> None:
    held = Counter(
        shard for node in NODES[:6] for shard in node_share(node, NODES[:6], range(9), 3)
    )
    assert held == dict.fromkeys(range(9), 2)
    assert node_share(NODES[0], NODES[:3], WHOLE, 1) == list(WHOLE)
    assert [node_share(each, NODES[:2], [7], 2) for each in NODES[:2]] == [[7], [7]]


def holding(version: int, shards: Iterable[int] = WHOLE, state: str | None = None) -> Holding:
    state = f"state {version}" if state is None else state
    return Holding(version, state, tuple(shards), WHOLE, 10, ("en",))


def test_the_newest_state_that_is_whole_answers() -> None:
    old = [("a", holding(1, ODD)), ("b", holding(1, EVEN)), ("c", holding(1, EVEN))]
    assert best_cover([]) is None
    found = best_cover([*old, ("a", holding(2, ODD))])
    assert found is not None
    assert (found.state, found.missing, found.pages) == ("state 1", 0, 20)
    assert found.parts == (Part(EVEN, ("b", "c")), Part(ODD, ("a",)))
    found = best_cover([*old, ("a", holding(2, ODD)), ("b", holding(2, EVEN))])
    assert found is not None
    assert found.parts == (Part(EVEN, ("b",)), Part(ODD, ("a",)))
    assert found.version == 2
    found = best_cover([("a", holding(1, ODD)), ("b", holding(2, [0]))])
    assert found is not None
    assert (found.version, found.missing) == (1, 2)


def test_no_shard_is_searched_twice_where_nodes_divide_them_differently() -> None:
    two, one = [("a", holding(1, ODD)), ("b", holding(1, EVEN))], ("c", holding(1, (0, 1)))
    found = best_cover([one, *two])
    assert found is not None
    assert [part.shards for part in found.parts] == [EVEN, ODD]
    found = best_cover([one, two[0]])
    assert found is not None
    assert (len(found.parts), found.missing) == (1, 2)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9))),
        max_size=12,
    )
)
def test_whatever_is_reported_the_parts_are_disjoint(
    reported: list[tuple[str, set[int], set[int]]],
) -> None:
    held = [
        (str(number), Holding(1, state, tuple(shards), tuple(whole), 1, ()))
        for number, (state, shards, whole) in enumerate(reported)
    ]
    found = best_cover(held)
    if found is not None:
        shards = [shard for part in found.parts for shard in part.shards]
        assert len(shards) == len(set(shards))
        assert 0 <= found.share <= 1
    assert (found is None) == (not any(a and a <= b for _, a, b in reported))


def test_strange_divisions_of_many_shards_take_no_long_time() -> None:
    whole = tuple(range(60))
    held = [
        ("a", Holding(1, "s", (first, second), whole, 1, ()))
        for first in range(59)
        for second in range(first + 1, 59)
    ]
    found = best_cover(held)
    assert found is not None
    assert found.missing >= 2
    assert len(held) < MAX_STEPS


def report(*held: Holding, share: tuple[int, ...] = ODD, target: Holding | None = None) -> Report:
    last = target or (held[-1] if held else None)
    return Report(list(held), "", share, (last.version, last.state) if last else (0, ""))


def test_an_older_state_is_dropped_once_the_newer_one_is_whole() -> None:
    old, new = holding(1, ODD), holding(2, ODD)
    others = {"b": report(holding(1, EVEN), share=EVEN)}
    assert droppable_later([old, new], new, others) == []
    others = {"b": report(holding(1, EVEN), holding(2, EVEN), share=EVEN)}
    assert droppable_later([old, new], new, others) == [old]


def test_an_older_state_is_dropped_if_the_other_nodes_are_dead() -> None:
    old, new = holding(1, ODD), holding(2, ODD)
    assert droppable_later([old, new], new, {}) == [old]


def test_two_nodes_do_not_leave_the_same_shards_to_each_other() -> None:
    leaving, wanted = holding(1, ODD), holding(1, EVEN)
    other = report(leaving, wanted, share=EVEN)
    assert droppable_later([leaving, wanted], wanted, {"b": other}) == []
    staying = report(leaving, share=ODD)
    assert droppable_later([leaving, wanted], wanted, {"b": other, "c": staying}) == [leaving]


def test_a_state_that_is_not_whole_yet_is_not_replaced_by_a_newer_one() -> None:
    old, new = holding(1, ODD), holding(2, ODD)
    slow = report(holding(1, EVEN), share=EVEN, target=holding(2, EVEN))
    assert droppable_now([old, new], "state 3", {"b": slow}) is None
    ahead = report(holding(1, EVEN), share=EVEN, target=holding(3, EVEN))
    assert droppable_now([old, new], "state 4", {"b": ahead}) == [new]
    same_but_opened_later = report(holding(1, EVEN), share=EVEN, target=holding(9, EVEN, new.state))
    assert droppable_now([old, new], "state 10", {"b": same_but_opened_later}) is None


def test_a_node_does_not_open_states_without_end() -> None:
    other = report(holding(1, EVEN), share=EVEN)
    mine = [holding(1, ODD), holding(1, EVEN), holding(1, (0,))]
    assert len(mine) == MAX_HELD
    assert droppable_now(mine, "state 2", {"b": other}) is None
    assert droppable_now(mine[:2], "state 2", {"b": other}) == []


def test_nodes_of_a_group_open_a_newer_state_one_after_another() -> None:
    old, new = holding(1, ODD), holding(2, ODD)
    turn = partial(is_turn, newest=new.state, share=ODD)
    assert turn("a", [old], reports={"b": report(old)})
    assert not turn("b", [old], reports={"a": report(old)})
    assert turn("b", [old], reports={"a": report(old, new)})
    assert turn("b", [], reports={"a": report(old)})
    assert turn("b", [old], reports={"a": report(holding(1, EVEN), share=EVEN)})
    again = holding(5, ODD, old.state)
    assert not turn("b", [old], reports={"a": report(again)})


def test_a_node_that_gets_another_place_waits_for_those_that_are_there_only_if_they_open() -> None:
    old, new = holding(1, ODD), holding(2, ODD)
    mine = [holding(1, EVEN, old.state)]
    assert is_turn("b", mine, old.state, ODD, {"a": report(old)}), "it has nothing to open"
    assert not is_turn("b", mine, new.state, ODD, {"a": report(old)})
    assert is_turn("b", mine, new.state, ODD, {"a": report(old, new)})


@pytest.mark.server
def test_a_node_that_gives_no_sign_loses_its_place_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replica, "PROBE_S", 0.05)
    now_s = 0.0
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = f"127.0.0.1:{silent.getsockname()[1]}"
        dead = Members([at, "127.0.0.1:1"], clock=lambda: now_s)

        async def look() -> set[str]:
            await dead.look()
            return dead.names()

        assert asyncio.run(look()) == {at, "127.0.0.1:1"}
        assert dead.reports() == {}
        now_s = GONE_S
        assert asyncio.run(look()) == set()
    dead.close()


def test_a_name_stands_for_all_of_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "_resolve", lambda *_: ["127.0.0.1", "::1"])

    async def look() -> None:
        listed = Members(["many:1"])
        await listed.look()
        assert listed.replicas.keys() == {"127.0.0.1:1", "[::1]:1"}
        listed.close()

    asyncio.run(look())


def test_a_name_that_can_no_longer_be_resolved_keeps_its_addresses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found: list[str] | None = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]

    def resolve(*_: str) -> list[str]:
        if found is None:
            raise socket.gaierror
        return found

    monkeypatch.setattr(members, "_resolve", resolve)
    monkeypatch.setattr(members, "MAX_NODES", 2)
    monkeypatch.setattr(members, "RESOLVE_S", 0.0)

    async def look() -> None:
        nonlocal found
        listed = Members(["many:1"])
        await listed.look()
        before = dict(listed.replicas)
        assert before.keys() == {"127.0.0.1:1", "127.0.0.2:1"}
        assert "serve.nodes has 3 addresses; 2 are used" in caplog.text
        found = None
        for _ in range(3):
            await listed.look()
        assert listed.replicas == before
        listed.close()

    asyncio.run(look())
