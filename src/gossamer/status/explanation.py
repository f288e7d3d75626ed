"""Why is a URL fetched, or found, or not? What the crawl knows about it, in sentences.

    found       when and how; or why the crawl does not hold it
    spelling    what learned rules make of links to it
    filters     whether the filters of today would let it in
    robots      whether the robots.txt that was read last allows it
    host        how its host answers, and how long it has to wait
    fetched     what its server answered
    changes     how often it has changed
    due         when it is fetched again, and why then
    score       what its place in a round follows from
    wishes      what its publisher says about uses of it
    fit         whether the owner wants it, by a mark, by rules, or by its words and links
    duplicates  which page stands for it, or for which it stands
    index       whether it can be found, or why not

Cost: for a single URL, a pass over the keys of `pages` and of the datasets that say more, and a
query for the score.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.config.egress import Egress
from gossamer.config.own_hosts import Own
from gossamer.dedup.dispositions import Duplicates, duplicates_of
from gossamer.errors import UsageError
from gossamer.rules.absence import Absence
from gossamer.rules.spellings import first_forbidden
from gossamer.rules.url_rules.rule_listing import test_url
from gossamer.schedule.due import change_rates, listing_polls
from gossamer.schedule.due.due_pages import NEVER_AGAIN, due_ms, interval_s, is_credible
from gossamer.schedule.focus import fit_prediction, fitness, marks
from gossamer.schedule.focus.classifier import split_words
from gossamer.schedule.order import scoring
from gossamer.schedule.order.page_ranks import add_ranks
from gossamer.schedule.order.page_scores import page_signals
from gossamer.schedule.order.sections.page_worth import add_page_worth
from gossamer.search.page_info import PageInfo
from gossamer.state import credible_times, lsm
from gossamer.state.lookup import Lookup
from gossamer.status.human_units import duration, moment, percent
from gossamer.tables import DOCUMENTS, HOSTS, INDEXED, PAGES, SECTIONS
from gossamer.tables.fetching import RHYTHM_S
from gossamer.tables.outcomes import FILTERED, OUTCOMES
from gossamer.web import publisher_wishes, robots_txt
from gossamer.web.urls import host_of, origin_of

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

    Row = dict[str, Any]

TELLING = 5
"""Words of a page that are named as those that tell most of it."""
FILTERS_APPLY = "the filters let it in: gossamer filter apply"
SOURCES = {
    "seed": "as a seed",
    "entry": "as a new entry of a feed or sitemap",
    "link": "by a link",
    "redirect": "by a redirect",
    "sample": "by links of pages that a generated rule withholds, and that were drawn",
}


class Fact(msgspec.Struct, frozen=True):
    """A sentence about a URL. `topic`: see the docstring of this module."""

    topic: str
    text: str


class Explanation(msgspec.Struct, frozen=True):
    """What the crawl knows about a URL, in its normal form. `known`: whether it is in `pages`."""

    url: str
    known: bool
    facts: list[Fact]


def explain(work: Workspace, url: str) -> Explanation:
    """Explain a URL, known or not. Raises UsageError if it cannot be crawled; StoreError."""
    lookup = Lookup(work, once=True)
    pages = PageInfo(work, lookup)
    normal = pages.normal(url)
    if normal is None:
        raise UsageError(url, "is not a URL that can be crawled", "example: https://example.org/")
    row = _row_to_explain(work, normal)
    host = next(lookup.rows(HOSTS.name, "host", host_of(normal), HOSTS.column_names), None)
    left_out = Absence(work, lookup)
    sentences = [
        ("found", _how_found(row, left_out, normal)),
        ("spelling", _spelling(work, normal)),
    ]
    if row is not None:
        sentences.append(("filters", _filters(left_out, row)))
    sentences.append(("robots", _robots(work, host, normal, (row or {}).get("spelling"))))
    sentences.append(("host", _host(work, host, host_of(normal))))
    if row is not None:
        figures = _figures_to_explain(work, row)
        duplicates = duplicates_of(lookup, normal)
        sentences += [
            ("fetched", _how_fetched(pages, row)),
            ("changes", _changes(row, figures)),
            ("due", _due(work, row, figures)),
            ("score", _score(row, figures)),
            ("wishes", _wishes(work, pages, normal)),
            ("fit", _fit(work, lookup, row)),
            ("duplicates", _duplicates(duplicates)),
            ("index", _index(lookup, pages, row, duplicates)),
        ]
    facts = [Fact(topic, text) for topic, text in sentences if text]
    return Explanation(normal, row is not None, facts)


def _row_to_explain(work: Workspace, url: str) -> Row | None:
    """The row of `pages`. Those of older versions lack columns, which the engine fills."""
    layers = [each.where(F.col("url") == url) for each in lsm.layer_frames(work, PAGES, some=True)]
    with work.errors():
        found = lsm.newest_rows(layers, "url").collect()
    return found[0].asDict() if found else None


def _how_found(row: Row | None, left_out: Absence, url: str) -> str:
    if row is None:
        return f"the crawl does not hold it: {left_out.why(url)}"
    source = SOURCES.get(row["source"], row["source"])
    away = f"; {_count(row['depth'], 'link')} from a seed" if row["depth"] else ""
    linking = _count(row["inlinks"], "page") + (" links" if row["inlinks"] == 1 else " link")
    return f"{source}, {moment(row['found_ms'])}{away}; {linking} to it"


def _spelling(work: Workspace, url: str) -> str:
    found = test_url(work, url)
    if found.target == url:
        return ""
    rules = "; ".join(f"{rule.rule} ({rule.title})" for rule in found.rules)
    return f"links to it lead to {found.target}, by the rule {rules}"


def _filters(left_out: Absence, row: Row) -> str:
    reason = left_out.filter_reason(row["url"], row["depth"], row["hops"])
    if _is_refused(row):
        now = "they let it in now" if reason is None else reason
        return f"gossamer filter apply has excluded it; {now}"
    if reason is None:
        return "they let it in"
    kept = "it is kept, as it was found before: gossamer filter apply would exclude it"
    note = "" if row["source"] == "seed" else f"; {kept}"
    return f"a link to it would be dropped: {reason}{note}"


def _is_refused(row: Row) -> bool:
    """As `due.is_refused`, of a row of pages."""
    return bool((row["status"], row["outcome"]) == ("excluded", FILTERED))


def _robots(work: Workspace, host: Row | None, url: str, spelling: str | None) -> str:
    """Whether a URL may be requested that links have in this spelling."""
    config, origin = work.config.fetch, origin_of(url)
    if not url.startswith(("http://", "https://")):
        return ""
    if not config.own_robots and Own(config).has(host_of(url), (host or {}).get("address")):
        return "not asked for: the host is your own, and fetch.own_robots is off"
    kept = [each for each in (host or {}).get("robots") or () if each["origin"] == origin]
    if not kept:
        return f"{origin}/robots.txt is read before the next request"
    file = max(kept, key=lambda each: int(each["fetched_ms"]))
    rules = robots_txt.judge_robots_txt(file["status"], file["body"] or b"")
    when = f"by {origin}/robots.txt of {moment(file['fetched_ms'])}"
    if rules is None:
        return f"all requests are forbidden {when}, which could not be read ({file['status']})"
    forbidden = first_forbidden(rules, config.agent, (url, spelling))
    allowed = "allowed" if forbidden is None else "forbidden"
    agent = config.agent if forbidden in (None, url) else f"{config.agent} as {forbidden}"
    delay_s = rules.crawl_delay_s(config.agent)
    delay = "" if delay_s is None else f"; it asks for {duration(delay_s)} between requests"
    return f"{allowed} to {agent} {when} ({file['status'] or 'no answer'}){delay}"


def _host(work: Workspace, host: Row | None, name: str) -> str:
    setting = work.config.fetch.egress
    number = Egress(setting).group(name, (host or {}).get("address"))
    group = "" if number is None else f"; fetched by group {list(setting)[number]}: fetch.egress"
    if host is None or not host["contacted_ms"]:
        return f"it was never contacted{group}"
    asked = f"{_count(host['requests'], 'request')}, the last one {moment(host['contacted_ms'])}"
    outcome = host["outcome"] or "ok"
    failed = f"; {_count(host['failures'], 'failure')} in a row" if host["failures"] else ""
    away = f"; it answers with no page since {moment(host['away_ms'])}" if host["away_ms"] else ""
    ready_ms, now_ms = host["ready_ms"] or 0, work.now_ms()
    waits = credible_times.host_waits(ready_ms, host["contacted_ms"], now_ms)
    until = f"; no request before {moment(ready_ms)}" if waits else ""
    return f"{asked}: {outcome}{failed}{away}{until}{group}"


def _how_fetched(pages: PageInfo, row: Row) -> str:
    if row["outcome"] is None:
        return "never asked for"
    visit = pages.visit(row["url"])
    status = f" (HTTP {visit['http_status']})" if visit["http_status"] else ""
    detail = visit["detail"] or OUTCOMES[row["outcome"]].meaning
    target = f", to {visit['redirect_url']}" if visit["redirect_url"] else ""
    asked = "" if row["fetched_ms"] is None else f", {moment(row['fetched_ms'])}"
    tries = f"; {_count(row['failures'], 'failure')} in a row" if row["failures"] else ""
    is_older = row["stored_ms"] not in (None, row["fetched_ms"])
    stored = f"; what is stored is of {moment(row['stored_ms'])}" if is_older else ""
    return f"{row['outcome']}{status}: {detail}{target}{asked}{tries}{stored}"


def _changes(row: Row, figures: Row) -> str:
    watched_days = row["watched_days"] or 0.0
    if not watched_days:
        return ""
    seen = f"about {row['changes']:.1f}" if row["changes"] else "none"
    every = duration(change_rates.DAY_S / figures["rate"])
    told = "" if row["recall"] is None else percent(row["recall"])
    dates = f"; dates in feeds and sitemaps tell {told} of them" if told else ""
    return f"{seen} in {watched_days:,.1f} days; taken to change every {every}{dates}"


def _due(work: Workspace, row: Row, figures: Row) -> str:
    if _is_refused(row):
        return f"never, unless {FILTERS_APPLY}"
    if row["status"] in NEVER_AGAIN:
        return "never: another address stands for it"
    when, now_ms = figures["due_ms"], work.now_ms()
    if not figures["is_credible"]:
        return "now: the clock was ahead when its row was written"
    return f"{'now' if when <= now_ms else moment(when)}: {_why_then(work, row, when)}"


def _why_then(work: Workspace, row: Row, due_ms: int) -> str:
    if row["outcome"] is None:
        return "it was never asked for"
    if row["failures"]:
        return "it is tried again"
    if not due_ms:
        return "it was to be fetched again at once"
    return _rhythm(work, row)


def _rhythm(work: Workspace, row: Row) -> str:
    """Why a page that was visited is due when it is."""
    if row["doubt"]:
        told = percent(-math.expm1(-row["doubt"]))
        dated = f"a feed or sitemap dates it {moment(row['dated_ms'])}"
        return f"{dated}, which alone tells a change with a probability of {told}"
    if row["interval_s"] != RHYTHM_S:
        if row["rate"]:
            chance = percent(work.config.update.revisit_probability)
            return f"by then it has changed with a probability of {chance}, within bounds"
        after = duration(interval_s(work.config.update))
        return f"{after} after its first visit (update.interval_days)"
    kind = "page in which visits found new links" if row["kind"] == "page" else row["kind"]
    if not row["finding_days"]:
        return f"soon after the first visit, as for any {kind}"
    found = _count(round(row["finds"]), "new page") if row["finds"] >= 1 else "no new page"
    within = duration(row["finding_days"] * listing_polls.DAY_S)
    true = row["date_rate"] or 0
    dates = f", or stored pages have changed: it gives {true:.1f} true dates a day" if true else ""
    return (
        f"by its rhythm, as a {kind}: visits found {found} in {within}, and by then they find "
        f"another one with a probability of about 50 %, within bounds{dates}"
    )


def _score(row: Row, figures: Row) -> str:
    if row["status"] in NEVER_AGAIN or _is_refused(row):
        return ""
    factors = " × ".join(f"{name} {value:.3g}" for name, value in figures["factors"])
    first = "" if figures["ahead"] == 1 else f" × {figures['ahead']:.3g}, to come before others"
    return f"{factors} × a gain of {figures['gain']:.3g} days{first} = {figures['score']:.3g}"


def _wishes(work: Workspace, pages: PageInfo, url: str) -> str:
    """What the publisher says about uses of the stored page, where, and what is obeyed of that."""
    captured = pages.capture(url)
    document = captured and captured.document
    if not document or not document["wishes_said"]:
        return ""
    where = "; ".join(document["wishes_said"].split("\n"))
    if document["wishes"] is None:
        judged = publisher_wishes.judge(document["wishes_said"].split("\n"))
        why = "the host is your own" if judged else "that is about no use of its text"
        return f"none are obeyed, as {why}: {where}"
    forbidden = [
        use for use in publisher_wishes.USES if publisher_wishes.forbids(document["wishes"], use)
    ]
    ignored = [use for use in forbidden if use not in work.config.publishers.obey]
    note = f"; not obeyed, by publishers.obey: {', '.join(ignored)}" if ignored else ""
    return f"{document['wishes']}, by {where}{note}"


def _fit(work: Workspace, lookup: Lookup, row: Row) -> str:
    """Whether the owner wants it, and what speaks for or against that, the strongest first."""
    said = [] if row["fit"] is None else ["it is fit" if row["fit"] else "it is not fit"]
    rows = marks.read_marks(work)
    for mark in rows.filter(pc.equal(rows["url"], row["url"])).to_pylist():
        kind = "wanted" if mark["fit"] else "not wanted"
        said.append(f"you have marked it as {kind}, {moment(mark['marked_ms'])}")
    columns = (*fitness.OF_RULES, "outcome", "sketch", *marks.TEXT)
    documents = lookup.rows(DOCUMENTS.name, "url", row["url"], columns)
    document = next((each for each in documents if each["outcome"] == "parsed"), None)
    if document is not None:
        if (rule := fitness.rule_for(work, document)) is not None:
            said.append(f"the rule {rule} decides about pages like it")
        if document["sketch"] is None:
            said.append("its main text has less than 100 words")
        said += _classifier_says(marks.focus_of(rows), document)
    if row["judged_links"]:
        share = percent(row["fit_links"] / fit_prediction.UNIT / row["judged_links"])
        said.append(f"{_count(row['judged_links'], 'link')} to it promise that by {share}")
    return "; ".join(said)


def _classifier_says(focus: marks.Focus | None, document: Row) -> list[str]:
    """What the classifier says about a document."""
    if focus is None or focus.classifier is None:
        return []
    (words,) = split_words(
        marks.text_of(pa.Table.from_pylist([document])).combine_chunks()
    ).to_pylist()
    (score,) = focus.classifier.scores(pa.array([words], pa.list_(pa.string()))).to_pylist()
    if score is None:
        return ["no marked page has words of it"]
    telling = ", ".join(focus.classifier.telling(words, TELLING))
    verdict = "for" if score >= 0 else "against"
    return [f"its words speak {verdict} it, with a score of {score:.2f}, above all {telling}"]


def _duplicates(found: Duplicates) -> str:
    if found.survivor is not None:
        return f"{found.left_out}"
    counts = (
        (found.copies_total, "other address", "es"),
        (found.versions_total, "older version", "s"),
    )
    listed = [f"{n:,} {name}{plural if n > 1 else ''}" for n, name, plural in counts if n]
    return f"it stands for {' and '.join(listed)}" if listed else ""


def _index(lookup: Lookup, pages: PageInfo, row: Row, duplicates: Duplicates) -> str:
    captured = pages.capture(row["url"])
    document = None if captured is None else captured.document
    held = next(lookup.rows(INDEXED.name, "url", row["url"], ["round"]), None)
    if held is not None:
        is_old = captured is not None and captured.response["round"] > held["round"]
        newer = "; a newer one waits for the next harvest" if is_old else ""
        return f"it can be found, by its document of round {held['round']:,}{newer}"
    left_out = duplicates.left_out
    if document is not None and document["outcome"] == FILTERED:
        left_out = f"a filter rule refuses its language: {document['detail']}"
    if left_out is not None:
        return f"it cannot be found: {left_out}"
    if captured is None:
        return "it cannot be found: nothing is stored of it"
    if document is None:
        return "it cannot be found yet: it has not been parsed"
    if document["outcome"] != "parsed":
        return f"it cannot be found: its text was not read ({document['outcome']})"
    return "it cannot be found yet: no harvest has run since it was parsed"


def _figures_to_explain(work: Workspace, row: Row) -> Row:
    """What the engine makes of a row of `pages`, as `generate` would."""
    config = work.config.update
    product = scoring.load(config.scoring)
    rows = work.engine.rows(pa.Table.from_pylist([row], schema=PAGES.schema))
    if product.needs_ranks:
        rows = add_ranks(work, rows)
    if product.needs_worth:
        rows = add_page_worth(work, rows, work.store.manifest.layers(SECTIONS.name))
    rows = change_rates.add_gain(rows, work.now_ms(), config)
    signals = page_signals(work)
    factors = {f"factor_{n}": factor(signals) for n, factor in enumerate(product.factors)}
    columns = {
        "due_ms": due_ms(config),
        "is_credible": F.coalesce(is_credible(work.now_ms(), config), F.lit(True)),
        "rate": F.col("rate"),
        "gain": F.col("gain"),
        "ahead": listing_polls.rhythm_factor(work.now_ms()),
        "score": product(signals) * F.col("gain") * listing_polls.rhythm_factor(work.now_ms()),
    }
    found = rows.select(*(each.alias(name) for name, each in (columns | factors).items()))
    with work.errors():
        figures: Row = found.collect()[0].asDict()
    values = [figures.pop(name) for name in factors]
    return figures | {"factors": list(zip(product.names, values, strict=True))}


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" + ("" if number == 1 else "s")
