"""What the pages of a round say about the forms of their URLs.

Pages whose URLs have the same form of some kind are a group: `/a?sid=1`, `/a?sid=2` and `/a`. Each
page is compared with the page that has the form as its URL, or if there is none, with the first of
the group. Their contents agree or differ (`fingerprints`); that a page is missing counts as well:

    group       agrees   /a?sid=1 and /a have the same contents: supports the rule
                differs  contradicts it, if both were fetched within FRESH_MS; pages change
    direction   only one of http://a/ and https://a/ exists, or a permanent redirect leads from one
                to the other: tells which of two directions a rule may have
    no page     /a is missing, but /a?sid=1 is not: contradicts rules that have one direction
    redirects   a permanent redirect from /a?sid=1 to /a supports, one in the other direction
                contradicts

If a rule drops several parameters, a pair supports it only if it differs in all of them, or if one
of the two is the page without them.

Pages of earlier rounds are known from `url_forms`: one page for each form, and each page itself.
A mirror host is believed only by its own statements: its pages redirect to the same path of the
other host, or name that as their canonical URL and have the same contents. So nobody captures the
pages of another host by copying them.

Cost: in proportion to the pages of a round. Joins of their forms with the layers of `url_forms`.
"""

from __future__ import annotations

from functools import lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xxhash
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.rules.url_rules import fingerprints, forms
from gossamer.rules.url_rules.rewriting import rewriter_of
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.tables import URL_FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

FRESH_MS = 86_400_000
"""Contents that were fetched further apart may differ because the page has changed."""
PERMANENT = (301, 308)
MISSING = ("not_found",)
"""Outcomes that say that there is no page."""
APPLIED = "rules"
"""The kind of the form that several rules give a URL; its name lists them, the one with the least
evidence first. That one alone is contradicted if the contents differ."""

