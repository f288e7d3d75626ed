"""parse: responses + WARC → documents, links.

The life of one page:

  1. `run` shares the files of responses among tasks. `task.py` reads the rows that brought a
     new body and, one at a time, their bodies from the WARC files.
  2. The body goes to a process beside the task, which the kernel ends when a page wants too much
     (`guard.py`). `content.py` finds out what it is (`sniff.py`), and `parsers.py` who reads that.
  3. `charset.py` finds the encoding of a text. `html.py` walks over the elements of HTML once, for
     text, headings, links and what `metadata.py` makes sense of; `maintext.py` finds the main text
     in the same tree, and `site_rules.py` what a rule for the site says is where. `listing.py`
     reads feeds and sitemaps, `files.py` all else.
  4. `content.py` adds what all formats have: the language (`language.py`), and what the headers ask
     of crawlers (`directives.py`).
  5. Back in the task, each link is asked of the filters (gossamer.filters). What they drop is
     counted by reason, as are the references that are no links (`urls.refusal`); what they
     keep is a row of links; the page is a row of documents.
  6. `discovery.py` adds the sitemaps that no page links to: the robots.txt files that the fetch
     kept in `hosts` name them.

Whatever a page holds, it becomes a row with an outcome, and never an exception:

    parsed        there is text or a title
    listing       a feed or a sitemap: its links were taken, and it is not to be found itself
    empty         it was read, and there is neither
    unsupported   nothing here reads its type
    failed        the parser gave up on it; `detail` says why
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from time import gmtime
from typing import TYPE_CHECKING

from gossamer import filters
from gossamer.errors import UsageError
from gossamer.layers import YIELD, YIELD_DDL, balance, counts_of, layers_of
from gossamer.parse.content import parse_response
from gossamer.parse.page import Content, Link, ParsedPage, Rules
from gossamer.parse.parsers import check
from gossamer.parse.site_rules import sites_of
from gossamer.parse.task import Job, Share, parse_share
from gossamer.tables import DOCUMENTS, HOSTS, LINKS, WARC

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.store import File, StepReport
    from gossamer.workspace import Workspace

__all__ = ["Content", "Link", "ParsedPage", "Rules", "parse_response", "run"]

TASKS_PER_WORKER = 4
"""Files of responses differ in what their pages cost."""
MAX_SEED_HOSTS = 100_000
"""Every task holds them, so there is a limit to the sets by which a scope is told."""


def run(work: Workspace) -> StepReport:
    """Parse what the round fetched. Raises UsageError where there is nothing, or it is parsed.

    Raises MissingFile where a file is not whole, and ConfigError for settings, rules of sites and
    plugins that cannot be used.
    """
    rules = rules_of(work)
    round_ = work.round
    if any(done.step == "parse" and done.round == round_ for done in work.store.manifest.history):
        raise UsageError(work.root, f"round {round_} is parsed", f"gossamer update {work.root}")
    files = work.store.files("responses", round_)
    if not files:
        raise UsageError(
            work.root, f"round {round_} has nothing to parse", f"gossamer fetch {work.root}"
        )
    work.store.files(WARC.name, round_)  # a file that was cut would read as pages that failed
    filters.check(work.config.filter)
    job = Job(
        work.root,
        round_,
        work.config,
        rules,
        seed_hosts(work),
        gmtime(work.now_ms() / 1000).tm_year,
        fetch_began_ms(work),
        (work.store.attempt(DOCUMENTS.name), work.store.attempt(LINKS.name)),
    )
    answers = balance(files, TASKS_PER_WORKER * work.engine.workers)
    hosts = balance(work.store.files(HOSTS.name, round_), len(answers))
    none: Sequence[File] = ()
    shares = [
        Share(number, paths(mine), paths(beside))
        for number, (mine, beside) in enumerate(zip_longest(answers, hosts, fillvalue=none))
    ]
    with work.step("parse", round_) as draft:
        rows = work.engine.map_tasks(shares, partial(parse_share, job), YIELD, YIELD_DDL)
        draft.append = layers_of(rows, round_)
        draft.counts = dict(counts_of(rows))
    return draft.done


def rules_of(work: Workspace) -> Rules:
    """What the pages of a crawl are parsed by. Raises ConfigError."""
    rules = Rules.of(work.config, sites_of(work.config.parse, work.root))
    check(rules)
    return rules


def paths(files: Iterable[File]) -> tuple[str, ...]:
    return tuple(file.path for file in files)


def fetch_began_ms(work: Workspace) -> int:
    """When the round's fetch did; 0 where no report says so."""
    reports = work.store.manifest.history
    fetches = [done for done in reports if (done.step, done.round) == ("fetch", work.round)]
    return fetches[-1].started_ms if fetches else 0


def seed_hosts(work: Workspace) -> tuple[str, ...]:
    """The seeds' hosts, sorted, where the scope of the crawl depends on them."""
    if work.config.filter.scope == "any":
        return ()
    seeds = work.read("pages").where("source = 'seed'").select("host").distinct()
    hosts = [row.host for row in seeds.limit(MAX_SEED_HOSTS + 1).collect()]
    if len(hosts) > MAX_SEED_HOSTS:
        raise UsageError(
            f"{work.root}/gossamer.toml",
            f"there are seeds on more than {MAX_SEED_HOSTS:,} hosts, too many to stay on them",
            'set filter.scope to "any", and filter.allow or filter.deny to what you want',
        )
    return tuple(sorted(hosts))
