"""Which sections hold nothing fit, as far as is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gossamer.schedule.order.sections.section_names import ANYWHERE, enclosing_sections

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gossamer.schedule.order.sections.step import Section

LEAST_ASKED = 50
"""Pages of a section that were asked for. If none of 50 that were drawn at random is fit, then with
a confidence of 95 % fewer than 6 % of the section are (the rule of three)."""
MOST = 200
"""Sections of a domain, the largest. Each takes a walk over its links; it may have thousands."""
LARGE_PART = 0.1
"""A part of a section with this share of its pages must be as well known as the section."""


class Candidate(NamedTuple):
    """A section that may be refused."""

    section: Section
    domain_fit: int
    """Fit pages of its domain."""


def choose_candidates(
    found: Iterable[Section],
    least_fit: int,
    refused: Collection[str] = (),
    wanted: Collection[str] = (),
) -> dict[str, list[Candidate]]:
    """The sections without fit pages, by domain, in descending order of their pages.

    Only those with more pages than their domain has fit ones, or that are `refused` already: these
    have stopped growing, but their domain has not. None that is in a `wanted` section, or has one
    in it. At most MOST of a domain, and none of one with fewer fit pages than `least_fit`.
    """
    inside = frozenset(wanted)
    around = {each for section in wanted for each in enclosing_sections(section)}
    by_domain: dict[str, list[Section]] = {}
    for each in found:
        if not each.section.startswith(ANYWHERE):
            by_domain.setdefault(each.domain, []).append(each)
    chosen = {}
    for domain, those in sorted(by_domain.items()):
        fit = sum(each.fit for each in those if each.level == 1)
        barren = _sections_without_fit_pages(those) if fit >= least_fit else []
        some = [
            each
            for each in barren
            if (each.known > fit or each.section in refused)
            and each.section not in around
            and inside.isdisjoint(enclosing_sections(each.section))
        ]
        if some:
            largest_first = sorted(some, key=lambda each: (-each.known, each.section))
            chosen[domain] = [Candidate(each, fit) for each in largest_first[:MOST]]
    return chosen


def _sections_without_fit_pages(of_domain: Iterable[Section]) -> list[Section]:
    """The sections of which no page is fit, and enough were asked for, of each large part, too."""
    without_fit = [each for each in of_domain if not each.fit]
    parts: dict[str, list[Section]] = {}
    for each in without_fit:
        for around in enclosing_sections(each.section):
            parts.setdefault(around, []).append(each)
    return [
        each
        for each in without_fit
        if each.asked >= LEAST_ASKED
        and all(
            part.asked >= min(LEAST_ASKED, part.known // 2)
            for part in parts[each.section]
            if part.known >= LARGE_PART * each.known
        )
    ]
