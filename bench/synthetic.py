"""Page databases and found links of any size, made by DuckDB: the benchmarks' common ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from gossamer.store import File, Layer
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

NOW_MS = 1_800_000_000_000
FAN = 50  # pages per host, on average; hosts' sizes are skewed


def url(kind: str, host: str) -> str:
    return f"'https://'||{host_name(host)}||'/{kind}-'||(i % 97)||'/article-'||i||'.html'"


def host_name(number: str) -> str:
    return f"'www.site'||{number}||'.example'||({number} % 7)||'.org'"


def make_pages(sql: duckdb.DuckDBPyConnection, target: Path, n: int) -> None:
    """A page database: one page in twenty fetched, scores as `scoring.links` gives them."""
    fetched = "i % 20 = 0"
    columns = {
        "url": url("section", "h"),
        "host": host_name("h"),
        "status": f"if({fetched}, 'fetched', 'unfetched')",
        "source": "'link'",
        "depth": "(1 + i % 9)::INT",
        "hops": "0::INT",
        "inlinks": "(1 + floor(1 / (0.001 + hash(i) % 1000 / 1000.0)))::BIGINT",
        "score": "sqrt(2 + floor(1 / (0.001 + hash(i) % 1000 / 1000.0))) / (2 + i % 9)",
        "found_ms": f"{NOW_MS} - (i % 1000) * 3600000",
        "fetches": f"if({fetched}, 1, 0)",
        "failures": "0",
        "outcome": f"if({fetched}, 'ok', NULL)",
        "fetched_ms": f"if({fetched}, {NOW_MS} - (i % 1000) * 3600000, NULL)",
        "stored_ms": f"if({fetched}, {NOW_MS} - (i % 1000) * 3600000, NULL)",
        "next_fetch_ms": f"if({fetched}, {NOW_MS} + (i % 1000) * 3600000, 0)::BIGINT",
        "interval_s": "2592000::BIGINT",
        "etag": f"if({fetched}, '\"' || i || '\"', NULL)",
        "last_modified": "NULL::VARCHAR",
        "digest": f"if({fetched}, upper(md5(i::VARCHAR)), NULL)",
    }
    select = ", ".join(f"{columns[name]} AS {name}" for name in PAGES.column_names)
    copy(sql, f"SELECT {select} FROM ({numbered(n, 0)})", target)


def numbered(n: int, salt: int) -> str:
    """Pages i of hosts h; sizes of hosts are skewed."""
    hosts = max(n // FAN, 1)
    h = f"floor(pow(hash(i + {salt}) % 1000003 / 1000003.0, 3) * {hosts})::BIGINT"
    return f"SELECT i, {h} AS h FROM range({n}) t(i)"


def make_links(
    sql: duckdb.DuckDBPyConnection, target: Path, pages: Path, n: int, round_: int
) -> None:
    """Found links: half lead to known pages, half to new ones."""
    known = f"SELECT url FROM '{pages}/*.parquet' USING SAMPLE {n // 2} ROWS (reservoir, {round_})"
    new = f"SELECT {url(f'new{round_}', 'h')} AS url FROM ({numbered(n - n // 2, round_)})"
    copy(
        sql,
        f"SELECT {round_}::INT AS round, 'https://source.example/' || (hash(url) % 20000) AS src, "
        "url AS dst, 'anchor' AS anchor, 'a' AS relation, false AS nofollow, "
        "(1 + hash(url) % 9)::INT AS depth, 0::INT AS hops, true AS first "
        f"FROM ({known} UNION ALL {new})",
        target,
    )


def copy(sql: duckdb.DuckDBPyConnection, select: str, target: Path) -> None:
    target.mkdir(parents=True)
    form = "FORMAT parquet, COMPRESSION zstd, PER_THREAD_OUTPUT true, OVERWRITE_OR_IGNORE true"
    sql.execute(f"COPY ({select}) TO '{target}' ({form})")


def layer_of(root: Path, folder: Path, round_: int) -> Layer:
    return Layer(
        round_,
        tuple(
            File(
                str(path.relative_to(root)),
                pq.read_metadata(path).num_rows,
                path.stat().st_size,
            )
            for path in sorted(folder.glob("*.parquet"))
        ),
    )
