"""What the filters of a task are made of, small enough to be sent with each task.

The rules are in a scratch file, which a process reads and compiles once for all of its tasks: equal
rules have equal digests, whichever file they are in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.rules.filter_rules.rule_index import RuleIndex
from gossamer.rules.filter_rules.rule_syntax import parse_rule
from gossamer.storage import parquet

if TYPE_CHECKING:
    from gossamer.config import FilterConfig
    from gossamer.rules.filter_rules.rule_syntax import Rule

RULE_LINES = pa.schema([("rule", pa.string())])
"""Of a file of rules: their texts, in order."""


@dataclass(frozen=True)
class RuleFile:
    """The rules of a crawl, as of now."""

    digest: str
    path: str = field(compare=False)
    """Absolute."""
    has_types: bool
    has_languages: bool


@dataclass(frozen=True)
class FilterRecipe:
    config: FilterConfig
    seed_hosts: tuple[str, ...]
    """As in `pages`, sorted; () if the scope does not depend on them."""
    year: int
    """The current year, by which filters recognise endless calendars."""
    rules: RuleFile | None
    """None if there is no rule."""


@lru_cache(maxsize=1)
def index_of(file: RuleFile) -> RuleIndex:
    """The index of the rules in a file. Raises ConfigError."""
    lines = parquet.read_table(file.path, schema=RULE_LINES).column("rule").to_pylist()
    return RuleIndex([_parse_known(line) for line in lines])


def _parse_known(line: str) -> Rule:
    rule = parse_rule(line, "", known=True)
    assert rule is not None  # noqa: S101  # it is the text of a rule
    return rule
