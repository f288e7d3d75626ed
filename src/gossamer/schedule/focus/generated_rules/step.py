"""filter generate: sections, pages, graph → filter_rules. Refuses sections that hold nothing fit.

A section (see order/sections/section_names.py) is refused if none of its pages is fit although
enough were asked for, and it has more pages than its registrable domain has fit ones
(`section_candidates.py`). Of sections in each other, the outermost is refused.

Each rule is proved on the link graph (`reachability_proof.py`): all fit pages of the domain that
its home pages and seeds lead to must still be reached without the links of refused pages. So must
pages that were not asked for yet, but lie in sections with fit pages. Sections are tried in
descending order of their pages, and one that would cut off a page is not refused. So the list pages
of an archive stay if nothing else leads to its articles.

A rule that was made earlier is dropped when its section has a fit page, or the proof fails; that
it has one, drawn pages show in the meantime (`withheld_pages.py`). One
that the owner has disabled stays in the store, and nothing in or around its section is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.links.domains import add_domains
from gossamer.links.graph.names import name_column
from gossamer.links.graph.stored_graph import open_graph as opened
from gossamer.rules.filter_rules.rule_syntax import Rule
from gossamer.rules.filter_rules.stored_rules import (
    GENERATED,
    STEP,
    Evidence,
    read_rules,
    replace_generated,
)
from gossamer.schedule.focus.generated_rules.reachability_proof import Site
from gossamer.schedule.focus.generated_rules.section_candidates import choose_candidates
from gossamer.schedule.order.sections import section_refusal
from gossamer.schedule.order.sections.section_names import (
    enclosing_sections,
    folder_column,
    innermost_sections,
)
from gossamer.schedule.order.sections.step import read_sections
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.tables import PAGES
from gossamer.web.urls import LOCALHOST

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import DataFrame

    from gossamer.links.graph.names import Names
    from gossamer.schedule.focus.generated_rules.reachability_proof import Flags
    from gossamer.schedule.focus.generated_rules.section_candidates import Candidate
    from gossamer.schedule.order.sections.step import Section
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

HOME_PAGE = "^[a-z]+://[^/]+/$"


class ProvedSection(NamedTuple):
    """A section that may be refused, and what the proof says."""

    rules: tuple[str, ...]
    """One for each scheme of its URLs."""
    evidence: Evidence
    lost: int
    """Pages that would not be reached any more. If there are any, the rule is not made."""


class Generated(NamedTuple):
    """What `filter generate` has done, or would do."""

    judged: list[ProvedSection]
    """By domain, and in descending order of pages."""
    unproved: list[str]
    """Domains without rules, because no link leads from a home page or seed to a fit page."""
    report: StepReport | None
    """None: nothing was changed."""


def run(work: Workspace, least_fit: int, *, dry_run: bool = False) -> Generated:
    """Make rules of the sections and the link graph as they were brought up to date last.

    Domains with fewer fit pages than `least_fit` have none. With `dry_run`, none is stored. Raises
    UsageError without a graph.
    """
    if dry_run:
        return Generated(*_prove_candidates(work, least_fit), None)
    with work.step(STEP, work.round) as draft:
        judged, unproved = _prove_candidates(work, least_fit)
        made = {rule: each.evidence for each in judged if not each.lost for rule in each.rules}
        draft.replace |= replace_generated(work, made, draft.counts)
    return Generated(judged, unproved, draft.done)


def _prove_candidates(work: Workspace, least_fit: int) -> tuple[list[ProvedSection], list[str]]:
    counted = read_sections(work)
    made = [each for each in read_rules(work) if each.source == GENERATED]
    refused, wanted = (
        {each.section for each in made if each.enabled is enabled} for enabled in (True, False)
    )
    chosen = choose_candidates(counted, least_fit, refused, wanted)
    judged: list[ProvedSection] = []
    if not chosen:
        return judged, []
    graph = opened(work, "page")
    hosts = _hosts_with_schemes(work, chosen)
    starts, kept = _node_flags(work, hosts, counted, graph.names)
    schemes: dict[str, list[str]] = {}
    for host, scheme in sorted(hosts.collect()):
        schemes.setdefault(host, []).append(scheme)
    unproved = []
    for domain, some in chosen.items():
        site = Site(graph.forward, graph.names, domain, starts, kept)
        if site.kept:
            judged += _prove_on_site(site, some, schemes)
        else:
            unproved.append(domain)
    return judged, unproved


def _hosts_with_schemes(work: Workspace, domains: Collection[str]) -> DataFrame:
    """The hosts of some domains: `host`, and each `scheme` of its pages."""
    scheme = F.split_part("url", F.lit(":"), F.lit(1)).alias("scheme")
    known, _ = work.scratch(lsm.current(work, PAGES).select("host", scheme).distinct())
    chosen = work.engine.rows(pa.table({"domain": [*domains]}))
    hosts = add_domains(work, known).join(chosen, on="domain", how="left_semi")
    return work.scratch(hosts.drop("domain"))[0]


def _node_flags(
    work: Workspace, hosts: DataFrame, counted: Sequence[Section], names: Names
) -> tuple[Flags, Flags]:
    """Of each node, whether it is a home page or seed, and whether it must be reached."""
    is_fit = (F.col("status") == "fetched") & F.coalesce("fit", F.lit(False))
    waits = (F.col("status") == "unfetched") & F.col("outcome").isNull()
    begins = (F.col("source") == "seed") | F.col("url").rlike(HOME_PAGE)
    pages = lsm.current(work, PAGES).join(
        hosts.select("host").distinct(), on="host", how="left_semi"
    )
    known, _ = work.scratch(
        pages.select(
            name_column(F.col("url")).alias("name"),
            folder_column(F.col("url")).alias("folder"),
            is_fit.alias("fit"),
            waits.alias("waits"),
            begins.alias("begins"),
        )
    )
    waiting = known.where("waits")
    hopeful = waiting.join(
        _folders_with_fit_pages(work, waiting, counted), on="folder", how="left_semi"
    )
    wanted = known.where("fit OR (begins AND NOT waits)").unionByName(hopeful)
    kept = (F.col("fit") | F.col("waits")).alias("kept")
    flags = {name: np.zeros(names.count, np.bool_) for name in ("begins", "kept")}
    for file in work.scratch_files(wanted.select("name", "begins", kept)):
        for rows in parquet.open_parquet(f"{work.root}/{file.path}").iter_batches():
            numbers = names.numbers(rows["name"])
            for name, values in flags.items():
                has = rows[name].to_numpy(zero_copy_only=False) & (numbers >= 0)
                values[numbers[has]] = True
    return flags["begins"], flags["kept"]


def _folders_with_fit_pages(
    work: Workspace, pages: DataFrame, counted: Sequence[Section]
) -> DataFrame:
    """The folders of pages whose smallest section with enough pages has fit ones."""
    folders = pages.select("folder").distinct().toArrow()["folder"]
    fit = {each.section: each.fit > 0 for each in counted}
    found = [fit[section] for section in innermost_sections(folders, fit).to_pylist()]
    hopeful = pa.table({"folder": folders.filter(pa.array(found, pa.bool_()))})
    return work.engine.rows(hopeful) if len(hopeful) else work.engine.read([], "folder string")


def _prove_on_site(
    site: Site, some: Sequence[Candidate], schemes: Mapping[str, Sequence[str]]
) -> list[ProvedSection]:
    judged = []
    refused: set[str] = set()
    for section, domain_fit in some:
        name = section.section
        if not refused.isdisjoint(enclosing_sections(name)):
            continue
        prefixes = section_refusal.url_prefixes(name, schemes[_host_of(name)])
        evidence = Evidence(section.known, section.asked, domain_fit, site.kept)
        lost = site.refuse(prefixes)
        if not lost:
            refused.add(name)
        made = tuple(Rule("deny", "prefix", prefix).text for prefix in prefixes)
        judged.append(ProvedSection(made, evidence, lost))
    return judged


def _host_of(section: str) -> str:
    return section.partition("/")[0] or LOCALHOST
