"""What is a visit to each section worth, in fit pages? From what was seen of it, and of others.

A visit brings the page itself, if it is fit, and new pages that it leads to. Of a section that was
seldom visited, both are taken to be as in those of the same path on all hosts, and of such a path,
as in the one around it, which counts as PRIOR visits. The index of a branching bandit
(bandit.py) makes a worth of both. What is found behind new pages counts less (LATER): much of it
will be found in other ways by then.

A page is judged by the smallest section that it is in. So what counts for that are the pages of the
section that are in no smaller one, its rest: on a site that has its calendar beside its home page,
folders full of articles do not make it worth a visit.

A rest that has hardly been tried may be worth much or nothing: an archive's years lead only to its
months. So until TRIED pages of it were asked for, or of those of the same path elsewhere, some of
its pages are on `trial`: of a large one as many again as were asked for, and a few, and all of a
small one. In all, these are at most `generate.explore_share` of a round, or half of the places in
it that pages worth WORTHY or more leave. They come first. Small ones get the larger part: a site
has few archives, but many tags and threads. All that is new within a section shares what that
section gets, which is the less, the more there has been tried: a calendar has ever more years.
Other pages are taken to be worth as much as those of the worst section beside theirs that has been
tried, which counts as PRIOR visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.schedule.order.sections.bandit import Yields, indices

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.schedule.order.sections.bandit import Floats, Places

    Flags = npt.NDArray[np.bool_]

PRIOR = 3.0
"""Visits that what is known of a larger section counts as."""
UNKNOWN = 1.0
"""The share of fit pages in a web of which nothing is known."""
LATER = 0.5
"""The share of what is found behind new pages that counts: the rest is found in other ways."""
WORTHY = 0.5
TRIED = 30
"""Requested pages with which a rest is known well enough."""
FEW = 6
SMALL = 2 * TRIED
"""Pages of a rest up to which all are on trial."""


class WorthTree(NamedTuple):
    """Places of sections, in the order of a table, and after them the places of their rests.

    Each array holds one entry per place. The rest of a section lies in that section.
    """

    around: Places
    """The place of the section around it."""
    everywhere: Places
    """The place of the same path on all hosts."""
    levels: Places
    are_rests: Flags

    @property
    def depth(self) -> int:
        return int(self.levels.max(initial=0))

    @property
    def are_of_all(self) -> Flags:
        """Which of them are those of all hosts."""
        are: Flags = self.everywhere == np.arange(len(self.everywhere))
        return are

    @classmethod
    def from_sections(cls, sections: pa.Table) -> WorthTree:
        names = sections["section"].to_pylist()
        place = {name: n for n, name in enumerate(names)}
        around = [
            place[next(each for each in _sections_outwards(name) if each in place)]
            for name in names
        ]
        everywhere = [place["*" + name[name.index("/") :]] for name in names]
        count, levels = len(names), sections["level"].to_numpy()
        return cls(
            np.array([*around, *range(count)], np.int64),
            np.array([*everywhere, *(count + each for each in everywhere)], np.int64),
            np.append(levels, levels + 1),
            np.arange(2 * count) >= count,
        )

    def append_rests(self, counts: Floats) -> Floats:
        """Append the counts of their rests to those of sections."""
        (inner,) = np.nonzero((self.levels > 1) & ~self.are_rests)
        inside = np.bincount(self.around[inner], counts[inner], counts.size)
        return np.append(counts, np.maximum(counts - inside, 0))


class PageCounts(NamedTuple):
    """Pages of sections and of their rests, by place in the tree."""

    known: Floats
    asked: Floats
    fit: Floats


def add_section_worth(
    sections: pa.Table, finds: pa.Table, unit: int, pages: int, explore_share: float
) -> pa.Table:
    """Add the columns `worth` and `trial` to the rows of `sections`, which include all pages.

    `finds` counts pages in parts of `unit`; `pages`: those of a round.
    """
    tree = WorthTree.from_sections(sections)
    counts = PageCounts(
        *(
            tree.append_rests(sections[name].to_numpy().astype(np.float64))
            for name in PageCounts._fields
        )
    )
    worth = _worth_of_visits(tree, counts, _yields(tree, finds, sections["section"], unit))
    explored = _explored_pages(tree, counts, worth, pages, explore_share)
    trial = _trial_shares(tree, counts, explored)
    for name, column in (("worth", worth), ("trial", trial)):
        sections = sections.append_column(name, pa.array(column[tree.are_rests]))
    return sections


def _yields(tree: WorthTree, finds: pa.Table, names: pa.ChunkedArray, unit: int) -> Yields:
    """Return how many new pages a visit to each section brings, less what is found LATER anyway."""
    of_visits = pc.is_null(finds["target"])
    seen = _spread_worth(tree, _place_finds_in_tree(finds.filter(of_visits), names, unit))
    visits = np.bincount(seen.source, seen.pages, len(tree.levels)).astype(np.float64)
    source, target, found = _spread_worth(
        tree, _place_finds_in_tree(finds.filter(pc.invert(of_visits)), names, unit)
    )
    return Yields(source, target, LATER * found / (visits[source] + PRIOR))


def _worth_of_visits(tree: WorthTree, counts: PageCounts, yields: Yields) -> Floats:
    """Return the worth of a visit to each section; a cautious one of sections hardly tried."""
    index = indices(_smooth_worth(tree, counts.fit, counts.asked), yields)
    worth = _smooth_worth(tree, index * counts.asked, counts.asked)
    is_tried = counts.asked[tree.everywhere] >= TRIED
    return _lower_untried(tree, worth, index, counts.asked, is_tried)


def _explored_pages(
    tree: WorthTree, counts: PageCounts, worth: Floats, pages: int, explore_share: float
) -> float:
    """Return how many pages of a round are on trial at most."""
    if not explore_share:
        return 0.0
    worthy = tree.are_rests & ~tree.are_of_all & (worth >= WORTHY)
    room = pages - np.sum((counts.known - counts.asked)[worthy])
    return float(max(explore_share * pages, room / 2))


def _trial_shares(tree: WorthTree, counts: PageCounts, explored: float) -> Floats:
    """Return the share of each section's pages that is on trial, `explored` pages in all."""
    size, tried = (each[tree.everywhere] for each in (counts.known, counts.asked))
    if not explored:
        return np.zeros(len(size))
    is_new = (tried < TRIED) & (tried < size) & tree.are_rests
    wanted = np.where(size > SMALL, np.minimum(tried + FEW, size - tried), size - tried)
    weights = _novelty(tree, is_new, tried) / np.maximum(size, FEW)
    (paths,) = np.nonzero(is_new & tree.are_of_all)
    more = np.zeros(len(size))
    more[paths] = _share_out_trials(wanted[paths], weights[paths], explored)
    # Those that have been on trial before are among them.
    share = (tried + more[tree.everywhere]) / np.maximum(size, 1)
    return np.where(is_new, share, 0.0)


