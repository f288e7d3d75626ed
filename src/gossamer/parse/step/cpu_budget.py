"""How much processor time a registrable domain's pages may take in a round.

A limit per page does not protect other sites: ten thousand pages that each take four seconds keep
a core busy for half a day. So the pages of a domain share a budget, and those beyond it are
postponed.

Several tasks can have pages of the same domain. Each gets a share of the domain's budget in
proportion to its share of the domain's bytes, including pages left from earlier rounds. So tasks
need not communicate, and the same bodies get the same budgets. Each process reads two columns of
all responses for this, in native code: 0.3 s for a million pages of 20,000 hosts.

While a round is being fetched, nobody knows these shares. A task that parses ahead
(`parse_ahead.py`) therefore writes what the pages of each domain took, later tasks deduct it, and
those that run at the same time share what is left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.parse.step.stored_responses import PAGE_BYTES
from gossamer.storage import parquet
from gossamer.web.public_suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gossamer.parse.step.stored_responses import ResponseRow


SPENT = pa.schema([("domain", pa.string()), ("cpu_s", pa.float64())])
"""What the pages of domains took in a task."""


class Budget:
    """The processor time that each domain of a task's pages has left."""

    def __init__(
        self,
        seconds: float,
        mine: Iterable[ResponseRow],
        total: Mapping[str, int],
        spent: Mapping[str, float] | None = None,
        tasks: int = 1,
    ) -> None:
        """Divide `seconds`, the budget of each domain per round (0: no limit), among the tasks.

        `mine` are this task's pages; `total` is from `domain_weights`, or empty if it is not known:
        each of so many `tasks` that run at once then gets the same. `spent` is no longer available.
        """
        self._limited = bool(seconds)
        self._left_s: defaultdict[str, float] = defaultdict(float)
        self._spent_s: defaultdict[str, float] = defaultdict(float)
        if seconds:
            weights: Counter[str] = Counter()
            for page in mine:
                weights[_domain(page.host)] += PAGE_BYTES + page.body_bytes
            for domain, weight in weights.items():
                left_s = max(seconds - (spent or {}).get(domain, 0), 0)
                self._left_s[domain] = (
                    left_s * weight / (total[domain] if total else tasks * weight)
                )

    def allows(self, page: ResponseRow) -> bool:
        """Whether the page's domain has any time left. The page may then take more than that."""
        return not self._limited or self._left_s[_domain(page.host)] > 0

    def spend(self, page: ResponseRow, cpu_s: float) -> None:
        if self._limited:
            domain = _domain(page.host)
            self._left_s[domain] -= cpu_s
            self._spent_s[domain] += cpu_s

    def spent(self) -> pa.Table:
        """What the pages of each domain took, as rows of SPENT; none if there is no limit."""
        columns = [list(self._spent_s), list(self._spent_s.values())]
        return pa.table(columns, schema=SPENT)


@lru_cache(maxsize=1)
def domain_weights(responses: tuple[str, ...], unparsed: tuple[str, ...]) -> dict[str, int]:
    """Return the weight in bytes of the pages in all these files, by registrable domain."""
    columns = ["host", "body_bytes"]
    tables = [parquet.read_table(path, columns=columns) for path in unparsed]
    only = [("outcome", "=", "ok")]
    tables += [parquet.read_table(path, columns=columns, filters=only) for path in responses]
    weights: Counter[str] = Counter()
    if tables:
        hosts = pa.concat_tables(tables).group_by("host")
        sums = hosts.aggregate([("body_bytes", "sum"), ("host", "count")])
        for host, size, pages in zip(*(column.to_pylist() for column in sums), strict=True):
            weights[_domain(host)] += PAGE_BYTES * pages + (size or 0)
    return weights


_domain = lru_cache(maxsize=1 << 16)(registrable)