VERDICTS = pa.schema(
    [
        ("rule", pa.string()),
        ("host", pa.string()),
        ("section", pa.string()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("key", pa.int64()),
        ("agrees", pa.bool_()),
        ("vote", pa.int32()),
        ("url", pa.string()),
        ("other", pa.string()),
        ("content", pa.binary()),
    ]
)
"""What a pair of URLs says about a rule. `agrees` may be null; `vote`: 1 forward, -1 backward."""
VERDICTS_DDL = (
    "rule string, host string, section string, kind string, name string, key long, "
    "agrees boolean, vote int, url string, other string, content binary"
)


def form_key(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode()) - (1 << 63)


def rule_id(host: str, section: str, kind: str, name: str) -> str:
    return xxhash.xxh3_64_hexdigest(f"{host}\n{section}\n{kind}\n{name}".encode())


def fetched_pages(work: Workspace, answers: DataFrame, round_: int) -> DataFrame:
    """The pages of a round with contents, and those that are missing (without fingerprint)."""
    documents = work.read("documents", round_)
    found = documents.where((F.col("outcome") == "parsed") & ~F.col("truncated")).select(
        *("url", "fetched_ms", "text_hash", "sketch", "digest", "canonical"),
        F.lit(False).alias("missing"),
    )
    missing = answers.where(F.col("outcome").isin(*MISSING)).select(
        *("url", "fetched_ms"),
        F.lit(None).cast("long").alias("text_hash"),
        F.lit(None).cast("binary").alias("sketch"),
        *(F.lit(None).cast("string").alias(name) for name in ("digest", "canonical")),
        F.lit(True).alias("missing"),
    )
    return found.unionByName(missing)


def forms_of(
    work: Workspace, pages: DataFrame, rules: tuple[str, ...], contradicted: tuple[str, ...]
) -> tuple[DataFrame, int]:
    """Rows of `url_forms` for pages, and their number: the page itself, and each of its forms.

    Forms whose rules were contradicted are left out: no more evidence changes these.
    """
    return work.map_rows(pages, partial(_form_rows, rules, contradicted), URL_FORMS.ddl)


def _form_rows(
    rules: tuple[str, ...], contradicted: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    rewriter, settled = rewriter_of(rules), _rule_ids(contradicted)
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for page in batch.to_pylist():
            url, missing = page["url"], page["missing"]
            if forms.split_url(url) is None:
                continue
            content = fingerprints.fingerprint(page["text_hash"], page["sketch"], page["digest"])
            if content is None and not missing:
                continue
            found = [
                form
                for form in forms.forms_of_url(url)
                if not missing or form.kind in forms.TARGETS
            ]
            if (mirror := _mirror_form(url, page["canonical"])) is not None:
                found.append(mirror)
            found = [form for form in found if _section_rule(url, form) not in settled]
            rewritten = rewriter.rewrite(url)
            if len(rewritten.rules) > 1 and not missing:
                section = forms.section_of(rewritten.url)
                supports = partial(rewriter.supports, section=section)
                names = " ".join(sorted(rewritten.rules, key=supports))
                found.append(forms.Form(APPLIED, names, rewritten.url))
            rows.append((form_key(url), form_key(url), "", "", url, page["fetched_ms"], content))
            rows += [
                (
                    form_key(f"{form.kind}\n{form.name}\n{form.url}"),
                    form_key(form.url),
                    *(form.kind, form.name, url, page["fetched_ms"], content),
                )
                for form in found
            ]
        yield _verdict_batch(rows, URL_FORMS.schema)


@lru_cache(maxsize=1)
def _rule_ids(paths: tuple[str, ...]) -> frozenset[str]:
    """The rules in files with a column `rule`; read once per process."""
    tables = [parquet.read_table(path, columns=["rule"]) for path in paths]
    return frozenset(rule for table in tables for rule in table.column("rule").to_pylist())


def _section_rule(url: str, form: forms.Form) -> str:
    """The rule of a section for a form of a URL. Contradicting it contradicts that of the host."""
    host = url.split("/", 3)[2]
    host = forms.base_host(host) if form.kind == forms.WWW else host
    return rule_id(host, forms.section_of(form.url), form.kind, form.name)


def _mirror_form(url: str, other: str | None) -> forms.Form | None:
    """The form on another host, if `other` is the same path of another host."""
    mine, theirs = forms.split_url(url), None if other is None else forms.split_url(other)
    if mine is None or theirs is None or mine.host == theirs.host:
        return None
    if forms.base_host(mine.host) == forms.base_host(theirs.host):
        return None
    if (mine.path, mine.query) != (theirs.path, theirs.query):
        return None
    form = mine._replace(host=theirs.host)
    return forms.Form(forms.HOST, theirs.host, form.url)


def _verdict_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def pairs_for_verdicts(work: Workspace, new: DataFrame, answers: DataFrame) -> DataFrame:
    """Pairs of pages with the same form, of which at least one is of this round.

    `new` holds rows of `url_forms`, materialised. Columns: key, kind, name; url, fetched_ms and
    fingerprint of a page; other, other_ms, other_print; and whether the other `is_form`.
    """
    every = new.withColumn("new", F.lit(True))
    if work.store.manifest.layers(URL_FORMS.name):
        every, _ = work.scratch(every.unionByName(_stored_forms(work, new, answers)))
    first = Window.partitionBy("key").orderBy("new", "url")
    heads = [F.first(name).over(first).alias(to) for name, to in _names_of("head").items()]
    members = every.where(F.col("kind") != "").select(
        "*", F.row_number().over(first).alias("place"), *heads
    )
    newest = Window.partitionBy("key").orderBy(F.desc("new"), "url")
    pages = (
        every.where(F.col("kind") == "")
        .withColumn("place", F.row_number().over(newest))
        .where(F.col("place") == 1)
        .select(
            F.col("key").alias("form"),
            *(F.col(name).alias(to) for name, to in _names_of("page").items()),
        )
    )
    joined = members.join(pages, on="form", how="left")
    is_form = F.col("page").isNotNull()
    one_new = F.col("new") | F.when(is_form, F.col("page_new")).otherwise(F.col("head_new"))
    unlike = is_form | ((F.col("place") > 1) & ~F.col("kind").isin(forms.HOST, APPLIED))

    def other(name: str) -> Any:
        return F.when(is_form, F.col(f"page{name}")).otherwise(F.col(f"head{name}"))

    return joined.where(one_new & unlike).select(
        *("key", "kind", "name", "url", "fetched_ms", "fingerprint"),
        other("").alias("other"),
        other("_ms").alias("other_ms"),
        other("_print").alias("other_print"),
        is_form.alias("is_form"),
    )


def _stored_forms(work: Workspace, new: DataFrame, answers: DataFrame) -> DataFrame:
    """The stored rows of `url_forms` that may be compared with new ones, which they are not.

    Pages that are `unchanged` have the contents of before now.
    """
    itself, variants = new.where(F.col("kind") == ""), new.where(F.col("kind") != "")
    wanted = variants.select("key").union(variants.select(F.col("form").alias("key"))).distinct()
    by_key = lsm.rows_for(work, URL_FORMS, wanted)
    of_forms = itself.select(F.col("key").alias("form")).distinct()
    cut = [
        layer.where(F.col("kind") != "").join(of_forms, on="form", how="left_semi")
        for layer in lsm.layer_frames(work, URL_FORMS)
    ]
    by_form = lsm.newest_rows(cut, "key").join(wanted, on="key", how="left_anti")
    # A page that was fetched again replaces itself.
    again = new.select("key", "url")
    stored = by_key.unionByName(by_form.select(*URL_FORMS.column_names))
    stored = stored.join(again, on=["key", "url"], how="left_anti")
    unchanged = answers.where(F.col("outcome") == "unchanged").select(
        "url", F.col("fetched_ms").alias("now_ms")
    )
    now_ms = F.coalesce("now_ms", "fetched_ms").alias("fetched_ms")
    return stored.join(unchanged, on="url", how="left").select(
        *(now_ms if name == "fetched_ms" else name for name in URL_FORMS.column_names),
        F.lit(False).alias("new"),
    )


def _names_of(prefix: str) -> dict[str, str]:
    """Columns of the page that another is compared with, and their names in the pair."""
    names = {"url": "", "fetched_ms": "_ms", "fingerprint": "_print", "new": "_new"}
    return {name: prefix + ending for name, ending in names.items()}


def find_verdicts(
    work: Workspace, pairs: DataFrame, answers: DataFrame, rules: tuple[str, ...]
) -> tuple[DataFrame, int]:
    """Rows of VERDICTS, from pairs of pages and from the permanent redirects of a round."""
    of_pairs, count = work.map_rows(pairs, _judge_pairs, VERDICTS_DDL)
    moved = answers.where(
        F.col("http_status").isin(*PERMANENT) & F.col("redirect_url").isNotNull()
    ).select("url", "redirect_url")
    of_redirects, more = work.map_rows(moved, partial(_judge_redirects, rules), VERDICTS_DDL)
    return reduce(DataFrame.unionByName, (of_pairs, of_redirects)), count + more


def _judge_pairs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = batch.to_pylist()
        known = [row for row in rows if None not in (row["fingerprint"], row["other_print"])]
        agree: dict[int, bool] = {}
        if known:
            some, others = (
                fingerprints.prints_of([row[name] for row in known])
                for name in ("fingerprint", "other_print")
            )
            same = fingerprints.contents_agree(some, others).tolist()
            agree = {id(row): each for row, each in zip(known, same, strict=True)}
        found: list[tuple[Any, ...]] = []
        for row in rows:
            agrees, vote = _verdict(row, agree.get(id(row)))
            if agrees is not None or vote:
                pair = row["url"], row["other"], row["fingerprint"]
                found += _verdict_rows(row["kind"], row["name"], row["key"], (agrees, vote, *pair))
        yield _verdict_batch(found, VERDICTS)


def _verdict(pair: dict[str, Any], agree: bool | None) -> tuple[bool | None, int]:
    """Whether a pair agrees (None: it does not matter), and its vote for a direction."""
    if agree:
        return (True if pair["is_form"] or _differs_in_verdict(pair) else None), 0
    if abs(pair["fetched_ms"] - pair["other_ms"]) > FRESH_MS:
        return None, 0
    if agree is False:
        return False, 0
    page, other = (pair[name] is not None for name in ("fingerprint", "other_print"))
    if page == other or not pair["is_form"]:
        return None, 0
    if pair["kind"] in forms.TARGETS:
        return None, -1 if page else 1
    return (False if page else None), 0


def _differs_in_verdict(pair: dict[str, Any]) -> bool:
    """Whether two URLs differ in each parameter of a rule: they say nothing of one that is equal.

    Two print views with different session ids agree, but both differ from what they would become
    without either parameter.
    """
    if pair["kind"] != forms.PARAMETER:
        return True
    mine, theirs = forms.split_url(pair["url"]), forms.split_url(pair["other"])
    if mine is None or theirs is None:
        return False
    names = pair["name"].split("&")
    return all(
        forms.parameter_values(mine, name) != forms.parameter_values(theirs, name) for name in names
    )


def _judge_redirects(
    rules: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    rewriter = rewriter_of(rules)
    for batch in batches:
        found: list[tuple[Any, ...]] = []
        for row in batch.to_pylist():
            url, target = row["url"], row["redirect_url"]
            content = fingerprints.fingerprint(None, None, target)
            back = rewriter.rewrite(target)
            if back.rules and back.url == url != target:
                for rule in back.rules:
                    found += _verdict_rows(
                        APPLIED, rule, form_key(url), (False, 0, target, url, None)
                    )
            for kind, name, vote in _differences(url, target):
                agrees = vote > 0 or kind in forms.TARGETS
                pair = (url, target) if vote > 0 else (target, url)
                found += _verdict_rows(kind, name, form_key(target), (agrees, vote, *pair, content))
        yield _verdict_batch(found, VERDICTS)


def _differences(url: str, target: str) -> Iterator[tuple[str, str, int]]:
    """The kinds of form by which the target of a redirect differs, and the direction it speaks for.

    A redirect may lead to https and to www at once.
    """
    mine, theirs = forms.split_url(url), forms.split_url(target)
    if mine is None or theirs is None or mine == theirs:
        return
    if (mirror := _mirror_form(url, target)) is not None:
        yield forms.HOST, mirror.name, 1
    elif forms.base_host(mine.host) == forms.base_host(theirs.host) and mine[2:] == theirs[2:]:
        if mine.scheme != theirs.scheme and ":" not in mine.host + theirs.host:
            yield forms.SCHEME, "", 1 if theirs.scheme == "https" else -1
        if mine.host != theirs.host:
            yield forms.WWW, "", 1 if theirs.host == forms.base_host(theirs.host) else -1
    else:
        yield from (
            (form.kind, form.name, 1) for form in forms.forms_of_url(url) if form.url == target
        )
        yield from (
            (form.kind, form.name, -1) for form in forms.forms_of_url(target) if form.url == url
        )


def _verdict_rows(
    kind: str, name: str, key: int, verdict: tuple[bool | None, int, str, str, bytes | None]
) -> Iterator[tuple[Any, ...]]:
    """Rows of VERDICTS for the rule of the section and that of the whole host.

    The part of an owner says nothing about the whole host, and nothing else says anything about it.
    """
    url = verdict[2]
    if kind == APPLIED:
        rules = name.split(" ")
        for rule in rules[:1] if verdict[0] is False else rules:
            yield rule, None, None, None, None, key, *verdict
        return
    parts = forms.split_url(url)
    if parts is None:
        return
    form = parts._replace(host=name) if kind == forms.HOST else forms.apply_form(parts, kind, name)
    if forms.are_strangers(url, form.url):
        return
    host = forms.base_host(parts.host) if kind == forms.WWW else parts.host
    section = forms.section_of(form.url)
    for each in (section,) if forms.is_owned(section) else (section, forms.WHOLE_HOST):
        yield rule_id(host, each, kind, name), host, each, kind, name, key, *verdict
