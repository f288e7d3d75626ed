"""The filter rules in the store, which commands change: all rows of a small dataset, in one layer.

A rule that does not apply any more may stay, disabled, so that a program that makes rules knows
that the owner does not want it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import structs

from gossamer.errors import UsageError
from gossamer.rules.confidence import largest_share
from gossamer.rules.filter_rules.rule_index import RuleIndex
from gossamer.rules.filter_rules.rule_syntax import Rule, parse_all, parse_rule
from gossamer.storage import parquet
from gossamer.tables import FILTER_RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport

OWNER, GENERATED = "owner", "generated"
PLACE = "the store"
STEP = "filter"


class Evidence(NamedTuple):
    """Why a rule was generated; see the columns of `filter_rules`."""

    pages: int
    asked: int
    domain_fit: int
    reached: int
    drawn: int = 0

    @property
    def most_fit(self) -> float:
        """Largest share of the section that may be fit, if those asked for are like the others."""
        return largest_share(self.asked + self.drawn)

    def proof(self) -> dict[str, float]:
        """All figures, by name."""
        return self._asdict() | {"most_fit": round(self.most_fit, 4)}


class StoredRule(msgspec.Struct, frozen=True):
    """A row of `filter_rules`; see its columns."""

    rule: str
    position: int
    source: str
    enabled: bool
    created_ms: int
    pages: int | None = None
    asked: int | None = None
    domain_fit: int | None = None
    reached: int | None = None
    drawn: int | None = None
    sampled_ms: int | None = None

    @property
    def section(self) -> str:
        """The section that a generated rule refuses."""
        return self.parsed.value.partition("://")[2].removesuffix("=")

    @property
    def evidence(self) -> Evidence | None:
        if self.source != GENERATED:
            return None
        return Evidence(*(getattr(self, name) or 0 for name in Evidence._fields))

    @property
    def parsed(self) -> Rule:
        return _parse_stored(self.rule)


def read_rules(work: Workspace) -> list[StoredRule]:
    """The rules in the store, in order."""
    paths = work.paths(FILTER_RULES.name)
    if not paths:
        return []
    rows = parquet.read_table(paths, schema=FILTER_RULES.schema).to_pylist()
    return sorted((StoredRule(**row) for row in rows), key=lambda rule: rule.position)


def add_rules(work: Workspace, lines: Iterable[tuple[str, str]]) -> StepReport:
    """Add rules, given as lines with their places, after those that there are.

    Rules that are there already, enabled or not, stay as they are; generated ones are the owner's
    from then on. Raises ConfigError, and adds nothing, if a line is invalid.
    """
    texts = dict.fromkeys(placed.rule.text for placed in parse_all(lines))
    with work.step(STEP, work.round) as draft:
        known = [
            structs.replace(each, source=OWNER) if each.rule in texts else each
            for each in read_rules(work)
        ]
        new = [text for text in texts if text not in {each.rule for each in known}]
        added = _append_rules(work, known, dict.fromkeys(new), OWNER)
        draft.replace[FILTER_RULES.name] = _write_rules(work, [*known, *added])
        draft.counts.update(added=len(new), known=len(texts) - len(new))
    return draft.done


def replace_generated(
    work: Workspace, made: Mapping[str, Evidence], counts: dict[str, int]
) -> dict[str, tuple[Layer, ...]]:
    """The dataset with these generated rules instead of those of before.

    Rules that the owner has disabled or added stay as they are.
    """
    kept = []
    for each in read_rules(work):
        if each.rule in made and each.source == GENERATED:
            kept.append(structs.replace(each, **made[each.rule]._asdict()))
        elif each.source != GENERATED or not each.enabled:
            kept.append(each)
        else:
            counts["dropped"] = counts.get("dropped", 0) + 1
    known = {each.rule for each in kept}
    new = {rule: evidence for rule, evidence in made.items() if rule not in known}
    counts.update(added=len(new), known=len(made) - len(new))
    return {
        FILTER_RULES.name: _write_rules(work, [*kept, *_append_rules(work, kept, new, GENERATED)])
    }


def write_followed(
    work: Workspace,
    fallen: Collection[str],
    sampled_ms: Mapping[str, int],
    drawn: Mapping[str, int],
) -> dict[str, tuple[Layer, ...]]:
    """The dataset without generated rules of the `fallen` sections.

    `sampled_ms`: the new values of some sections; `drawn` pages were answered, by rule. Nothing is
    written if nothing changes.
    """
    if not (fallen or sampled_ms or drawn):
        return {}
    kept = []
    for each in read_rules(work):
        is_made = each.source == GENERATED and each.enabled
        if is_made and each.section in fallen:
            continue
        if is_made:
            total = (each.drawn or 0) + drawn.get(each.rule, 0)
            last_ms = sampled_ms.get(each.section, each.sampled_ms)
            each = structs.replace(each, drawn=total, sampled_ms=last_ms)  # noqa: PLW2901
        kept.append(each)
    return {FILTER_RULES.name: _write_rules(work, kept)}


def remove_rules(work: Workspace, lines: Iterable[tuple[str, str]]) -> StepReport:
    """Remove rules from the store. Raises UsageError, and removes none, if one is not there."""
    with work.step(STEP, work.round) as draft:
        known = read_rules(work)
        unwanted = _find_rules(work, known, lines)
        left = [each for each in known if each.rule not in unwanted]
        draft.replace[FILTER_RULES.name] = _write_rules(work, left)
        draft.counts["removed"] = len(unwanted)
    return draft.done


def enable_rule(work: Workspace, line: str, *, enabled: bool) -> StepReport:
    """Enable or disable a rule in the store. Raises UsageError if it is not there."""
    with work.step(STEP, work.round) as draft:
        known = read_rules(work)
        (meant,) = _find_rules(work, known, [(line, "RULE")])
        draft.replace[FILTER_RULES.name] = _write_rules(
            work,
            [
                structs.replace(each, enabled=enabled) if each.rule == meant else each
                for each in known
            ],
        )
        draft.counts["enabled" if enabled else "disabled"] = 1
    return draft.done


def _append_rules(
    work: Workspace, known: Sequence[StoredRule], new: Mapping[str, Evidence | None], source: str
) -> list[StoredRule]:
    """New rules, which are tried after the others."""
    first = max((each.position for each in known), default=0) + 1
    now_ms = work.now_ms()
    return [
        StoredRule(text, first + n, source, True, now_ms, *(evidence or ()))
        for n, (text, evidence) in enumerate(new.items())
    ]


def _find_rules(
    work: Workspace, known: Sequence[StoredRule], lines: Iterable[tuple[str, str]]
) -> set[str]:
    """The texts of rules that must be in the store."""
    texts = {placed.rule.text for placed in parse_all(lines)}
    missing = texts - {each.rule for each in known}
    if missing or not texts:
        raise UsageError(
            min(missing, default="no rule"),
            "is not a rule in the store",
            f"see gossamer filter list {work.root}; rules of gossamer.toml and of files are "
            "changed there",
        )
    return texts


def _write_rules(work: Workspace, kept: Sequence[StoredRule]) -> tuple[Layer, ...]:
    """Write the dataset. Raises ConfigError if the enabled rules do not fit into memory."""
    RuleIndex([each.parsed for each in kept if each.enabled])
    rows = pa.Table.from_pylist([structs.asdict(each) for each in kept], FILTER_RULES.schema)
    return work.write_table(FILTER_RULES, rows)[FILTER_RULES.name]


@lru_cache(maxsize=1 << 17)
def _parse_stored(text: str) -> Rule:
    rule = parse_rule(text, PLACE, known=True)
    assert rule is not None  # noqa: S101  # `add_rules` wrote the text of a rule
    return rule
