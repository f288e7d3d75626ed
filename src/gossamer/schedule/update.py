"""update: pages, responses, links → pages. The changes that a round makes to known pages.

Only rows that change are written, as a new layer (see lsm.py).

    found_links.py             to which pages the links of the round lead
    limits/new_url_limits.py   how many of them may become known
    rules/url_rules/           what the round teaches about spellings of the same URL
    new_page_rows.py            the new row of each page
    focus/generated_rules/     which of them generated filter rules withhold
    depths.py                  which other pages are nearer to a seed now

When a page is due again follows from how often it has changed (change_rates.py), or listed
something new (listing_polls.py), and of one that failed from how often it has (outages.py).
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.links import domains
from gossamer.rules.url_rules.rule_listing import switched_listed_rule
from gossamer.rules.url_rules.rule_updates import apply_rules, learn_from_round
from gossamer.schedule import depths, found_links
from gossamer.schedule.due import change_habits, due_counts, listing_polls, outages
from gossamer.schedule.focus import fit_prediction, fitness, marks
from gossamer.schedule.focus.generated_rules.withheld_pages import follow_rules, withhold_new
from gossamer.schedule.limits.new_url_limits import limit_new_urls
from gossamer.schedule.new_page_rows import PageNews, new_page_rows
from gossamer.schedule.order import opic, scoring
from gossamer.schedule.order.sections.section_finds import write_finds
from gossamer.state import lsm
from gossamer.tables import HOSTS, LINKS, PAGES, RESPONSES

if TYPE_CHECKING:
    from gossamer.rules.url_rules.aliases import AliasChanges
    from gossamer.rules.url_rules.rule_updates import Lessons
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport


def run(work: Workspace) -> StepReport:
    """End the round: record its outcomes, and add the URLs that it found."""
    round_ = work.round
    _require_parsed(work, round_)
    with work.step("update", round_) as draft:
        links = found_links.believe_dates(work, work.read(LINKS.name, round_))
        answers = work.read(RESPONSES.name, round_)
        away, away_count = outages.pages_of_away_hosts(work, answers)
        virtual = opic.virtual_page(work)
        late = found_links.late_found_sources(work, links)
        news = PageNews.nothing(work, virtual.given)._replace(answers=answers)
        believed = answers
        if away_count:
            news = news._replace(away=away)
            believed = answers.join(away, on="url", how="left_anti")
        news = _add_targets(work, news, found_links.correct_found_depths(work, links, late))
        asked = sum(layer.rows for layer in work.store.manifest.layers(RESPONSES.name, round_))
        lessons, (news, met) = work.both(
            asked,
            partial(learn_from_round, work, believed, news.found, round_),
            partial(_add_known_and_flows, work, links, late, news),
        )
        draft.counts |= lessons.counts
        if met is not None:
            draft.replace["domains"] = met.layers
        news = _apply_lessons(work, draft, news, lessons, links, domains.domain_rows(work, met))
        news = follow_rules(work, draft, _add_judgements(work, draft, news, links), links)
        rows, count = work.scratch(new_page_rows(work, news))
        if scoring.load(work.config.update.scoring).needs_worth:
            draft.replace["finds"] = write_finds(work, links, rows)
        draft.counts["touched"] = write_changes(work, draft, rows, count, virtual)
    return draft.done


def add_link_targets(work: Workspace, draft: Draft) -> None:
    """Add the targets of the draft's links to `pages` that it lacks.

    Known pages do not change: their inlinks and depth stay as the rounds computed them. A new page
    gets the inlinks that it would have from all rounds.
    """
    files = [file.path for layer in draft.replace[LINKS.name] for file in layer.files]
    links = work.engine.read([f"{work.root}/{path}" for path in files], LINKS.ddl)
    known = lsm.current(work, PAGES).select("url", "depth", "hops")
    unknown, _ = work.scratch(links.join(known, F.col("dst") == F.col("url"), how="left_anti"))
    unknown = found_links.believe_dates(work, unknown)
    virtual = opic.virtual_page(work)
    news = PageNews.nothing(work, virtual.given)
    news = _add_targets(work, news, depths.set_present_depths(unknown, known))
    news = _limit_new_urls(work, draft, news, unknown, domains.domain_rows(work))
    news = withhold_new(work, news)
    if news.found_count:
        rows, _ = work.scratch(new_page_rows(work, news))
        new, count = rows.select(*PAGES.column_names), news.found_count
        draft.replace["pages"] = lsm.append_layer(work, PAGES, new, count, work.round)
        moves = due_counts.count_due_moves(rows)
        draft.replace["due_times"] = due_counts.write_due(work, moves, new)
        draft.replace["virtual_page"] = opic.write_opic(work, virtual.collect(count, 0), work.round)
    draft.counts["new_urls"] = news.found_count


def set_url_rule(work: Workspace, rule: str, *, enabled: bool) -> StepReport:
    """Disable or enable a learned rule for URLs, with all that follows for pages.

    Raises UsageError if there is no such rule.
    """
    with work.step("duplicates", work.round) as draft:
        virtual = opic.virtual_page(work)
        news = PageNews.nothing(work, virtual.given)
        changed_rule = switched_listed_rule(work, rule, enabled=enabled)
        lessons = apply_rules(work, changed_rule, 1, news.answers, news.found)
        none = work.engine.read([], LINKS.ddl)
        news = _apply_lessons(work, draft, news, lessons, none, domains.domain_rows(work))
        draft.counts["pages"] = 0
        if news.alias_changes is not None:
            rows, count = work.scratch(new_page_rows(work, news))
            draft.counts["pages"] = write_changes(work, draft, rows, count, virtual)
    return draft.done


def write_changes(
    work: Workspace, draft: Draft, rows: DataFrame, count: int, virtual: opic.VirtualPage
) -> int:
    """Write the rows that `new_page_rows` returns, materialised, and what follows from them.

    Returns the number of rows of `pages`.
    """
    sums = {"new": F.count_if("new"), "spent": F.sum("spent"), "nearer": F.count_if("nearer")}
    sums["met"] = F.count(F.coalesce("more_ms", "listed_for_ms"))
    moves = due_counts.count_due_moves(rows, *(each.alias(name) for name, each in sums.items()))
    virtual = virtual.collect(sum(m.new for m in moves), sum(m.spent or 0 for m in moves))
    draft.replace["virtual_page"] = opic.write_opic(work, virtual, work.round)
    relaxed = depths.relax(work, rows, count, are_nearer=any(m.nearer for m in moves))
    draft.replace["pages"] = lsm.append_layer(
        work, PAGES, relaxed.pages, relaxed.page_count, work.round
    )
    draft.replace["due_times"] = due_counts.write_due(work, moves, relaxed.pages)
    if any(m.met for m in moves):
        draft.replace["habits"] = change_habits.write_habits(work, rows)
    if relaxed.host_count:
        hosts, host_count = work.scratch(relaxed.hosts)
        draft.replace["hosts"] = lsm.append_layer(work, HOSTS, hosts, host_count, work.round)
    return relaxed.page_count


def _require_parsed(work: Workspace, round_: int) -> None:
    """Raise UsageError unless the round was parsed, and is not in the page database yet."""
    done = work.store.manifest.steps_of(round_)
    if "update" in done:
        raise UsageError(
            work.root, f"round {round_} is in the page database", f"gossamer generate {work.root}"
        )
    if "parse" not in done:
        raise UsageError(work.root, f"round {round_} is not parsed", f"gossamer parse {work.root}")


def _add_targets(work: Workspace, news: PageNews, links: DataFrame) -> PageNews:
    found, count = work.scratch(found_links.link_targets(links, work.now_ms()))
    return news._replace(found=found, found_count=count)


def _add_known_and_flows(
    work: Workspace, links: DataFrame, late: DataFrame | None, news: PageNews
) -> tuple[PageNews, domains.DomainChanges | None]:
    """Add the old rows of pages, and the cash that flows; return also what domains learn."""
    answers, damping = news.answers, work.config.rank.damping
    payers, old_votes = opic.payers(work, answers, late), opic.old_votes(work, answers)
    ends = news.found.select("url"), payers, answers.select("url"), old_votes.select("dst")
    before = lsm.rows_for_some(work, PAGES, reduce(DataFrame.union, ends))
    flows = opic.opic_flows(work, links, old_votes, payers, before, news.given, damping)
    met = domains.update_domains(work, links, answers, work.round)
    return news._replace(before=before, flows=flows), met


def _apply_lessons(
    work: Workspace,
    draft: Draft,
    news: PageNews,
    lessons: Lessons,
    links: DataFrame,
    known_domains: DataFrame,
) -> PageNews:
    """Add what rules for URLs change, and drop the new URLs that exceed a limit."""
    draft.replace |= lessons.replace
    news = _with_alias_changes(work, news, lessons.alias_changes)
    return _limit_new_urls(work, draft, news, links, known_domains)


def _limit_new_urls(
    work: Workspace, draft: Draft, news: PageNews, links: DataFrame, known_domains: DataFrame
) -> PageNews:
    found, count = limit_new_urls(
        work, news.found, news.found_count, news.before, known_domains, draft.counts, links
    )
    return news._replace(found=found, found_count=count)


def _add_judgements(work: Workspace, draft: Draft, news: PageNews, links: DataFrame) -> PageNews:
    """Add what the texts, links and habits of the round say about pages."""
    texts = work.read("documents", work.round).where(F.col("round") == work.round)
    focus = marks.learn_marks_from_round(work, draft, texts)
    texts = texts.withColumn("kind", listing_polls.kind_of_document())
    judged = fitness.judge_documents(work, texts, focus)
    dated = news.found.where(F.col("found_dated_ms").isNotNull()).select("url")
    return news._replace(
        judged=judged,
        promised=fit_prediction.judge_targets(work, links, judged, focus),
        finds=found_links.find_new_in_known(work, links, news.before),
        places=change_habits.habits_of_urls(
            work, news.answers.select("url").union(dated).distinct()
        ),
    )


def _with_alias_changes(work: Workspace, news: PageNews, changes: AliasChanges | None) -> PageNews:
    """Add what rules for URLs change: the pages that become known by it, and their old rows."""
    if changes is None:
        return news
    found, count = work.scratch(found_links.add_alias_targets(news.found, changes))
    rows, _ = work.scratch(changes.rows)
    named = rows.select("url").union(changes.found.select("url"))
    missing = named.join(news.before, on="url", how="left_anti")
    before, _ = work.scratch(news.before.unionByName(lsm.rows_for(work, PAGES, missing)))
    return news._replace(before=before, found=found, found_count=count, alias_changes=rows)
