"""Names that count how often a dictionary looks for one of them."""

from __future__ import annotations


class CountedName(str):
    __slots__ = ()
    lookups = 0

    def __hash__(self) -> int:
        CountedName.lookups += 1
        return super().__hash__()


def counted_names(count: int) -> list[CountedName]:
    """Return different names, and begin to count."""
    names = [CountedName(f"192.0.2.{number}") for number in range(count)]
    CountedName.lookups = 0
    return names
