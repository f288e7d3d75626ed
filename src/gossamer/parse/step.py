"""The step itself: files of responses are shared among tasks, and what they made is committed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from time import gmtime
from typing import TYPE_CHECKING

from gossamer import filters
from gossamer.errors import UsageError
from gossamer.layers import YIELD, YIELD_DDL, balance, counts_of, layers_of
from gossamer.monitor import silence
from gossamer.parse.parsers import rules_of
from gossamer.parse.task import Job, Share, parse_share
from gossamer.tables import DOCUMENTS, HOSTS, LINKS, WARC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.layers import Row
    from gossamer.parse.page import Rules
    from gossamer.store import File, Layer, StepReport
    from gossamer.workspace import Draft, Workspace

TASKS_PER_WORKER = 4
"""Files of responses differ in what their pages cost."""
MAX_SEED_HOSTS = 100_000
"""Every task holds them, so there is a limit to the sets by which a scope is told."""


def run(work: Workspace) -> StepReport:
    """Parse what the round fetched. Raises UsageError where there is nothing, or it is parsed.

    Raises MissingFile where a file is not whole, and ConfigError for settings, rules of sites and
    plugins that cannot be used.
    """
    rules = rules_of(work.config, work.root)
    round_ = work.round
    if "parse" in work.store.manifest.steps_of(round_):
        raise UsageError(work.root, f"round {round_} is parsed", f"gossamer update {work.root}")
    if not work.store.manifest.layers("responses", round_):
        raise UsageError(
            work.root, f"round {round_} has nothing to parse", f"gossamer fetch {work.root}"
        )
    with work.step("parse", round_) as draft:
        hosts = work.store.files(HOSTS.name, round_)
        rows = parse_round(work, job_of(work, rules), hosts=hosts)
        draft.append = layers_of(rows, round_)
        draft.counts = dict(counts_of(rows))
    return draft.done


def again(work: Workspace, draft: Draft, announce: Callable[[str, int], None]) -> None:
    """Parse each round that was parsed once more; the draft's layers replace those that it had.

    What a later round fetched again is parsed in each. Links of robots.txt files, of which `hosts`
    keeps the newest alone, are taken from the layers that are replaced. `announce("parse", round)`
    is called before each round. Raises UsageError where nothing is parsed, or the newest round is
    not at its end, and what `run` raises.
    """
    rounds = parsed_rounds(work)
    job = job_of(work, rules_of(work.config, work.root))
    layers: dict[str, list[Layer]] = {DOCUMENTS.name: [], LINKS.name: []}
    counts: Counter[str] = Counter()
    for round_ in rounds:
        silence(work.root, "parse")
        announce("parse", round_)
        links = work.store.files(LINKS.name, round_)
        rows = parse_round(work, replace(job, round=round_), links=links)
        counts += counts_of(rows)
        for name, layer in layers_of(rows, round_).items():
            layers[name].append(layer)
    draft.replace |= {name: tuple(stack) for name, stack in layers.items()}
    draft.counts |= counts


def parsed_rounds(work: Workspace) -> list[int]:
    """Rounds that may be parsed again. Raises UsageError as `again` does."""
    manifest = work.store.manifest
    done = manifest.steps_of(work.round)
    if "fetch" in done and "update" not in done:
        missing = "update" if "parse" in done else "parse"
        raise UsageError(
            work.root, f"round {work.round} is not at its end", f"gossamer {missing} {work.root}"
        )
    # The history is of bounded length; of a round whose links were all dropped nothing else tells.
    rounds = {report.round for report in manifest.history if report.step == "parse"}
    for name in (DOCUMENTS.name, LINKS.name):
        rounds |= {layer.round for layer in manifest.layers(name)}
    if not rounds:
        raise UsageError(work.root, "nothing is parsed yet", f"gossamer crawl {work.root}")
    return sorted(rounds)


def job_of(work: Workspace, rules: Rules) -> Job:
    """What all tasks of the newest round are told. Raises ConfigError and UsageError."""
    filters.check(work.config.filter)
    return Job(
        work.root,
        work.round,
        work.config,
        rules,
        seed_hosts(work),
        gmtime(work.now_ms() / 1000).tm_year,
        fetch_began_ms(work),
        (work.store.attempt(DOCUMENTS.name), work.store.attempt(LINKS.name)),
    )


def parse_round(
    work: Workspace, job: Job, *, hosts: Sequence[File] = (), links: Sequence[File] = ()
) -> list[Row]:
    """Rows of YIELD: the files of a round's documents and links, and what was counted.

    `hosts` and `links` are files of these datasets that tell what robots.txt files lead to. Raises
    MissingFile where a file is not whole.
    """
    files = work.store.files("responses", job.round)
    work.store.files(WARC.name, job.round)  # a file that was cut would read as pages that failed
    answers = balance(files, TASKS_PER_WORKER * work.engine.workers)
    tasks = len(answers)
    parts = zip_longest(answers, balance(hosts, tasks), balance(links, tasks), fillvalue=())
    shares = [Share(number, *map(paths, part)) for number, part in enumerate(parts)]
    return work.engine.map_tasks(shares, partial(parse_share, job), YIELD, YIELD_DDL)


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
