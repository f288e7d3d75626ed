from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer.schedule.limits.new_url_limits import (
    crowded_paths,
    owners_targets,
    urls_beyond_limit,
)
from gossamer.web.urls import host_column
from tests.support.computed_columns import rows_as_frame

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


def test_a_path_is_crowded_by_more_queries_than_its_limit(engine: Engine) -> None:
    counts = {"x": 3, "y": 2}
    urls = [f"http://a.test/{name}?{n}" for name, count in counts.items() for n in range(count)]
    urls += [f"http://a.test/z/{n}" for n in range(9)]
    path = F.when(F.contains("url", F.lit("?")), F.split_part("url", F.lit("?"), F.lit(1)))
    pages = rows_as_frame(engine, {"url": pa.string()}, [{"url": url} for url in urls])
    found = crowded_paths(path, 2, pages)
    assert [tuple(row) for row in found.collect()] == [("http://a.test/x", "http://a.test/x", 2)]


@pytest.mark.parametrize("seed", range(3))
def test_of_a_crowded_group_the_nearest_new_urls_are_kept(engine: Engine, seed: int) -> None:
    """Before them those to which their owner links; known pages take no place."""
    draw = random.Random(seed)  # noqa: S311  # reproducible
    groups = {"a.test": ("one", 4), "b.test": ("one", 4), "c.test": ("two", 7)}
    urls = [f"http://{host}/{n}" for host in (*groups, "free.test") for n in range(9)]
    found: list[dict[str, Any]] = [
        {"url": url, "found_depth": draw.randrange(1, 4), "found_inlinks": draw.randrange(1, 4)}
        for url in urls
    ]
    known, own = {*draw.sample(urls, 8)}, {*draw.sample(urls, 6)}
    crowded = [
        {"key": host, "group": group, "most": most} for host, (group, most) in groups.items()
    ]
    text, whole = pa.string(), pa.int64()
    excess = urls_beyond_limit(
        rows_as_frame(engine, {"url": text, "found_depth": whole, "found_inlinks": whole}, found),
        rows_as_frame(engine, {"url": text}, [{"url": url} for url in sorted(known)]),
        rows_as_frame(engine, {"key": text, "group": text, "most": whole}, crowded),
        host_column(F.col("url")),
        rows_as_frame(engine, {"url": text}, [{"url": url} for url in sorted(own)]),
    )
    expected = set()
    for name, most in {*groups.values()}:
        new = [
            row
            for row in found
            if groups.get(row["url"].split("/")[2]) == (name, most) and row["url"] not in known
        ]
        new.sort(
            key=lambda row: (
                row["url"] not in own, row["found_depth"], -row["found_inlinks"], row["url"]
            )
        )  # fmt: skip
        expected |= {row["url"] for row in new[most:]}
    assert expected
    assert {row.url for row in excess.collect()} == expected
