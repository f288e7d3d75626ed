"""Which layers a step has not read yet."""

from __future__ import annotations

from gossamer.state.unread import newer, oldest_unread
from gossamer.storage.manifest import Layer

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
