"""The filters of a crawl, as a part of the Python API: `crawl.filters`.

with Crawl.open("my-web") as crawl:
    crawl.filters.add(["deny prefix https://example.org/tags/"])
    crawl.filters.apply(dry_run=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.rules.filter_rules.crawl_rules import ListedRule
    from gossamer.schedule.focus.generated_rules.step import Generated
    from gossamer.schedule.refilter import AppliedFilters, TestedUrl
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

LEAST_FIT = 20
"""Fit pages of a domain without which no rules are generated for it."""


class CrawlFilters:
    """Lists, tests and changes filter rules, and applies all filters to the known pages.

    A rule is a line of text: docs/choosing.md, Filter rules. Methods that write hold the crawl's
    lock, and raise `errors.Locked` if another process holds it; all raise ConfigError for rules
    that cannot be used.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work

    def rules(self) -> list[ListedRule]:
        """All rules in the order in which they are tried: of the settings, files and the store."""
        from gossamer.rules.filter_rules import crawl_rules

        with self._work.errors():
            return crawl_rules.list_rules(self._work)

    def test(self, url: str) -> TestedUrl:
        """What the filters say about a link to a URL. Raises UsageError."""
        from gossamer.schedule import refilter

        with self._work.errors():
            return refilter.test_url(self._work, url)

    def add(self, rules: Iterable[str], place: str = "rule") -> StepReport:
        """Add rules to the store, after those that it has. `place`: what they are, for errors."""
        from gossamer.rules.filter_rules import stored_rules
        from gossamer.rules.filter_rules.rule_syntax import number_lines

        with self._work.store.lock(), self._work.errors():
            return stored_rules.add_rules(self._work, number_lines(rules, place))

    def remove(self, rules: Iterable[str]) -> StepReport:
        """Remove rules from the store. Raises UsageError if one is not there."""
        from gossamer.rules.filter_rules import stored_rules
        from gossamer.rules.filter_rules.rule_syntax import number_lines

        with self._work.store.lock(), self._work.errors():
            return stored_rules.remove_rules(self._work, number_lines(rules, "rule"))

    def disable(self, rule: str) -> StepReport:
        """Let a rule stay in the store, but not apply. Raises UsageError if it is not there."""
        return self._set(rule, enabled=False)

    def enable(self, rule: str) -> StepReport:
        """Let a rule of the store apply again. Raises UsageError if it is not there."""
        return self._set(rule, enabled=True)

    def _set(self, rule: str, *, enabled: bool) -> StepReport:
        from gossamer.rules.filter_rules import stored_rules

        with self._work.store.lock(), self._work.errors():
            return stored_rules.enable_rule(self._work, rule, enabled=enabled)

    def generate(self, min_fit: int = LEAST_FIT, *, dry_run: bool = False) -> Generated:
        """Make rules that refuse sections without fit pages (see generated_rules/).

        Brings the counts of sections and the link graph up to date first, also with `dry_run`, with
        which no rule changes. `min_fit`: domains with fewer fit pages have no rules.
        """
        from gossamer.links import graph
        from gossamer.schedule.focus.generated_rules import step as generated_rules
        from gossamer.schedule.order.sections import step as sections

        with self._work.store.lock(), self._work.errors():
            sections.run(self._work)
            graph.run(self._work)
            return generated_rules.run(self._work, min_fit, dry_run=dry_run)

    def apply(self, *, dry_run: bool = False, samples: int = 3) -> AppliedFilters:
        """Apply the filters of now to all known pages (see gossamer.schedule.refilter).

        With `dry_run`, nothing changes. `samples`: URLs to return for each reason and rule.
        """
        from gossamer.schedule import refilter

        if dry_run:
            with self._work.errors():
                return refilter.run(self._work, dry_run=True, samples=samples)
        with self._work.store.lock(), self._work.errors():
            return refilter.run(self._work, samples=samples)
