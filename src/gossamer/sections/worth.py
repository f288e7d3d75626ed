"""What is a visit to each section worth, in fit pages? From what was seen of it, and of others.

A visit brings the page itself, if it is fit, and new pages that it leads to. Of a section that was
seldom visited, both are taken to be as in those of the same path on all hosts, and of such a path,
as in the one around it, which counts as PRIOR visits. The index of a branching bandit
(bandit.py) makes a worth of both.

A section that has hardly been tried may be worth much or nothing: an archive's years lead only to
its months. So until TRIED pages of it were asked for, or of sections of the same path elsewhere, a
share of its pages is on `trial`: as many again as were asked for, and a few. In all, these are at
most `generate.explore_share` of a round, and where other sections beside have been tried, fewer of
it. They come first. Its other pages are taken to be worth as much as those of the worst section
beside it that has been tried, which counts as PRIOR visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.sections.bandit import Yields, indices

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.sections.bandit import Floats, Places

PRIOR = 3.0
UNKNOWN = 1.0
"""The share of fit pages in a web of which nothing is known."""
TRIED = 30
FEW = 6


class Tree(NamedTuple):
    """The places of sections in a table: that `around` each, and the same path on all hosts."""

    around: Places
    everywhere: Places
    levels: Places

    @property
    def depth(self) -> int:
        return int(self.levels.max(initial=0))

    @classmethod
    def of(cls, sections: pa.Table) -> Tree:
        names = sections["section"].to_pylist()
        place = {name: n for n, name in enumerate(names)}
        around = [place[next(each for each in _outwards(name) if each in place)] for name in names]
        everywhere = [place["*" + name[name.index("/") :]] for name in names]
        levels = sections["level"].to_numpy()
        return cls(np.array(around, np.int64), np.array(everywhere, np.int64), levels)


def with_worth(sections: pa.Table, finds: pa.Table, unit: int, explored: float) -> pa.Table:
    """Add the columns `worth` and `trial` to the rows of `sections`, which include all pages.

    `finds` counts pages in parts of `unit`; `explored`: how many pages of a round may be on trial.
    """
    tree = Tree.of(sections)
    known, asked, fit = (
        sections[name].to_numpy().astype(np.float64) for name in ("known", "asked", "fit")
    )
    names = sections["section"]
    of_visits = pc.is_null(finds["target"])
    seen = _of_all(tree, _placed(finds.filter(of_visits), names, unit))
    visits = np.bincount(seen.source, seen.pages, len(names)).astype(np.float64)
    source, target, pages = _of_all(tree, _placed(finds.filter(pc.invert(of_visits)), names, unit))
    yields = Yields(source, target, pages / (visits[source] + PRIOR))
    index = indices(_smoothed(tree, fit, asked), yields)
    worth = _smoothed(tree, index * asked, asked)
    elsewhere = tree.everywhere
    tried = asked[elsewhere]
    is_new = tried < TRIED
    worth = _cautious(tree, worth, is_new, index, asked)
    (on_trial,) = np.nonzero(is_new & (elsewhere == np.arange(len(names))))
    wanted = np.minimum(tried + FEW, known[elsewhere] - tried)[on_trial]
    more = np.zeros(len(names))
    more[on_trial] = _shared_out(wanted, _novelty(tree, is_new, tried)[on_trial], explored)
    # Those that have been on trial before are among them.
    share = (tried + more[elsewhere]) / np.maximum(known[elsewhere], 1)
    trial = np.where(is_new & (explored > 0), share, 0.0)
    return sections.append_column("worth", pa.array(worth)).append_column("trial", pa.array(trial))


def _outwards(section: str) -> list[str]:
    """The sections around one, of the same host, from the inner to the outer ones; then itself."""
    path, _, _ = section.partition("?")
    host, *folders = path.split("/")[:-1]
    most = len(folders) if "?" in section else len(folders) - 1
    return ["/".join([host, *folders[:n], ""]) for n in range(most, -1, -1)] + [section]


def _smoothed(tree: Tree, sums: Floats, counts: Floats) -> Floats:
    """The means of sections. PRIOR of what each counts is of the section that it is part of.

    That is the same path on all hosts; of such a path, the one around it.
    """
    mean = np.full(len(sums), UNKNOWN)
    of_all = tree.everywhere == np.arange(len(sums))
    part_of = np.where(of_all, tree.around, tree.everywhere)
    for level in range(1, tree.depth + 1):
        for some in (of_all, ~of_all):
            (here,) = np.nonzero(some & (tree.levels == level))
            prior = mean[part_of[here]]  # of all pages: UNKNOWN
            mean[here] = (sums[here] + PRIOR * prior) / (counts[here] + PRIOR)
    return mean


def _cautious(
    tree: Tree, worth: Floats, is_new: npt.NDArray[np.bool_], index: Floats, asked: Floats
) -> Floats:
    """The worth of sections; PRIOR of what new ones count is of the worst beside, or one around."""
    worst = np.full(len(worth), np.inf)
    np.minimum.at(worst, tree.around[~is_new], worth[~is_new])
    for level in range(2, tree.depth + 1):
        (new,) = np.nonzero(is_new & (tree.levels == level))
        around = tree.around[new]
        prior = np.where(np.isfinite(worst[around]), worst[around], worth[around])
        worth[new] = (index[new] * asked[new] + PRIOR * prior) / (asked[new] + PRIOR)
    return worth


def _novelty(tree: Tree, is_new: npt.NDArray[np.bool_], tried: Floats) -> Floats:
    """How much there is to learn from each new section: the less, the more beside it were tried.

    A calendar has ever more years and months, and a forum may have a folder for each thread: none
    of them has many pages, so those that were tried in part count in part. What is new beside each
    other shares what is to be learned.
    """
    novelty = np.ones(len(is_new))
    inner = tree.levels > 1
    part = np.where(inner, np.minimum(tried / TRIED, 1), 0)
    of_all = tree.everywhere == np.arange(len(is_new))
    beside = np.bincount(tree.around, part, len(is_new))
    sharing = np.bincount(tree.around[is_new & inner & of_all], minlength=len(is_new))
    for level in range(2, tree.depth + 1):
        (new,) = np.nonzero(is_new & of_all & (tree.levels == level))
        around = tree.around[new]
        novelty[new] = novelty[around] / (1 + beside[around] - part[new]) / sharing[around]
    return novelty


def _shared_out(wanted: Floats, weights: Floats, most: float) -> Floats:
    """What each gets of so many pages: all that it wants, or the same multiple of its weight."""
    is_full = np.zeros(len(wanted), np.bool_)
    while True:
        rest = np.sum(weights[~is_full])
        times = max(most - np.sum(wanted[is_full]), 0) / rest if rest else 0.0
        over = ~is_full & (times * weights >= wanted)
        if not over.any():
            return np.where(is_full, wanted, times * weights)
        is_full |= over


def _placed(finds: pa.Table, names: pa.ChunkedArray, unit: int) -> Yields:
    source, target = (
        pc.index_in(finds[name], names).fill_null(0).to_numpy().astype(np.int64)
        for name in ("source", "target")
    )
    return Yields(source, target, finds["pages"].to_numpy() / unit)


def _of_all(tree: Tree, finds: Yields) -> Yields:
    """The finds of the sections around each, too, and of the same paths on all hosts."""
    found = [finds]
    for _ in range(tree.depth - 1):
        source, target, pages = found[-1]
        below = tree.levels[source] > 1
        found.append(Yields(tree.around[source[below]], target[below], pages[below]))
    (source, target, pages), everywhere = _joined(found), tree.everywhere
    own = everywhere[source] != source
    elsewhere = Yields(everywhere[source[own]], everywhere[target[own]], pages[own])
    return _joined([Yields(source, target, pages), elsewhere])


def _joined(parts: list[Yields]) -> Yields:
    return Yields(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.pages for part in parts]),
    )
