"""Rewriting URLs by the active rules, until no rule changes them any more.

A rule changes a URL only if it covers the section of the form that it leads to. That of a whole
host does not cover the part of an owner, and none leads into or out of such a part.

The order of rules does not matter for correctness, because each only leads to a URL of the same
page; but the result must be a fixed point, so that a page has one URL. Rules that chase a URL in a
circle do not rewrite it at all.

Cost: a dictionary look-up for a URL of a host without rules. Results are cached, since the pages of
a host share most of their links.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gossamer.rules.url_rules import forms
from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_PASSES = 8
MAX_RULES = 500_000
"""Rules that a task holds in memory, about 400 bytes each; those with the most evidence."""
REMEMBERED = 1 << 15
ENOUGH = 1 << 40
ORDER = (
    *(forms.SCHEME, forms.WWW, forms.HOST, forms.PARAMETER),
    *(forms.ORDER, forms.INDEX, forms.SLASH, forms.CASE),
)
COLUMNS = ("rule", "host", "section", "kind", "name", "target")


class ActiveRule(NamedTuple):
    """Columns of `url_rules`, and the evidence."""

    rule: str
    host: str
    section: str
    kind: str
    name: str
    target: str
    supports: int = 0
    """Agreements that it relies on: of its section, and if that has a rule of its own, of the whole
    host. For a section without one, there is a row with the rule of the host."""
    missing: int = 0
    """Agreements that it needs to become active, if it is on trial."""


class Rewritten(NamedTuple):
    url: str
    rules: tuple[str, ...] = ()
    """The rules that changed it, each once."""


class _Change(NamedTuple):
    kind: str
    name: str
    target: str
    rules: dict[str, str]
    """The rule of each section."""


class Rewriter:
    """Rewrites URLs in normal form."""

    def __init__(self, rules: Iterable[ActiveRule]) -> None:
        self._changes: dict[str, list[_Change]] = {}
        self._supports: dict[str, dict[str, int]] = {}
        """Agreements by section of each rule."""
        self._missing: dict[str, int] = {}
        changes: dict[tuple[str, str, str, str], _Change] = {}
        for rule in sorted(rules, key=_order):
            self._supports.setdefault(rule.rule, {})[rule.section] = rule.supports
            self._missing[rule.rule] = rule.missing
            key = rule.host, rule.kind, rule.name, rule.target
            if key not in changes:
                changes[key] = _Change(rule.kind, rule.name, rule.target, {})
                for host in (rule.host, *([f"www.{rule.host}"] if rule.kind == forms.WWW else [])):
                    self._changes.setdefault(host, []).append(changes[key])
            changes[key].rules[rule.section] = rule.rule
        self.rewrite = lru_cache(maxsize=REMEMBERED)(self._rewrite)

    def __bool__(self) -> bool:
        return bool(self._changes)

    def least_supports(self, rules: Sequence[str], section: str) -> int:
        """The evidence for the rule with the least. Rules that are not in use do not count."""
        return min(self.supports(rule, section) for rule in rules)

    def supports(self, rule: str, section: str) -> int:
        """The evidence for a rule in a section; 0 for that of a whole host in a new section."""
        known = self._supports.get(rule)
        return ENOUGH if known is None else known.get(section, min(known.values()))

    def most_missing(self, rules: Sequence[str]) -> int:
        """The evidence that a rule on trial needs; 0 if none of them is on trial."""
        return max(self._missing.get(rule, 0) for rule in rules)

    def _rewrite(self, url: str) -> Rewritten:
        if url.split("/", 3)[2] not in self._changes or (parts := forms.split_url(url)) is None:
            return Rewritten(url)
        used: dict[str, None] = {}
        for _ in range(MAX_PASSES):
            before = parts
            for change in self._changes.get(parts.host, ()):
                parts = _apply_change(parts, change, used)
                if parts.host != before.host:
                    break
            if parts == before:
                return Rewritten(parts.url, tuple(used)) if parts.url != url else Rewritten(url)
        return Rewritten(url)


def _apply_change(parts: forms.Parts, change: _Change, used: dict[str, None]) -> forms.Parts:
    after = forms.apply_form(parts, change.kind, change.name, change.target)
    if after == parts:
        return parts
    form = forms.apply_form(parts, change.kind, change.name).url
    section = forms.section_of(form)
    rule = change.rules.get(section)
    if rule is None and not forms.is_owned(section):
        rule = change.rules.get(forms.WHOLE_HOST)
    if rule is None or forms.are_strangers(parts.url, form):
        return parts
    used[rule] = None
    return after


def _order(rule: ActiveRule) -> tuple[int, int, str, str]:
    """Longer sets of parameters are dropped first, because shorter ones are part of them."""
    return ORDER.index(rule.kind), -len(rule.name), rule.name, rule.rule


@lru_cache(maxsize=1)
def rewriter_of(paths: tuple[str, ...]) -> Rewriter:
    """The rewriter for the rules in files that `active` has written; read once per process."""
    rows = (row for path in paths for row in parquet.read_table(path).to_pylist())
    return Rewriter(ActiveRule(**row) for row in rows)
