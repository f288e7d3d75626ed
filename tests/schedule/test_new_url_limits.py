from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.schedule.limits.new_url_limits import owners_targets
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine


def test_owners_are_the_hosts_of_a_group(engine: Engine) -> None:
    rows = [
        ("http://a.test/", "http://a.test/own", False),
        ("http://b.test/", "http://a.test/of-its-group", False),
        ("http://c.test/", "http://a.test/of-another-group", False),
        ("http://small.test/", "http://a.test/of-no-group", False),
        ("http://a.test/", "http://a.test/not-followed", True),
        ("http://a.test/", "http://small.test/not-crowded", False),
        ("http://small.test/", "http://small.test/own", False),
    ]
    names = ["src", "dst", "nofollow"]
    links = engine.rows(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))))
    groups = {"a.test": "one", "b.test": "one", "c.test": "two"}
    crowded = engine.rows(pa.table({"key": [*groups], "group": [*groups.values()]}))
    found = owners_targets(links, crowded, host_column(F.col("url"))).collect()
    assert {row.url for row in found} == {"http://a.test/own", "http://a.test/of-its-group"}
