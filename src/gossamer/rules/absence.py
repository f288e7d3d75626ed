"""Why is a URL missing from `pages`?

Dropped URLs are not stored, so the answer comes from the current settings and links. It costs a
pass over two columns of `pages` for each new layer, and reading the links of a few pages that link
to the URL.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filter_rules.rule_index import NONE
from gossamer.rules.filter_rules.rule_syntax import KINDS
from gossamer.rules.filters import Filters
from gossamer.state.lookup import open_checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyarrow.parquet import RowGroupMetaData

    from gossamer.rules.filter_rules.crawl_rules import RulesInForce
    from gossamer.rules.filter_rules.rule_syntax import PlacedRule
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

MAX_SOURCES = 3
"""Linking pages whose links are read to see whether they are nofollow."""

REASONS: Mapping[str, str] = {
    "scope": "it is not on a host or domain of the seeds: filter.scope",
    "extension": "its path has the extension of a file without text: filter.skip_extensions",
    "allow": "it matches no pattern of filter.allow",
    "deny": "it matches a pattern of filter.deny",
    "path_segments": "its path has too many segments: filter.max_path_segments",
    "repeated": "a segment of its path is repeated too often: filter.max_repeats",
    "parameters": "its query has too many parameters: filter.max_parameters",
    "calendar": "it contains a date out of range: filter.calendar_from_year, "
    "filter.calendar_years_ahead",
    "depth": "it is too many links from a seed: filter.max_depth",
    "redirects": "it is behind too many redirects: filter.max_redirects",
    **{f"rule_{kind}": "a filter rule refuses it" for kind in KINDS},
}
"""Reasons of the built-in filters, in words that name the setting."""
NOFOLLOW = "it was only found in links marked rel=nofollow"
EXCEEDED = (
    "pages link to it; either the round has not ended yet, or it exceeded a limit: "
    "filter.max_depth, filter.max_redirects, update.new_queries_per_path or "
    "update.new_urls_per_domain"
)
UNLINKED = "no page that was crawled links to it"


class Absence:
    """Explains why URLs are missing from `pages`. Safe to use from several threads."""

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup
        self._guard = threading.Lock()
        self._seed_hosts: dict[Layer, frozenset[str]] = {}
        self._rules: tuple[tuple[object, ...], RulesInForce] | None = None
        self._filters: tuple[frozenset[str], str, Filters] | None = None

    def why(self, url: str) -> str:
        """Why a normalised URL is not in `pages`: a clause that names the setting."""
        rejected = self.filter_reason(url)
        if rejected is not None:
            return rejected
        row = next(self._lookup.rows("inlinks", "dst", url, ["sources"]), None)
        sources = [source["src"] for source in row["sources"]] if row else []
        if not sources:
            return UNLINKED
        all_nofollow = all(self._is_nofollow(source, url) for source in sources[:MAX_SOURCES])
        return f"{NOFOLLOW if all_nofollow else EXCEEDED}; one link is on {sources[0]}"

    def filter_reason(self, url: str, depth: int = 0, hops: int = 0) -> str | None:
        """Why the present filters reject a normalised URL that is found this far from a seed."""
        rules = self._current_rules()
        reason = self._current_filters(rules).reject(url, depth, hops)
        if reason is None:
            return None
        words = REASONS.get(reason, f"a filter rejects it: {reason}")
        if not reason.startswith("rule_"):
            return words
        rule, place = rules.placed[rules.index.first(url)]
        return f"{words}: {rule.text} ({place})"

    def rule(self, url: str) -> PlacedRule | None:
        """The first filter rule that matches a normalised URL. Raises ConfigError."""
        rules = self._current_rules()
        number = rules.index.first(url)
        return None if number == NONE else rules.placed[number]

    def _is_nofollow(self, source: str, url: str) -> bool:
        rows = self._lookup.rows("links", "src", source, ("dst", "nofollow"))
        return next((row["nofollow"] for row in rows if row["dst"] == url), False)

    def _current_rules(self) -> RulesInForce:
        with self._guard:
            stamp = crawl_rules.rules_stamp(self._work)
            if self._rules is None or self._rules[0] != stamp:
                self._rules = stamp, crawl_rules.rules_in_force(self._work)
            return self._rules[1]

    def _current_filters(self, rules: RulesInForce) -> Filters:
        with self._guard:
            layers = self._work.store.manifest.layers("pages")
            known = self._seed_hosts
            self._seed_hosts = {
                layer: known[layer] if layer in known else frozenset(self._read(layer))
                for layer in layers
            }
            hosts = frozenset().union(*self._seed_hosts.values())
            if self._filters is None or self._filters[:2] != (hosts, rules.digest):
                made = Filters.from_config(self._work.config.filter, hosts, rules=rules.index)
                self._filters = hosts, rules.digest, made
            return self._filters[2]

    def _read(self, layer: Layer) -> Iterable[str]:
        """The hosts of seeds. Hardly any row group has seeds, and its statistics often say so."""
        for file in layer.files:
            with open_checked(
                f"{self._work.root}/{file.path}", "pages", ["source", "host"]
            ) as parquet:
                for group in range(parquet.num_row_groups):
                    if not _may_hold(parquet.metadata.row_group(group), "source", "seed"):
                        continue
                    sources = parquet.read_row_group(group, ["source"]).column("source")
                    are_seeds = pc.equal(sources, "seed")
                    if pc.any(are_seeds).as_py():
                        hosts = parquet.read_row_group(group, ["host"]).column("host")
                        yield from pc.unique(hosts.filter(are_seeds)).to_pylist()


def _may_hold(group: RowGroupMetaData, column: str, value: str) -> bool:
    """Whether a row group may have a value, by the smallest and the largest one."""
    chunks = map(group.column, range(group.num_columns))
    known = next(chunk.statistics for chunk in chunks if chunk.path_in_schema == column)
    return known is None or not known.has_min_max or bool(known.min <= value <= known.max)
