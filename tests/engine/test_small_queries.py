"""Small queries give the rows that the server gives."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.engine.engine import engine_errors
from gossamer.engine.small import files, relations
from gossamer.engine.small.files import KEPT_COLUMN_BYTES, KEPT_OPEN
from gossamer.engine.small.limits import BESIDE_SAIL, Unsupported
from gossamer.errors import EngineError, StoreError
from tests.support.small_rows import both, columns, plan_of, rows_of, some_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.engine.engine import Engine
    from gossamer.engine.small.frames import Frame

pytestmark = pytest.mark.engine


def test_functions(engine: Engine) -> None:
    table = some_rows(random.Random(1), 120)  # noqa: S311  # reproducible
    rows = engine.rows(table.append_column("id", [range(120)]))
    rows = rows.withColumn("x", F.when(F.col("id") % 9 > 0, F.col("x")).otherwise(math.nan))
    made = rows.select("id", *(each.alias(f"_{n}") for n, each in enumerate(expressions())))
    ours, theirs = (columns(each.sort_by("id")) for each in both(made))
    shown = {f"_{n}": str(each) for n, each in enumerate(expressions())}
    wrong = {
        shown[name]: next((a, b) for a, b in zip(ours[name], theirs[name], strict=True) if a != b)
        for name in shown
        if ours[name] != theirs[name]
    }
    assert wrong == {}


def expressions() -> Sequence[Column]:
    k, n, x, s, many = map(F.col, ("k", "n", "x", "s", "many"))
    yes, real = F.col("is"), F.when(F.col("id") % 9 > 0, x)  # not NaN
    none = F.lit(None)
    return [
        *(k == n, k != n, k < n, n > real, s >= "a", s == none, yes == F.lit(True)),
        *(
            k.eqNullSafe(n),
            s.eqNullSafe(none),
            many == F.array(F.lit("a")),
            ~yes,
            yes & (k > 1),
            yes | (k > 1),
        ),
        *(yes & none, yes | none, k.isNull(), s.isNotNull(), k.isin(1, 3), s.isin("a", "b")),
        *(k + n, k - n, k * n, k + x, n * x, -n, F.abs("n"), F.when(n != 0, k / n), n / 2, n % 3),
        *(F.pmod("n", F.lit(3)), F.pmod("k", F.lit(2)), F.floor("n"), F.floor(real), F.ceil(real)),
        *(
            F.sqrt(F.abs("x")),
            F.log2("n"),
            F.log2("x"),
            F.pow("x", F.lit(2)),
            F.exp(k.cast("double")),
        ),
        *(F.greatest("k", "n"), F.least("k", "n", F.lit(2)), F.greatest(real, F.lit(0.5))),
        *(F.coalesce("k", "n"), F.coalesce("s", F.lit("-")), F.coalesce(k, F.lit(None), F.lit(5))),
        F.when(yes, k).when(k > 2, n).otherwise(F.lit(9)),
        F.when(yes, "s"),
        F.when(yes, s),
        *(n.cast("int"), k.cast("long"), F.when(real < 9, x).cast("int"), k.cast("double")),
        *(
            yes.cast("int"),
            n.cast("string"),
            yes.cast("string"),
            s.cast("binary"),
            k.cast("boolean"),
        ),
        *(
            F.length("s"),
            F.length("b"),
            F.lower("s"),
            F.trim("s"),
            F.reverse("s"),
            F.left("s", F.lit(2)),
        ),
        *(F.substring("s", 1, 2), F.substring("s", 2, 99), F.substring("s", 0, 2)),
        *(
            F.substr("s", F.instr("s", "b") + 1),
            F.instr("s", "b"),
            s.contains("b"),
            s.startswith("a"),
        ),
        *(s.endswith("c"), s.rlike("[0-9]+$"), F.replace("s", F.lit("b"), F.lit("-"))),
        *(F.regexp_replace("s", "([a-z])b", "$1-"), F.regexp_extract("s", "([a-z]+)[.]", 1)),
        F.regexp_extract_all("s", F.lit("([0-9])"), F.lit(1)),
        *(F.split_part("s", F.lit("/"), F.lit(3)), F.split_part("s", F.lit("."), F.lit(1))),
        *(F.substring_index("s", ".", 1), F.substring_index("s", ".", -2), F.split("s", "[./]")),
        *(
            F.lpad("s", 4, "0"),
            F.concat("s", F.lit("-"), n.cast("string")),
            F.concat_ws("/", "s", "s"),
            F.concat_ws(" - ", F.lit("ä"), n.cast("string"), none.cast("string"), "s"),
            F.concat_ws("", k.cast("string"), "s"),
            F.concat_ws("/", "s"),
        ),
        *(F.xxhash64("s"), F.xxhash64("n"), F.xxhash64("k"), F.xxhash64("b"), F.xxhash64("s", "n")),
        *(F.size("many"), F.slice("many", 1, 2), F.slice("many", F.lit(2), F.size("many"))),
        *(F.sort_array("many"), F.sort_array("many", asc=False), F.array_distinct("many")),
        *(F.array_join("many", ","), F.array_union("many", F.array(F.lit("a"), F.lit("z")))),
        *(F.concat("many", "many"), F.array_contains("many", "a"), F.reverse("many")),
        *(F.array("k", "n"), F.array("s"), F.sequence(F.lit(1), k + 1), F.sort_array("pairs")),
        F.sort_array("pairs", asc=False),
        F.sort_array(F.array("k", "n", F.lit(2))),
        F.sort_array(F.array("k", "n", F.lit(2)), asc=False),
        F.sort_array(
            F.transform("many", lambda each: F.struct(F.length(each).alias("n"), each.alias("t")))
        ),
        F.transform("many", F.length),
        F.transform("many", lambda each, place: F.concat(each, place.cast("string"))),
        F.transform("many", lambda each: F.concat(each, "s")),
        F.filter("many", lambda each: each > "a"),
        F.filter("pairs", lambda each: each["size"] > k),
        F.exists("many", lambda each: each == "a"),
        *(
            F.array("s")[0],
            F.col("pairs.name"),
            F.struct(k, s.alias("t")),
            F.struct(k, s.alias("t"))["t"],
        ),
        F.expr("k IS NOT NULL AND s IN ('a', 'b') OR NOT is"),
        F.expr("n div 3"),
        F.expr("k + 1 >= 2 AND s <> 'a'"),
        F.row_number().over(Window.partitionBy("k").orderBy("n", "x", "s", "is", "b")),
        F.rank().over(Window.partitionBy("k").orderBy(F.desc("n"))),
        F.dense_rank().over(Window.partitionBy("is").orderBy(F.asc_nulls_last("n"))),
        F.sum(F.coalesce("n", F.lit(0))).over(Window.partitionBy("k").orderBy("x")),
        F.count("*").over(Window.partitionBy("k", "is")),
        F.max("n").over(Window.partitionBy("k")),
        F.first("n").over(Window.partitionBy("k").orderBy("n")),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_relations(engine: Engine, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # reproducible
    one = engine.rows(some_rows(draw, (40, 1, 20)[seed]))
    other = (
        engine.rows(some_rows(draw, 20))
        .where(F.lit(seed < 2))
        .select("k", *(F.col(name).alias(f"{name}2") for name in ("n", "s", "is")))
    )
    for query in queries(one, other):
        ours, theirs = both(query)
        assert rows_of(ours) == rows_of(theirs), query


def queries(one: DataFrame, other: DataFrame) -> Sequence[DataFrame]:
    kinds = ("inner", "left", "right", "full", "left_semi", "left_anti")
    plain = one.drop("many", "pairs")
    sums = (F.sum("n"), F.min("x"), F.max("s"), F.count("*"), F.count("s"), F.countDistinct("s"))
    left, right = plain.alias("left"), other.alias("right")
    return [
        *(plain.join(other, "k", how) for how in kinds),
        *(plain.withColumn("s2", F.col("s")).join(other, ["k", "s2"], how) for how in kinds),
        left.join(right, F.col("left.s") == F.col("right.s2"), "left").select("left.k", "s2"),
        plain.select("n").crossJoin(other.select("n2")),
        plain.groupBy("k").agg(*sums),
        plain.groupBy("k", "is").agg(F.avg("x").alias("x"), F.count_if(F.col("n") > 0).alias("n")),
        plain.agg(*sums),
        plain.groupBy("k").agg(F.max_by("k", "n").alias("a"), F.min_by("k", "x").alias("b")),
        plain.groupBy("k").agg(
            F.max(F.struct(F.coalesce("s", F.lit("")).alias("s"))).alias("best")
        ),
        plain.groupBy("k").agg(F.sort_array(F.collect_list("s")).alias("all")),
        plain.groupBy("k").agg(F.sort_array(F.collect_set("s")).alias("all")),
        plain.groupBy("k").agg((F.sum("n") + F.coalesce(F.max("n"), F.lit(1))).alias("n")),
        plain.groupBy((F.col("n") % 2).alias("odd")).agg(F.bool_or("is").alias("some")),
        *(
            plain.distinct(),
            plain.select("k", "s").distinct(),
            plain.select("k").dropDuplicates(["k"]),
        ),
        plain.select("k", "s").unionByName(plain.select("s", "k")),
        plain.select("k").unionByName(plain.select("k", "n"), allowMissingColumns=True),
        plain.select("k").union(plain.select("n")),
        one.select("k", F.explode("many").alias("item")),
        one.withColumn("item", F.explode("many")).select("k", "item"),
        one.select("k", F.posexplode("many").alias("place", "item")),
        one.select("s", F.explode("pairs").alias("pair")).select("s", "pair.name", "pair.size"),
        plain.where("k IS NOT NULL").orderBy(F.desc("k"), "s").select("k", "s"),
        plain.fillna({"n": 7, "s": "-"}).withColumnRenamed("n", "m").drop("x"),
        plain.select("k", "n").toDF("a", "b").where((F.col("a") > 1) | F.col("b").isNull()),
        plain.withColumns({"n": F.col("n") + 1, "new": F.lit("new")}).limit(1_000),
        plain.select("*", F.lit(1).alias("one")).where(F.col("is")),
    ]


def test_what_is_large_or_unknown_is_left_to_the_server(engine: Engine) -> None:
    large = engine.spark.range(1_000_000)
    assert large.count() == 1_000_000
    assert engine.spark.range(3).select(F.sha2(F.lit("a"), 256)).count() == 3
    plan = plan_of(large)
    with pytest.raises(Unsupported, match="1000000 rows"):
        relations.run(plan.root)


def test_lists_may_have_more_items_than_a_query_has_rows(engine: Engine) -> None:
    items = pa.array([["", "a", "b"] * 7_000, None, ["", "c"] * 7_000])
    rows = engine.rows(pa.table({"items": items, "n": [1, 2, 3]}))
    texts = F.filter("items", lambda item: (F.length(item) > 0) & (F.col("n") != 2))
    query = rows.select("n", F.slice(texts, 1, 3).alias("found"))
    assert relations.run(plan_of(query).root).rows == 3
    assert query.collect() == [(1, ["a", "b", "a"]), (2, None), (3, ["c", "c", "c"])]
    numbers = F.sequence(F.lit(1), F.lit(BESIDE_SAIL.items + 1))
    many = rows.select(F.size(F.filter(numbers, lambda n: n > 1)).alias("n"))
    with pytest.raises(Unsupported, match="rows"):
        relations.run(plan_of(many).root).table()
    assert many.first() == (BESIDE_SAIL.items,)


def test_what_is_an_error_is_one(engine: Engine) -> None:
    rows = engine.rows(pa.table({"n": [1 << 62], "none": [0], "x": [math.nan], "s": ["x"]}))
    wrong = [F.col("n") / F.col("none"), F.col("n") % 0, F.col("n").cast("int")]
    wrong += [F.col("x").cast("long"), F.col("s").cast("int"), F.array("n")[1]]
    for each in wrong:
        with pytest.raises(PySparkException):
            rows.select(each.alias("made")).collect()
    twice = rows.alias("a").join(rows.alias("b"), F.col("a.s") == F.col("b.s"))
    for query in (twice.select("n"), rows.groupBy("s").agg(F.col("n")), rows.select("N2")):
        with pytest.raises(PySparkException):
            query.collect()


def test_a_column_of_a_frame_is_that_of_no_other(engine: Engine) -> None:
    one = engine.rows(pa.table({"k": [1], "n": [1]}))
    other = engine.rows(pa.table({"k": [1], "n": [2]}))
    both = one.join(other, one.k == other.k)
    assert both.select(other.n, one.n).collect() == [(2, 1)]


def test_a_file_that_cannot_be_read_is_an_error_of_the_server(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "damaged.parquet").write_bytes(b"this is no Parquet file")
    with pytest.raises(EngineError, match="Corrupt footer"), engine_errors():
        engine.read([str(tmp_path / "damaged.parquet")], "n long").collect()


def damage_column(path: Path, name: str) -> None:
    """Overwrite the pages of a column, which the footer does not notice."""
    meta = pq.read_metadata(path)
    chunk = meta.row_group(0).column(meta.schema.names.index(name))
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    data = bytearray(path.read_bytes())
    data[begin : begin + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(data)


def test_only_the_columns_that_a_query_uses_are_read(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"k": [1, 2], "s": ["a", "b"], "n": [3, 4]}), path)
    damage_column(path, "s")
    read = engine.read([str(path)], "k long, s string, n long")
    joined = read.join(read.select("k", F.col("n").alias("m")), on="k").where("m > 3")
    assert joined.select("k", "n").collect() == [(2, 4)]
    with pytest.raises(EngineError), engine_errors():
        joined.collect()


def test_few_of_many_files_stay_open(engine: Engine, tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number:03}.parquet") for number in range(3 * KEPT_OPEN)]
    for number, path in enumerate(paths):
        pq.write_table(pa.table({"n": [number], "s": ["a"]}), path)
    before = len([*Path("/proc/self/fd").iterdir()])
    frame = relations.run(plan_of(engine.read(paths, "n long, s string, t string")).root)
    assert len([*Path("/proc/self/fd").iterdir()]) - before <= KEPT_OPEN
    assert frame.table().to_pydict() == {
        "n": [*range(len(paths))],
        "s": ["a"] * len(paths),
        "t": [None] * len(paths),
    }


def test_a_division_by_zero_is_the_servers_although_its_value_is_known(engine: Engine) -> None:
    rows = engine.rows(pa.table({"n": [1, 2], "by": [0, 1]}))
    divided = F.col("n") / F.col("by")
    guarded = F.when(F.col("by") > 0, divided).alias("guarded")
    assert relations.run(plan_of(rows.select(guarded)).root).table()[0].to_pylist() == [None, 2.0]
    for both_ways in ([guarded, divided.alias("x")], [divided.alias("x"), guarded]):
        with pytest.raises(Unsupported, match="zero"):
            relations.run(plan_of(rows.select(*both_ways)).root)


def test_equal_parts_of_expressions_have_equal_values(engine: Engine) -> None:
    rows = engine.rows(pa.table({"n": [1, 2], "m": [5, 7]}))
    more, other = F.col("n") + F.col("m"), F.col("n") + F.lit(1.0)
    items = F.transform(F.array("n", "m"), lambda item: item + F.col("n"))
    made = more, more * more, other, items, F.abs(more)
    ours, theirs = both(rows.select(*(each.alias(f"c{n}") for n, each in enumerate(made))))
    assert ours == theirs
    assert ours["c1"].to_pylist() == [36, 81]


def test_a_relation_at_several_places_of_a_query_is_run_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = engine.rows(pa.table({"n": [1, 2, 3]})).where("n > 1")
    query = rows.join(rows.select(F.col("n").alias("m")), on=F.col("n") == F.col("m")).union(
        rows.select("n", (F.col("n") * 10).alias("m"))
    )
    asked: list[str] = []
    for name in ("filter", "join", "local_relation"):
        monkeypatch.setitem(
            relations._RELATIONS, name, counted(name, relations._RELATIONS[name], asked)
        )
    for _ in range(2):
        found = relations.run(plan_of(query).root).table().to_pydict()
        assert found == {"n": [2, 3, 2, 3], "m": [2, 3, 20, 30]}
    assert Counter(asked) == {"filter": 2, "join": 2, "local_relation": 2}


def counted(name: str, run: Callable[[Any], Frame], asked: list[str]) -> Callable[[Any], Frame]:
    def execute(relation: Any) -> Frame:
        asked.append(name)
        return run(relation)

    return execute


def test_small_columns_of_a_file_are_read_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = tmp_path / "rows.parquet", []
    pq.write_table(pa.table({"n": [1, 2], "s": ["a" * KEPT_COLUMN_BYTES, "b"]}), path)
    parquet_file = pq.ParquetFile

    def noted(*args: Any, **more: Any) -> pq.ParquetFile:
        opened.append(args)
        return parquet_file(*args, **more)

    monkeypatch.setattr(pq, "ParquetFile", noted)
    read = engine.read([str(path)], "n long, s string, t string")
    assert read.select("n", "t").collect() == [(1, None), (2, None)]
    times = len(opened)
    assert read.where("n > 1").select("n", "t").collect() == [(2, None)]
    assert len(opened) == times
    for more in (1, 2):
        assert read.where("n > 1").select("s").collect() == [("b",)]
        assert len(opened) == times + more


def test_texts_that_repeat_are_kept_as_numbers(engine: Engine, tmp_path: Path) -> None:
    texts = ["http://a.test/" + "long" * 500, None, "", "ä"]
    rows = pa.table({"s": texts * 1_000, "n": range(4_000), "own": [f"{n}" for n in range(4_000)]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    read = engine.read([str(tmp_path / "rows.parquet")], "s string, n long, own string")
    for _ in (1, 2):
        assert relations.run(plan_of(read).root).table().equals(rows)
        assert read.where("n % 4 < 2").select("s").distinct().count() == 2
    kept = [each for (_, name, _), each in files._columns.items() if name == "s"]
    assert any(pa.types.is_dictionary(each.type) and len(each) == 4_000 for each in kept)


def test_a_file_that_is_replaced_is_read_again(engine: Engine, tmp_path: Path) -> None:
    path, other = tmp_path / "rows.parquet", tmp_path / "other.parquet"
    for numbers in ([1], [2], [3, 4]):
        pq.write_table(pa.table({"n": numbers}), other)
        other.replace(path)
        assert engine.read([str(path)], "n long").toArrow().to_pydict() == {"n": numbers}


def test_rows_that_cannot_be_read_are_not_written(engine: Engine, tmp_path: Path) -> None:
    path, written = tmp_path / "rows.parquet", tmp_path / "written"
    pq.write_table(pa.table({"s": ["a", "b"]}), path)
    damage_column(path, "s")
    with pytest.raises(EngineError), engine_errors():
        engine.read([str(path)], "s string").write.parquet(str(written))
    assert not [*written.rglob("*.parquet")]


def test_a_folder_that_cannot_be_written_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file/made: not a directory"), engine_errors():
        engine.rows(pa.table({"n": [1]})).write.parquet(str(tmp_path / "file" / "made"))
