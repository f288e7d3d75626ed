"""Where ranks flow from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from gossamer.errors import ConfigError
from gossamer.links.rank.arrays import _preference_vector

if TYPE_CHECKING:
    from gossamer.links.rank.node_traits import NodeTraits


def traits(fetched: str, trusted: str, distrusted: str) -> NodeTraits:
    """Of nodes that are written as digits."""
    given = {"fetched": fetched, "trusted": trusted, "distrusted": distrusted}
    flags = {name: np.array([*map(int, text)], bool) for name, text in given.items()}
    return cast("NodeTraits", SimpleNamespace(**flags))


@pytest.mark.parametrize(
    ("nodes", "only_trusted", "preference"),
    [
        (traits("1101", "0100", "0000"), False, [1 / 3, 1 / 3, 0, 1 / 3]),
        (traits("1101", "0100", "1000"), False, [0, 1 / 2, 0, 1 / 2]),
        (traits("1101", "0110", "0000"), True, [0, 1 / 2, 1 / 2, 0]),
        (traits("1101", "0110", "0010"), True, [0, 1, 0, 0]),
        (traits("0000", "0100", "0010"), False, [1 / 3, 1 / 3, 0, 1 / 3]),
        (traits("0010", "0100", "0010"), False, [1 / 3, 1 / 3, 0, 1 / 3]),
        (traits("0000", "0000", "1111"), False, [0, 0, 0, 0]),
    ],
)
def test_ranks_flow_from_trusted_or_fetched_nodes(
    nodes: NodeTraits, only_trusted: bool, preference: list[float]
) -> None:
    assert _preference_vector(nodes, only_trusted=only_trusted).tolist() == preference


def test_without_a_trusted_node_that_is_not_distrusted_there_is_no_start() -> None:
    with pytest.raises(ConfigError):
        _preference_vector(traits("1111", "0100", "0100"), only_trusted=True)
