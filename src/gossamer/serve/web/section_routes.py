"""Routes for the sections of sites: which domains there are, and a treemap of each."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.errors import ConfigError
from gossamer.schedule.order.sections import section_refusal, section_tree
from gossamer.schedule.order.sections.section_names import ANYWHERE
from gossamer.serve.drawing import section_map
from gossamer.serve.drawing.section_map import COLOURS
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.site_path import root_of
from gossamer.tables import SECTIONS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.rules.absence import Absence
    from gossamer.schedule.order.sections.section_tree import Counts, OpenSection
    from gossamer.state.workspace import Workspace

SHOWN = 50
MAX_SHOWN = 500


class SectionCounts(msgspec.Struct, frozen=True):
    """Pages; see the dataset sections. `failed`: requested, and not fetched."""

    known: int
    fetched: int
    asked: int
    failed: int
    changed: int
    fit: int


class DomainCounts(msgspec.Struct, frozen=True):
    """What is known of a registrable domain, in its hosts of ten pages or more."""

    domain: str
    hosts: int
    counts: SectionCounts


class DomainsFound(msgspec.Struct, frozen=True):
    """Some of `total` domains, those with the most known pages first."""

    total: int
    domains: list[DomainCounts]


class PartCounts(msgspec.Struct, frozen=True):
    """A section, and what it holds."""

    section: str
    counts: SectionCounts


class SectionOpened(msgspec.Struct, frozen=True):
    """A section as of `round`, or all hosts of a domain, and its largest parts.

    `section` is null for all hosts. `around`: the sections that it is in. `rest`: its pages that
    are in none of its `total` parts. `rules`: filter rules that refuse it.
    """

    domain: str
    section: str | None
    round: int
    counts: SectionCounts
    around: list[str]
    total: int
    parts: list[PartCounts]
    rest: SectionCounts
    rules: list[str]


class Sectioning:
    def __init__(self, work: Workspace, left_out: Absence) -> None:
        self._work = work
        self._left_out = left_out

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("sections", kept_s=kept_s)
        return [
            Route("/sections", guard(self.page)),
            Route("/api/v1/sections", guard(self.api)),
            Route("/api/v1/sections/domains", guard(self.domains)),
        ]

    def page(self, request: Request) -> Response:
        if "domain" in request.query_params:
            return self._section_page(request)
        return self._domains_page(request)

    def api(self, request: Request) -> Response:
        if "domain" not in request.query_params:
            raise HTTPException(400, f"domain is missing: {request.scope['path']}?domain=…")
        opened = self._opened(request)
        offset, limit = responses.span_parameter(request, SHOWN, MAX_SHOWN)
        parts = [
            PartCounts(part.section, _section_counts(part.counts))
            for part in opened.parts.page(limit, offset)
        ]
        return responses.json(
            SectionOpened(
                opened.domain,
                opened.section or None,
                opened.round,
                _section_counts(opened.counts),
                opened.around,
                opened.parts.total,
                parts,
                _section_counts(opened.rest),
                _rules_against(opened),
            )
        )

    def domains(self, request: Request) -> Response:
        offset, limit = responses.span_parameter(request, SHOWN, MAX_SHOWN)
        self._work.store.refresh()
        containing = request.query_params.get("q", "")
        total, found = section_tree.find_domains(self._work, containing, limit, offset)
        shown = [
            DomainCounts(each.domain, each.hosts, _section_counts(each.counts)) for each in found
        ]
        return responses.json(DomainsFound(total, shown))

    def _domains_page(self, request: Request) -> Response:
        query = request.query_params.get("q", "").strip()
        offset = responses.number_parameter(request, "offset", 0, strict=False)
        is_counted = bool(self._work.store.refresh().layers(SECTIONS.name))
        total, found = (
            section_tree.find_domains(self._work, query, SHOWN, offset) if is_counted else (0, [])
        )
        return responses.page(
            request.scope,
            "domains.html",
            path=self._work.root,
            is_counted=is_counted,
            q=query,
            total=total,
            domains=found,
            offset=offset,
            shown=SHOWN,
        )

    def _section_page(self, request: Request) -> Response:
        opened = self._opened(request)
        colour = responses.choice_parameter(request, "colour", [*COLOURS])
        offset = responses.number_parameter(request, "offset", 0, strict=False)
        root = [*opened.around, opened.section][0] if opened.hosts == 1 else ""
        site = root_of(request.scope)

        def to(section: str = "", colour: str = colour, offset: int = 0) -> str:
            named = {
                "section": "" if section == root else section,
                "colour": "" if colour == next(iter(COLOURS)) else colour,
                "offset": offset or "",
            }
            given = {name: each for name, each in named.items() if each}
            return f"{site}/sections?{urlencode({'domain': opened.domain, **given})}"

        def further(first: int) -> str:
            return f"{to(opened.section, offset=first)}#parts"

        maps = [
            section_map.draw_sections(opened, size, colour, to, further)
            for size in section_map.SIZES
        ]
        rules = _rules_against(opened)
        return responses.page(
            request.scope,
            "sections.html",
            opened=opened,
            crumbs=_section_crumbs(opened),
            parts=opened.parts.page(SHOWN, offset),
            offset=offset,
            shown=SHOWN,
            to=to,
            colour=colour,
            colours=COLOURS,
            steps=section_map.STEPS,
            maps=maps,
            rules=rules,
            path=shlex.quote(self._work.root),
            quoted=[shlex.quote(rule) for rule in rules],
            in_force=self._in_force(opened),
        )

    def _opened(self, request: Request) -> OpenSection:
        domain, section = (request.query_params.get(name, "") for name in ("domain", "section"))
        self._work.store.refresh()
        opened = section_tree.open_section(self._work, domain, section)
        if opened is None:
            name = section or domain
            raise HTTPException(404, f"{name}: no section of ten pages or more has this name")
        return opened

    def _in_force(self, opened: OpenSection) -> str | None:
        """Which rule decides about the beginning of a section, or why rules cannot be read."""
        if not opened.section or opened.domain == ANYWHERE:
            return None
        schemes = section_refusal.schemes_of(opened.section)
        try:
            found = [
                self._left_out.rule(url)
                for url in section_refusal.url_prefixes(opened.section, schemes)
            ]
        except ConfigError as error:
            return str(error)
        placed = next(filter(None, found), None)
        return placed and f"A rule in force decides already: {placed.rule.text} ({placed.place})"


def _section_crumbs(opened: OpenSection) -> list[tuple[str, str]]:
    """The labels of the sections around one, and of itself, each with the section.

    Without the host, if the domain has no other: then the page of the domain is that of the host.
    """
    names = [*opened.around, opened.section] if opened.section else []
    around = ["", *names][: len(names)]
    labels = map(section_map.label, names, around)
    return list(zip(labels, names, strict=True))[opened.hosts == 1 :]


def _rules_against(opened: OpenSection) -> list[str]:
    if opened.section:
        found = section_refusal.rules_against_section(opened.section)
    else:
        found = section_refusal.rules_against_domain(opened.domain)
    return [rule.text for rule in found]


def _section_counts(counts: Counts) -> SectionCounts:
    return SectionCounts(
        counts.known, counts.fetched, counts.asked, counts.failed, counts.changed, counts.fit
    )
