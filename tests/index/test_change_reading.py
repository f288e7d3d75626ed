"""Which changes are read, and from how many row groups: see gossamer.index.changes.reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.index.changes import reading
from gossamer.index.changes.cursor import END, Cursor
from gossamer.index.changes.reading import ChangeLog
from gossamer.storage import parquet
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace


pytestmark = [pytest.mark.folder, pytest.mark.embedded]


def url(number: int, host: str = "a.example") -> str:
    return f"http://{host}/{number}"


def commit(work: Workspace, harvest: int, *changes: tuple[int, str] | tuple[int, str, Any]) -> None:
    """Commit the changes of a harvest, as place, URL and round, to a file of its own."""
    rows = [
        {"harvest": harvest, "place": place, "url": address, "at_ms": harvest}
        | {"change": "gone" if None in rest else "added", "round": rest[0] if rest else 1}
        for place, address, *rest in changes
    ]
    put(work, "changes", rows)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The harvests with which the row groups begin that were read."""
    found: list[int] = []
    real = reading._rows_of

    def rows_of(group: Any) -> Any:
        found.append(group.low[0])
        return real(group)

    monkeypatch.setattr(reading, "_rows_of", rows_of)
    return found


def urls(placed: Sequence[reading.Placed]) -> list[str]:
    return [each.change.url for each in placed]


def test_reading_ends_with_the_last_change_that_is_wanted(
    work: Workspace, opened: list[int]
) -> None:
    for harvest in (1, 2, 3):
        commit(work, harvest, (5, url(harvest)), (9, url(10 + harvest)))
    log = ChangeLog(work)
    found, after = log.read(log.beginning(), 2)
    assert (urls(found), after.position) == ([url(1), url(11)], (1, 9))
    assert opened == [1]
    assert [placed.cursor.position for placed in found] == [(1, 5), (1, 9)]
    opened.clear()
    found, after = log.read(after, 3)
    assert (urls(found), after.position) == ([url(2), url(12), url(3)], (3, 5))
    assert opened == [2, 3]


def test_all_that_there_is_may_be_asked_for_exactly(work: Workspace, opened: list[int]) -> None:
    """Only who asks for more learns that the harvest was read as a whole."""
    commit(work, 1, (5, url(1)), (9, url(2)))
    log = ChangeLog(work)
    assert log.read(log.beginning(), 2)[1].position == (1, 9)
    assert opened == [1]
    found, after = log.read(log.beginning(), 3)
    assert after.position == (1, END)
    assert [placed.cursor.position for placed in found] == [(1, 5), (1, END)]
    assert log.end() == after


def test_a_call_looks_at_some_changes_only_for_those_of_a_site(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LOOKED_AT", 4)
    monkeypatch.setattr(reading, "FEWEST_ROWS", 2)
    commit(work, 1, *((place, url(place)) for place in range(6)), (6, url(6, "b.example")))
    log = ChangeLog(work)
    found, after = log.read(log.beginning(), 1, "b.example")
    assert (found, after.position) == ([], (1, 3))
    found, after = log.read(after, 1, "b.example")
    assert (urls(found), after.position) == ([url(6, "b.example")], (1, END))


def test_the_newest_pages_are_read_from_the_newest_files(
    work: Workspace, opened: list[int]
) -> None:
    for harvest in (2, 3, 1):
        commit(work, harvest, (5, url(harvest)), (9, url(10 + harvest)))
    recent = ChangeLog(work).recent(2)
    assert [change.url for change in recent] == [url(13), url(3)]
    assert opened == [3]
    opened.clear()
    recent = ChangeLog(work).recent(3)
    assert [change.url for change in recent] == [url(13), url(3), url(12)]
    assert opened == [3, 2]


def test_the_newest_pages_are_those_that_stay_each_once_and_of_a_site(work: Workspace) -> None:
    commit(work, 1, (1, url(1)), (2, url(2, "b.example")), (3, url(3, "www.b.example")))
    commit(work, 2, (1, url(1)), (2, url(2, "b.example"), None))
    log = ChangeLog(work)
    assert [(each.url, each.at_ms) for each in log.recent(9)] == [
        (url(1), 2),
        (url(3, "www.b.example"), 1),
    ]
    assert [each.url for each in log.recent(9, "b.example")] == [url(3, "www.b.example")]
    assert log.recent(9, "c.example") == []


def test_what_is_known_of_a_file_is_not_read_again(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(work, 1, (1, url(1)))
    log = ChangeLog(work)
    assert urls(log.read(log.beginning(), 9)[0]) == [url(1)]
    monkeypatch.delattr(parquet, "metadata")
    assert urls(log.read(log.beginning(), 9)[0]) == [url(1)]


def test_layers_of_older_harvests_are_not_opened(work: Workspace) -> None:
    """The last layer has the newest harvest, and is opened at any rate."""
    commit(work, 1, (1, url(1)))
    version = work.store.manifest.version
    commit(work, version + 1, (1, url(2)))
    log = ChangeLog(work)
    state = log._state(version + 1)
    assert [group.low[0] for group in state.groups] == [version + 1]
    assert state.newest == version + 1
    assert len(log._state(version).groups) == 2
    assert len(log._state(version + 99).groups) == 1


def test_an_empty_log_has_a_beginning_and_an_end(work: Workspace) -> None:
    log = ChangeLog(work)
    assert log.recent(5) == []
    assert log.beginning() == Cursor()
    assert log.end().position == (0, END)
    found, after = log.read(log.beginning(), 5)
    assert (found, after.position) == ([], (0, END))
    assert not log.page(log.beginning(), 5).more


@pytest.mark.parametrize(
    ("address", "site", "is_there"),
    [
        ("http://b.example/x", "b.example", True),
        ("http://www.b.example/x", "b.example", True),
        ("http://ab.example/x", "b.example", False),
        ("http://b.example/x", "www.b.example", False),
        ("http://b.example/x", "", True),
    ],
)
def test_a_site_is_a_host_and_those_below_it(address: str, site: str, is_there: bool) -> None:
    assert reading.is_on_site(address, site) is is_there
