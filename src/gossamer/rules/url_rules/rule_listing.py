"""Learned rules as the user sees them: listed, tested on a URL, disabled and enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.rules.confidence import largest_share
from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rewriting import COLUMNS, ActiveRule, Rewriter
from gossamer.rules.url_rules.rule_states import (
    ACTIVE,
    CONTRADICTED,
    DISABLED,
    IN_USE,
    LEARNING,
    TRIAL,
)
from gossamer.state import lsm
from gossamer.tables import URL_RULES
from gossamer.web.urls import host_of, normalize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

_ORDER = (ACTIVE, TRIAL, CONTRADICTED, DISABLED, LEARNING)
_EFFECTS = {
    forms.SCHEME: {"https": "http:// becomes https://", "http": "https:// becomes http://"},
    forms.WWW: {"without": "without www", "with": "with www"},
    forms.SLASH: {"without": "without the last slash", "with": "with a slash at the end"},
    forms.INDEX: {"": "without {}"},
    forms.CASE: {"": "in lower case"},
    forms.PARAMETER: {"": "without the parameter {}"},
    forms.ORDER: {"": "with parameters in the order of their names"},
    forms.HOST: {"": "on the host {}"},
}


class UrlRule(NamedTuple):
    """A row of `url_rules`; see its columns."""

    rule: str
    host: str
    section: str
    kind: str
    name: str
    target: str
    state: str
    supports: int
    contradictions: int
    forward: int
    backward: int
    examples: list[str]
    counterexamples: list[str]
    rewritten: int
    sampled: int
    first_round: int
    last_round: int

    @property
    def title(self) -> str:
        """Which URLs it changes, and how."""
        where = "" if self.section == forms.WHOLE_HOST else self.section
        return f"{self.host}{where}: {_EFFECTS[self.kind][self.target].format(self.name)}"

    @property
    def most_differing(self) -> float | None:
        """Largest share that may differ, if what agreed is like the rest; None: not known."""
        known = self.supports and not self.contradictions
        return largest_share(self.supports) if known else None


class TestedUrl(NamedTuple):
    """What becomes of a URL."""

    url: str
    """In normal form."""
    target: str
    rules: list[UrlRule]


def rules_of(work: Workspace, host: str | None = None) -> list[UrlRule]:
    """The rules of a host, or of all hosts: the active ones first, then by their evidence."""
    rows = lsm.current(work, URL_RULES)
    if host is not None:
        rows = rows.where(F.col("host").isin(host, forms.base_host(host)))
    found = [UrlRule(**row.asDict()) for row in rows.select(*UrlRule._fields).collect()]
    return sorted(found, key=lambda r: (_ORDER.index(r.state), r.host, -r.supports, r.rule))


def test_url(work: Workspace, url: str) -> TestedUrl:
    """What a URL becomes if a page links to it, and by which rules. Raises UsageError."""
    normal = normalize(url, None, work.config.urls)
    if normal is None:
        raise UsageError(
            url, "is not a URL that can be crawled", "give a URL such as https://a.org/"
        )
    known = {rule.rule: rule for rule in _reachable(work, host_of(normal))}
    active = [
        ActiveRule(*(getattr(rule, name) for name in COLUMNS))
        for rule in known.values()
        if rule.state in IN_USE
    ]
    found = Rewriter(active).rewrite(normal)
    return TestedUrl(normal, found.url, [known[rule] for rule in found.rules])


def _reachable(work: Workspace, host: str) -> list[UrlRule]:
    """The rules of a host and of the hosts that these lead to."""
    rules: dict[str, UrlRule] = {}
    waiting, done = {host}, set[str]()
    while waiting:
        each = waiting.pop()
        done.add(each)
        for rule in rules_of(work, each):
            rules[rule.rule] = rule
            if rule.kind == forms.HOST and rule.state in IN_USE:
                waiting |= {rule.name} - done
            if rule.kind == forms.WWW and rule.state in IN_USE:
                waiting |= {rule.host, f"www.{rule.host}"} - done
    return list(rules.values())


def switched_listed_rule(work: Workspace, rule: str, *, enabled: bool) -> DataFrame:
    """The row of a rule that the user disables or enables, not settled, materialised.

    Raises UsageError if there is no such rule.

    An enabled rule is active, and the evidence against it is forgotten: what contradicts it later
    drops it again.
    """
    keys = work.engine.spark.createDataFrame([(rule,)], "rule string")
    rows, count = work.scratch(lsm.rows_for(work, URL_RULES, keys))
    if not count:
        remedy = f"see gossamer duplicates rules {work.root}"
        raise UsageError(rule, "is not a rule of this crawl", remedy)
    none, nothing = F.lit(0).cast("long"), F.array().cast("array<string>")
    changes = {"state": F.lit(DISABLED)}
    if enabled:
        changes = {"state": F.lit(ACTIVE), "contradictions": none, "counterexamples": nothing}
        towards_first = F.col("target") != F.lit("http")
        towards_first = towards_first & ~(
            (F.col("kind") != forms.SCHEME) & (F.col("target") == "with")
        )
        changes["forward"] = F.when(towards_first, F.col("forward")).otherwise(none)
        changes["backward"] = F.when(towards_first, none).otherwise(F.col("backward"))
    changes["settled"] = F.lit(False)
    return work.scratch(
        rows.select(*[changes.get(n, F.col(n)).alias(n) for n in URL_RULES.column_names])
    )[0]
