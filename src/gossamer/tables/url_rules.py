"""Datasets of learned rules for URLs: see gossamer.rules.url_rules."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

URL_RULES = Dataset(
    "url_rules",
    "what the crawl has learned about spellings of URLs, with the evidence",
    key=("rule",),
    writer="update, duplicates",
    readers=("parse", "update", "duplicates"),
    newest_wins=True,
    columns=(
        Column("rule", "string", "a hash of host, section, kind and name"),
        Column("host", "string", "as in pages; of www, the one without www"),
        Column("section", "string", "first folder of the path; / for none; * for the whole host"),
        Column("kind", "string", "scheme, www, slash, index, case, parameter, order, host"),
        Column("name", "string", "index: the document; parameter: names; host: the other host"),
        Column(
            "target", "string", "of scheme, www and slash, the direction: see docs/url_rules.md"
        ),
        Column("state", "string", "learning, trial, active, contradicted, disabled"),
        Column("supports", "long", "groups of pages whose contents agreed, and redirects"),
        Column("contradictions", "long", "groups whose contents differed"),
        Column("forward", "long", "redirects and missing pages that speak for the first direction"),
        Column("backward", "long", "those that speak for the other direction"),
        Column("sections", "array<string>", "sections that support a rule for a whole host"),
        Column(
            "contents", "binary", "fingerprints of different contents that agreed, 64 bytes each"
        ),
        Column("examples", "array<string>", "pairs of URLs whose contents agreed"),
        Column("counterexamples", "array<string>", "pairs of URLs whose contents differed"),
        Column("rewritten", "long", "URLs that it rewrote, each counted once"),
        Column("sampled", "long", "those that are fetched all the same, as a sample"),
        Column("sampled_ms", "long", "when old ones were drawn last, or when it was new"),
        Column("settled", "boolean", "pages and aliases follow its state"),
        Column("first_round", "int", "the round that found the first evidence"),
        Column("last_round", "int", "the round that found the last evidence"),
    ),
)

URL_FORMS = Dataset(
    "url_forms",
    "for each fetched page and each of its forms, a page with its contents",
    key=("key",),
    writer="update",
    readers=("update",),
    newest_wins=True,
    columns=(
        Column("key", "long", "a hash of kind, name and the URL in this form"),
        Column("form", "long", "the key of the page with this URL"),
        Column("kind", "string", "as in url_rules; empty for the page itself"),
        Column("name", "string", "as in url_rules"),
        Column("url", "string", "the page that was fetched"),
        Column("fetched_ms", "long", "as in responses"),
        Column("fingerprint", "binary", "of its contents, 64 bytes; null if there is no page"),
    ),
)

_REWRITTEN = (
    Column("url", "string", "the URL as it was found"),
    Column("target", "string", "the URL that it was rewritten to"),
    Column("rules", "array<string>", "the rules that did it, as in url_rules"),
    Column("depth", "int", "as in links"),
    Column("hops", "int", "as in links"),
    Column("spelling", "string", "of url, as in pages"),
)

REWRITTEN = Dataset(
    "rewritten",
    "URLs in the links of the last parsed pages that rules have rewritten",
    key=(),
    writer="parse",
    readers=("update",),
    newest_wins=False,
    columns=_REWRITTEN,
)

ALIASES = Dataset(
    "aliases",
    "URLs that rules have rewritten, in all rounds",
    key=("url",),
    writer="update, duplicates",
    readers=("update", "duplicates", "index"),
    newest_wins=True,
    columns=(
        *_REWRITTEN,
        Column("fetched", "boolean", "it was fetched before a rule rewrote it"),
        Column("sampled", "boolean", "it is fetched all the same, as a sample"),
        Column("active", "boolean", "the target stands for it; false after it became a page again"),
        Column("round", "int", "the round that found it"),
    ),
)
