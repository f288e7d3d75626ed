"""The changes of the index over HTTP, and as a command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.changing_pages import HARVESTS, HOST, harvest_pages
from tests.support.command_line import gossamer, lent
from tests.support.search_server import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.engine]
SECOND = {"a": "changed", "b": "gone", "d": "added"}


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    for number, texts in enumerate(HARVESTS, 1):
        harvest_pages(opened, number, texts)
    return opened


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def asked(client: httpx.Client, **given: Any) -> dict[str, Any]:
    answer = client.get("/api/v1/changes", params=given)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def named(changes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    prefix = f"http://{HOST}/"
    return [(change["url"].removeprefix(prefix), change["change"]) for change in changes]


def test_a_program_reads_all_changes_part_by_part(client: httpx.Client) -> None:
    met: list[tuple[str, str]] = []
    cursor, more = "", True
    while more:
        part = asked(client, since=cursor, count=2)
        assert len(part["changes"]) <= 2
        met, cursor, more = met + named(part["changes"]), part["cursor"], part["more"]
    assert sorted(met[:3]) == [("a", "added"), ("b", "added"), ("c", "added")]
    assert dict(met[3:]) == SECOND
    again = asked(client, since=cursor)
    assert (again["changes"], again["more"], again["cursor"]) == ([], False, cursor)


def test_a_change_says_why_and_when(client: httpx.Client, work: Workspace) -> None:
    found = asked(client, site=HOST)["changes"]
    assert {change["at_ms"] for change in found} == {work.now_ms()}
    (gone,) = (change for change in found if change["change"] == "gone")
    assert gone == {
        "url": f"http://{HOST}/b",
        "change": "gone",
        "at_ms": work.now_ms(),
        "reason": "not_found",
    }


def test_another_site_has_none(client: httpx.Client) -> None:
    found = asked(client, site="b.example")
    assert (found["changes"], found["more"]) == ([], False)
    assert asked(client, since="now")["changes"] == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"since": "garbage"}, "is not a cursor"),
        ({"since": "A" * 48}, "is a damaged cursor"),
        ({"count": 0}, "count must be 1 to 1000"),
        ({"count": 1_001}, "count must be 1 to 1000"),
        ({"count": "many"}, "count must be a whole number"),
    ],
)
def test_wrong_requests_are_explained(
    client: httpx.Client, given: dict[str, Any], says: str
) -> None:
    answer = client.get("/api/v1/changes", params=given)
    assert answer.status_code == 400
    assert says in answer.json()["detail"]


def test_a_cursor_whose_changes_are_gone_gets_410(
    new_work: Callable[[], Workspace],
) -> None:
    work = new_work()
    harvest_pages(work, 1, HARVESTS[0])
    with serving(work) as client:
        cursor = asked(client)["cursor"]
        for number in (2, 3, 4):
            work.clock_ms = work.now_ms() + 40 * 86_400_000
            harvest_pages(work, number, {name: f"{name} {number}" for name in "abc"})
        answer = client.get("/api/v1/changes", params={"since": cursor})
        assert answer.status_code == 410
        assert "begin again, without a cursor" in answer.json()["detail"]
        assert named(asked(client)["changes"])


@pytest.mark.folder
def test_the_command_prints_each_change_with_the_cursor_after_it(
    new_work: Callable[[], Workspace],
) -> None:
    work = new_work()
    with lent(work.engine):
        harvest_pages(work, 1, HARVESTS[0])
        first = gossamer("changes", work.root, "--texts")
        lines = [json.loads(line) for line in first.stdout.splitlines()]
        assert {line["text"] for line in lines} == {*HARVESTS[0].values()}
        assert first.stderr == f"cursor: {lines[-1]['cursor']}\n"
        midway = gossamer("changes", work.root, "--since", lines[0]["cursor"])
        rest = [json.loads(line)["url"] for line in midway.stdout.splitlines()]
        assert rest == [line["url"] for line in lines[1:]]
        harvest_pages(work, 2, HARVESTS[1])
        later = gossamer("changes", work.root, "--since", lines[-1]["cursor"], "--site", HOST)
        assert dict(named([json.loads(line) for line in later.stdout.splitlines()])) == SECOND
        now = gossamer("changes", work.root, "--since", "now")
        assert not now.stdout
        assert now.stderr.startswith("cursor: ")
        wrong = gossamer("changes", work.root, "--since", "garbage", code=1)
        assert "'garbage': is not a cursor" in wrong.stderr
