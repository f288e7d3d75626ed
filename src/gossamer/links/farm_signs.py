"""What the dataset farms says about hosts and pages, for people.

`gossamer.links.farms` decides which hosts look like parts of link farms, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gossamer.tables import FARMS
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.lookup import Lookup


class FarmSign(msgspec.Struct, frozen=True):
    """A reason why the votes of a host, or those for a page, weigh less. Fields: see tables."""

    kind: str
    name: str
    reason: str
    owner: str
    members: int
    supporters: int
    links: int
    of_links: int
    factor: float

    @property
    def text(self) -> str:
        """The reason and its evidence as a sentence."""
        return _TEXTS[self.reason].format(**msgspec.structs.asdict(self))


_SUPPORTED = "{supporters} other domains link to them. Its votes count {factor:.0%}"
_TEXTS: Mapping[str, str] = {
    "domain": "{members:,} hosts of {owner} link to each other, and " + _SUPPORTED,
    "address": "{members:,} domains at {owner} link to each other, and " + _SUPPORTED,
    "exchange": "{links:,} of its {of_links:,} links to other hosts lead to {owner}, which links "
    "back, and {supporters} other domains link to them. Its votes count {factor:.0%}",
    "boosted": "{links:,} of {of_links:,} hosts of other domains that link here belong to a farm "
    "of {owner}, whose votes count less",
}


def signs_of(lookup: Lookup, url: str) -> list[FarmSign]:
    """The signs of a page, and of its host."""
    return [
        msgspec.convert(row, FarmSign)
        for name in (host_of(url), url)
        for row in lookup.rows(FARMS.name, "name", name, FARMS.column_names)
    ]
