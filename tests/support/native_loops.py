"""Tests that need the loops in C (gossamer.native)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer.links.bvgraph.codes import BROKEN
from gossamer.native import DEFINITIONS, LOOPS

compiled_only = pytest.mark.skipif(LOOPS is None, reason="takes minutes without loops in C")


def both(name: str, *arguments: Any) -> Any:
    """What a loop returns in C, having compared it, and what it wrote, with its definition."""
    found = []
    for run in (DEFINITIONS[name], getattr(LOOPS, name)):
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        found.append((run(*given), given))
    (expected, written), (result, arrays) = found
    assert result == expected
    first = result[0] if isinstance(result, tuple) else result
    for one, other, argument in zip(written, arrays, arguments, strict=True):
        if isinstance(argument, np.ndarray):
            if first != BROKEN:  # else they may have come to different places
                np.testing.assert_array_equal(one, other)
            if argument.flags.writeable:
                argument[...] = other
    return result
