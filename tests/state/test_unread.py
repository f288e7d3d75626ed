"""Which layers a step has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.state import unread
from gossamer.state.unread import newer, oldest_unread
from gossamer.storage.manifest import Layer
from gossamer.tables import DISPOSITIONS, DOCUMENTS, JUDGED
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

LAYERS = [Layer(1, (), version=version, since=since) for version, since in ((3, 2), (5, 5), (9, 4))]


def test_layers_are_unread_that_were_committed_later() -> None:
    assert newer(LAYERS, 2) == tuple(LAYERS)
    assert newer(LAYERS, 3) == newer(LAYERS, 4) == tuple(LAYERS[1:])
    assert newer(LAYERS, 8) == (LAYERS[2],)
    assert newer(LAYERS, 9) == ()


def test_the_oldest_rows_are_those_of_the_first_commit_that_is_still_there() -> None:
    assert oldest_unread(LAYERS) == 2
    assert oldest_unread(LAYERS[1:]) == 4
    assert oldest_unread([]) == 0


TABLES = (DOCUMENTS, DISPOSITIONS)
"""One only grows, of the other the newest rows win."""


def remember(work: Workspace, settings: str = "") -> None:
    with work.step("test", 1) as draft:
        draft.replace[JUDGED.name] = unread.write_record(work, JUDGED, TABLES, settings)


def add(work: Workspace, *names: str) -> None:
    for name in names:
        put(work, name, [{"url": "http://a.example/"}])


def unread_layers(
    work: Workspace, settings: str = "", *, anew: bool = False
) -> tuple[int, ...] | None:
    """How many layers of each dataset are new; None if everything is."""
    found = unread.unread_inputs(work, JUDGED, TABLES, settings, anew=anew)
    assert len(found.paths(work, DOCUMENTS)) == len(found.layers[DOCUMENTS.name])
    counts = tuple(len(found.layers[table.name]) for table in TABLES)
    every = tuple(len(work.store.manifest.layers(table.name)) for table in TABLES)
    assert counts == every or not found.anew
    return None if found.anew else counts


def test_only_what_was_written_since_is_unread(work: Workspace) -> None:
    add(work, "documents", "dispositions")
    assert unread_layers(work) is None
    assert unread.read_until(work, JUDGED) is None
    version = work.store.manifest.version
    remember(work)
    assert unread_layers(work) == (0, 0)
    assert unread.read_until(work, JUDGED) == version
    add(work, "documents", "documents", "dispositions")
    assert unread_layers(work) == (2, 1)
    assert unread_layers(work, anew=True) is None
    remember(work)
    assert unread_layers(work) == (0, 0)


def test_everything_is_unread_with_other_settings(work: Workspace) -> None:
    add(work, "documents")
    remember(work, "some")
    assert unread_layers(work, "some") == (0, 0)
    assert unread_layers(work, "others") is None


@pytest.mark.parametrize(("name", "is_anew"), [("documents", True), ("dispositions", False)])
def test_rows_that_were_made_again_are_all_unread(
    work: Workspace, name: str, is_anew: bool
) -> None:
    """Where the newest rows win, they are in a new layer."""
    add(work, "documents", "dispositions")
    remember(work)
    with work.step("test", 1) as draft:
        draft.replace[name] = ()
    add(work, name)
    assert unread_layers(work) == (None if is_anew else (0, 1))


def test_nothing_is_known_if_the_record_is_damaged(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(work, "documents")
    remember(work)
    monkeypatch.setattr(type(work.store), "damaged", lambda _, name: name == JUDGED.name)
    assert unread_layers(work) is None
    assert unread.read_until(work, JUDGED) is None
