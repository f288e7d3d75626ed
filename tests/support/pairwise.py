"""Few of many cases, such that each pair of values that may matter together is in one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

Case = TypeVar("Case", bound="Hashable")


def choose_covering(
    cases: Iterable[Case], pairs: Callable[[Case], Iterable[Hashable]]
) -> set[Case]:
    """Choose cases that have all pairs of all cases; the same ones for the same cases.

    Greedy: the next one has the most pairs that none of the earlier ones has.
    """
    left = {case: set(pairs(case)) for case in cases}
    chosen = set()
    while any(left.values()):
        best = max(left, key=lambda case: len(left[case]))
        chosen.add(best)
        covered = left.pop(best)
        left = {case: missing for case, has in left.items() if (missing := has - covered)}
    return chosen