def _sections_outwards(section: str) -> list[str]:
    """Return the sections around one, on the same host, innermost first; then itself."""
    path, _, _ = section.partition("?")
    host, *folders = path.split("/")[:-1]
    most = len(folders) if "?" in section else len(folders) - 1
    return ["/".join([host, *folders[:n], ""]) for n in range(most, -1, -1)] + [section]


def _smooth_worth(tree: WorthTree, sums: Floats, counts: Floats) -> Floats:
    """Return the mean of each section, to which the section that it is part of adds PRIOR visits.

    It is part of the same path on all hosts; such a path is part of the one around it.
    """
    mean = np.full(len(sums), UNKNOWN)
    of_all = tree.are_of_all
    part_of = np.where(of_all, tree.around, tree.everywhere)
    for level in range(1, tree.depth + 1):
        for some in (of_all, ~of_all):
            (here,) = np.nonzero(some & (tree.levels == level))
            prior = mean[part_of[here]]  # of all pages: UNKNOWN
            mean[here] = (sums[here] + PRIOR * prior) / (counts[here] + PRIOR)
    return mean


def _lower_untried(
    tree: WorthTree, worth: Floats, index: Floats, asked: Floats, is_tried: Flags
) -> Floats:
    """Lower the worth of sections that were hardly tried; return all.

    The worst section beside them that was tried, or else the one around, counts as PRIOR visits.
    """
    worst = np.full(len(worth), np.inf)
    np.minimum.at(worst, tree.around[is_tried], worth[is_tried])
    for level in range(2, tree.depth + 1):
        (new,) = np.nonzero(~is_tried & (tree.levels == level))
        around = tree.around[new]
        prior = np.where(np.isfinite(worst[around]), worst[around], worth[around])
        worth[new] = (index[new] * asked[new] + PRIOR * prior) / (asked[new] + PRIOR)
    return worth


def _novelty(tree: WorthTree, is_new: Flags, tried: Floats) -> Floats:
    """Return how much each new section can teach: the less, the more beside it were tried.

    A calendar has ever more years and months, and a forum may have a folder for each thread: none
    of them has many pages, so those that were tried in part count in part. All that is new within a
    section shares what is to be learned from that.
    """
    inner, novelty = tree.levels > 1, np.ones(len(is_new))
    part = np.where(inner, np.minimum(tried / TRIED, 1), 0)
    beside = np.bincount(tree.around, part, len(is_new))
    has_new = is_new & tree.are_of_all
    for level in range(tree.depth, 1, -1):
        has_new[tree.around[has_new & (tree.levels == level)]] = True
    sharing = np.bincount(tree.around[has_new & inner], minlength=len(is_new))
    for level in range(2, tree.depth + 1):
        (new,) = np.nonzero(has_new & (tree.levels == level))
        around = tree.around[new]
        novelty[new] = novelty[around] / (1 + beside[around] - part[new]) / sharing[around]
    return novelty


def _share_out_trials(wanted: Floats, weights: Floats, most: float) -> Floats:
    """Share out `most` pages: each gets all that it wants, or the same multiple of its weight."""
    is_full = np.zeros(len(wanted), np.bool_)
    while True:
        rest = np.sum(weights[~is_full])
        times = max(most - np.sum(wanted[is_full]), 0) / rest if rest else 0.0
        over = ~is_full & (times * weights >= wanted)
        if not over.any():
            return np.where(is_full, wanted, times * weights)
        is_full |= over


def _place_finds_in_tree(finds: pa.Table, names: pa.ChunkedArray, unit: int) -> Yields:
    """Return finds by the places of rests, in pages."""
    source, target = (
        pc.index_in(finds[name], names).fill_null(0).to_numpy().astype(np.int64)
        for name in ("source", "target")
    )
    return Yields(len(names) + source, len(names) + target, finds["pages"].to_numpy() / unit)


def _spread_worth(tree: WorthTree, finds: Yields) -> Yields:
    """Add the same finds to the sections around, and to the same paths on all hosts."""
    found = [finds]
    for _ in range(tree.depth - 1):
        source, target, pages = found[-1]
        below = tree.levels[source] > 1
        found.append(Yields(tree.around[source[below]], target[below], pages[below]))
    (source, target, pages), everywhere = _concatenate_tree(found), tree.everywhere
    own = everywhere[source] != source
    elsewhere = Yields(everywhere[source[own]], everywhere[target[own]], pages[own])
    return _concatenate_tree([Yields(source, target, pages), elsewhere])


def _concatenate_tree(parts: list[Yields]) -> Yields:
    return Yields(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.pages for part in parts]),
    )
