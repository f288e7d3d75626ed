"""The filter rules of a crawl, in order: those of its settings, of its files, and of the store.

Files are read, and rules checked, when a step begins. What was read before is not parsed again. In
a crawl without end, a file that cannot be used stands for the rules that it had before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import gmtime
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.errors import ConfigError, UsageError
from gossamer.rules.filter_rules import stored_rules
from gossamer.rules.filter_rules.filter_recipe import RULE_LINES, FilterRecipe, RuleFile
from gossamer.rules.filter_rules.rule_index import RuleIndex
from gossamer.rules.filter_rules.rule_syntax import (
    MAX_RULES,
    PlacedRule,
    Rule,
    number_lines,
    parse_all,
    read_rule_lines,
)
from gossamer.rules.filter_rules.stored_rules import GENERATED
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import FILTER_RULES

if TYPE_CHECKING:
    from collections.abc import Collection

    from gossamer.rules.filter_rules.stored_rules import Evidence
    from gossamer.state.workspace import Workspace

MAX_SEED_HOSTS = 100_000
"""Largest number of hosts for `filter.scope`: every task holds them in memory."""
UNREADABLE = "give a UTF-8 file with one rule per line, or take it out of filter.files"


class ListedRule(NamedTuple):
    """A rule of a crawl, in force or not."""

    rule: Rule
    place: str
    """`filter.rules, rule 1`, the file and line, or `the store`."""
    source: str
    """settings, file, or the column `source` of the store."""
    enabled: bool = True
    evidence: Evidence | None = None
    """Of a generated rule."""


@dataclass(frozen=True)
class RulesInForce:
    """The rules in force, and their index, whose numbers are places in `placed`."""

    placed: tuple[PlacedRule, ...]
    index: RuleIndex
    digest: str


def list_rules(work: Workspace) -> list[ListedRule]:
    """All rules, in order. Raises ConfigError, which names the line that cannot be used."""
    config = work.config.filter
    settings = parse_all(number_lines(config.rules, "filter.rules, rule"))
    found = [ListedRule(*placed, "settings") for placed in settings]
    for name in config.files:
        found += [ListedRule(*placed, "file") for placed in _rules_of_file(work, name)]
    found += [
        ListedRule(each.parsed, stored_rules.PLACE, each.source, each.enabled, each.evidence)
        for each in stored_rules.read_rules(work)
    ]
    if len(found) > MAX_RULES:
        raise ConfigError(
            "filter rules",
            f"{len(found):,} rules, more than {MAX_RULES:,}",
            "replace rules for single pages by rules for folders or domains",
        )
    return found


def rules_in_force(work: Workspace, generated: Collection[str] | None = None) -> RulesInForce:
    """The rules in force. Raises ConfigError, also if they do not fit into memory together.

    `generated`: the generated rules that count; None: all.
    """
    placed = tuple(
        PlacedRule(each.rule, each.place)
        for each in list_rules(work)
        if each.enabled
        and (each.source != GENERATED or generated is None or each.rule.text in generated)
    )
    texts = "\n".join(each.rule.text for each in placed)
    digest = blake2b(texts.encode(), digest_size=16).hexdigest()
    return RulesInForce(placed, _index_rules(tuple(each.rule for each in placed)), digest)


def rules_stamp(work: Workspace) -> tuple[object, ...]:
    """What the rules in force depend on. Files are not read; None stands for one that is missing.

    `rules_in_force` compares all rules, even if they are those of before.
    """
    states = (_rule_file_state(Path(work.root, name)) for name in work.config.filter.files)
    return (work.config.filter, *states, work.store.manifest.layers(FILTER_RULES.name))


def _rule_file_state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def filter_recipe(work: Workspace, generated: Collection[str] | None = None) -> FilterRecipe:
    """What tasks make their filters of: see `rules_in_force`. Raises ConfigError and UsageError."""
    year = gmtime(work.now_ms() / 1000).tm_year
    rules = write_rule_file(work, generated)
    return FilterRecipe(work.config.filter, seed_hosts(work), year, rules)


def write_rule_file(work: Workspace, generated: Collection[str] | None = None) -> RuleFile | None:
    """Write the rules in force to a scratch file; None if there are none."""
    rules = rules_in_force(work, generated)
    if not rules.placed:
        return None
    texts = [each.rule.text for each in rules.placed]
    writer = ParquetWriter(work.root, SCRATCH, work.scratch_attempt(), schema=RULE_LINES)
    writer.write(pa.table({"rule": texts}, schema=RULE_LINES))
    (file,) = writer.close()
    index = rules.index
    return RuleFile(
        rules.digest, f"{work.root}/{file['path']}", index.has_types, index.has_languages
    )


def seed_hosts(work: Workspace) -> tuple[str, ...]:
    """Return the hosts of the seeds, sorted, if the scope of the crawl depends on them; else ()."""
    if work.config.filter.scope == "any":
        return ()
    seeds = work.read("pages").where("source = 'seed'").select("host").distinct()
    hosts = [row.host for row in seeds.limit(MAX_SEED_HOSTS + 1).collect()]
    if len(hosts) > MAX_SEED_HOSTS:
        raise UsageError(
            f"{work.root}/gossamer.toml",
            f"the seeds are on more than {MAX_SEED_HOSTS:,} hosts, too many for filter.scope",
            'set filter.scope to "any", and restrict the crawl by filter.allow or filter.deny',
        )
    return tuple(sorted(hosts))


def _rules_of_file(work: Workspace, name: str) -> tuple[PlacedRule, ...]:
    def read() -> tuple[PlacedRule, ...]:
        return _parse_lines(
            tuple(read_rule_lines(Path(work.root, name), UNREADABLE)), f"{name}, line"
        )

    return read() if work.last_valid is None else work.last_valid.read(name, read)


@lru_cache(maxsize=8)
def _parse_lines(lines: tuple[str, ...], place: str) -> tuple[PlacedRule, ...]:
    return tuple(parse_all(number_lines(lines, place)))


@lru_cache(maxsize=2)
def _index_rules(rules: tuple[Rule, ...]) -> RuleIndex:
    return RuleIndex(rules)
