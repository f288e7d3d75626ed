"""Datasets of URLs and hosts, and of what their servers answered."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

RHYTHM_S = -1
"""Stands in place of `update.interval_days` in rows of pages with a rhythm (listing_polls.py)."""

PAGES = Dataset(
    "pages",
    "the state of every known URL",
    key=("url",),
    writer="inject, refresh, update, filters, mark",
    readers=(
        "inject",
        "refresh",
        "filter",
        "mark",
        "generate",
        "parse",
        "update",
        "rank",
        "index",
        "postings",
    ),
    newest_wins=True,
    hashed="url_hash",
    columns=(
        Column("url", "string", "normalised URL"),
        Column("url_hash", "long", "XXH64 of the URL, with the seed 42 (xxhash64 of Spark)"),
        Column("host", "string", "host, with the port if it is not the scheme's default"),
        Column(
            "status",
            "string",
            "unfetched, fetched, redirected, excluded (by robots.txt or filters), gone, alias (see "
            "aliases)",
        ),
        Column(
            "source",
            "string",
            "how it was first found: seed, link, redirect, entry (a new one, of a feed or "
            "sitemap), or sample (by links of sampled pages only, see docs/choosing.md)",
        ),
        Column("depth", "int", "number of links from the nearest seed"),
        Column("hops", "int", "smallest number of redirects in a row that led to it"),
        Column("inlinks", "long", "links to it, each linking page counted once"),
        Column("cash", "long", "cash of OPIC, less what virtual_page has given; see opic"),
        Column("history", "long", "cash that it gave away in the last 120 days"),
        Column("found_ms", "long", "when it was first found"),
        Column("fetches", "int", "fetches that were answered with a page or as unchanged"),
        Column("failures", "int", "failures since the last answer, each of which doubles the wait"),
        Column("outcome", "string", "outcome of the last fetch (see docs/datasets.md, outcomes)"),
        Column("fetched_ms", "long", "when it was last requested"),
        Column("stored_ms", "long", "when the stored answer was fetched"),
        Column("changes", "double", "how often it changed, as far as is known (see recrawl)"),
        Column("watched_days", "double", "days in which it changed this often"),
        Column("rate", "double", "changes per day, as of its last visit or date; null: none yet"),
        Column("listed_ms", "long", "when a feed or sitemap that was read last gave it a date"),
        Column("dated_ms", "long", "the newest date that a feed or sitemap gave it"),
        Column("signals", "int", "newer dates since its last visit, each a sign of a change"),
        Column("doubt", "double", "the evidence of change in them (see recrawl); 0: none"),
        Column(
            "recall", "double", "share of its changes that dates announce; null: it has no dates"
        ),
        Column("main_text", "long", "hash of the main text of the stored answer, as in documents"),
        Column("kind", "string", "page, feed or sitemap; null: it could not be parsed so far"),
        Column("finds", "double", "new pages in it, in the last visits (see polling)"),
        Column("finding_days", "double", "days within which these appeared"),
        Column(
            "date_rate", "double", "true dates of stored pages that it gives a day (see polling)"
        ),
        Column("fit", "boolean", "the owner wants it (see fitness); null: it was never parsed"),
        Column("judged_links", "long", "links to it that the classifier could judge (see promise)"),
        Column("fit_links", "long", "the sum of what these promise, in 2^-20; null: no links"),
        Column("next_fetch_ms", "long", "due time: after an interval or the wait before a retry"),
        Column(
            "interval_s",
            "long",
            "update.interval_days when next_fetch_ms was computed; -1: by its own rhythm",
        ),
        Column("etag", "string", "validator of the stored answer"),
        Column("last_modified", "string", "validator of the stored answer"),
        Column("digest", "string", "SHA-1 of the stored body, base 32, as in WARC"),
        Column(
            "headers", "string", "those of the stored answer that parsers read, as in responses"
        ),
        Column(
            "spelling",
            "string",
            "a URL that links have instead of this one, which is requested only if robots.txt "
            "allows that, too; `#` at its end: links of other hosts; null: links have this one",
        ),
        Column("announced", "boolean", "a link to it was `announced`, see links"),
    ),
)

FETCHLIST = Dataset(
    "fetchlist",
    "the pages that a round will fetch",
    key=("round", "url"),
    writer="generate",
    readers=("fetch",),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round, from 1"),
        Column("url", "string", "normalised URL"),
        Column("host", "string", "as in pages"),
        Column("part", "int", "fetch task; the same for all hosts of a registrable domain"),
        Column("egress", "string", "group of workers that fetch its domain; null: any worker may"),
        Column("score", "double", "a host's pages are fetched in descending order (see scoring)"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in pages; 0: never fetched"),
        Column("asked", "boolean", "it was requested in an earlier round"),
        Column("etag", "string", "as in pages, for conditional requests"),
        Column("last_modified", "string", "as in pages, for conditional requests"),
        Column("digest", "string", "as in pages, to detect an unchanged body"),
        Column("stored_ms", "long", "as in pages"),
        Column("headers", "string", "as in pages, to detect a page that must be parsed again"),
        Column("spelling", "string", "as in pages"),
        Column("announced", "boolean", "as in pages, for parsers"),
    ),
)

RESPONSES = Dataset(
    "responses",
    "the outcome of each fetch",
    key=("round", "url"),
    writer="fetch",
    readers=("parse", "update", "invert", "graph", "rank", "index"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round"),
        Column("url", "string", "as requested"),
        Column("host", "string", "as in pages"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in the fetchlist"),
        Column("outcome", "string", "see docs/datasets.md, outcomes"),
        Column("detail", "string", "the reason, if the outcome is not specific enough"),
        Column("http_status", "int", "null if no answer came"),
        Column("fetched_ms", "long", "when it was requested"),
        Column("elapsed_ms", "int", "from the request to the last byte"),
        Column("content_type", "string", "header as received"),
        Column("body_bytes", "long", "size of the decoded body"),
        Column("truncated", "boolean", "the body is incomplete: cut, or the transfer broke off"),
        Column("digest", "string", "SHA-1 of the body, base 32"),
        Column("redirect_url", "string", "normalised target; null if it cannot be crawled"),
        Column("redirect_spelling", "string", "the target as the server wrote it, if it differs"),
        Column("retry_after_s", "long", "the wait that the server requested"),
        Column("etag", "string", "header"),
        Column("last_modified", "string", "header"),
        Column(
            "headers",
            "string",
            "lines `name: value` of the headers that parsers read; for `ok` with a 304, those of "
            "the stored answer as the 304 updates them",
        ),
        Column(
            "warc_file",
            "string",
            "file in the dataset warc that holds the body; null if there is none",
        ),
        Column("warc_offset", "long", "offset in bytes of the record that holds the body"),
        Column("announced", "boolean", "as in the fetchlist"),
    ),
)

HOSTS = Dataset(
    "hosts",
    "the state of each host that was contacted",
    key=("host",),
    writer="inject, refresh, fetch, update",
    readers=("inject", "refresh", "generate", "fetch", "parse", "update"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("depth", "int", "smallest depth of its pages in any fetchlist"),
        Column("address", "string", "IP address of the last contact"),
        Column(
            "robots",
            "array<struct<origin:string,fetched_ms:bigint,status:int,body:binary>>",
            "robots.txt of its origins: when it was fetched, the HTTP status (0: no answer), the "
            "body of a 200; kept for at most a day",
        ),
        Column(
            "sitemaps",
            "array<string>",
            "the sitemaps on other hosts that its robots.txt named when it was last read",
        ),
        Column(
            "wish_files",
            "array<struct<url:string,again_ms:bigint,status:int,body:binary>>",
            "its tdmrep.json and RSL file: when to request them again, the HTTP status (0: no "
            "answer yet), the body of a 200 that says something",
            added=True,
        ),
        Column("crawl_delay_s", "double", "the delay that robots.txt requests"),
        Column("ready_ms", "long", "earliest time of the next contact"),
        Column("failures", "int", "failures in a row"),
        Column(
            "away_ms",
            "long",
            "when the first page failed since the last one that the host answered with; null: none",
        ),
        Column("outcome", "string", "outcome of the last contact"),
        Column("contacted_ms", "long", "when the last contact ended"),
        Column("latency_ms", "int", "duration of the last contact"),
        Column("requests", "long", "requests in all rounds, including robots.txt and wish files"),
        Column("pages", "long", "pages requested in all rounds, each counted once"),
        Column("bytes", "long", "size of all decoded bodies in all rounds"),
    ),
)

DOMAINS = Dataset(
    "domains",
    "registrable domains with a seed, or with links from another domain",
    key=("domain",),
    writer="update",
    readers=("generate", "update"),
    newest_wins=True,
    columns=(
        Column("domain", "string", "registrable domain, by the whole Public Suffix List"),
        Column("seed", "boolean", "a seed is on it, or redirects to it"),
        Column("linked_from", "array<string>", "the first 100 other domains found to link to it"),
    ),
)

HABITS = Dataset(
    "habits",
    "how often the pages of hosts and of their folders change, and how true their dates are",
    key=("place",),
    writer="update",
    readers=("update",),
    newest_wins=True,
    columns=(
        Column(
            "place", "string", "a host as in pages; host/folder/; host/: its pages in no folder"
        ),
        Column("changes", "long", "how often its pages changed, as in pages, in 2^-20"),
        Column("watched_ms", "long", "the time in which they changed this often"),
        Column("told", "long", "changes that a date in a feed or sitemap announced, in 2^-20"),
        Column("untold", "long", "changes of pages with dates that no date announced, in 2^-20"),
        Column("met", "long", "dates that came before the visits that found these"),
        Column("dates", "long", "all dates that are newer than those before"),
        Column("listed_ms", "long", "the time within which feeds and sitemaps gave these dates"),
    ),
)

VIRTUAL_PAGE = Dataset(
    "virtual_page",
    "one row: the page of OPIC that receives what no link carries, and gives it to all pages",
    key=(),
    writer="inject, update, filters",
    readers=("inject", "filter", "generate", "update"),
    newest_wins=True,
    columns=(
        Column("pages", "long", "number of known pages"),
        Column("brought", "long", "cash that all seeds brought, in 2^-40 of what one brings"),
        Column("given", "long", "cash that it has given to each page, in all rounds"),
        Column("kept", "long", "cash that it has, because it cannot be divided evenly"),
    ),
)

SECTIONS = Dataset(
    "sections",
    "what the parts of sites hold that have ten pages or more, and what a visit to them brings",
    key=("section",),
    writer="generate, sections",
    readers=("generate", "filter", "serve"),
    newest_wins=True,
    columns=(
        Column("section", "string", "how its URLs begin after ://, with * for all hosts"),
        Column("domain", "string", "registrable domain; * for all hosts"),
        Column("level", "int", "1: a host, 2: a folder in it, …"),
        Column("known", "long", "number of pages"),
        Column("fetched", "long", "of these, pages with the status fetched"),
        Column("asked", "long", "pages that were requested, whatever the outcome"),
        Column("changed", "long", "fetched pages that changed since they were first fetched"),
        Column("fit", "long", "fetched pages that are fit, as in pages"),
        Column("worth", "double", "fit pages that a visit to its rest brings (see sections.worth)"),
        Column("trial", "double", "the share of its pages that are fetched to find this out"),
    ),
)

FINDS = Dataset(
    "finds",
    "where new pages were found, since `update.scoring` has the factor fit: by pairs of sections",
    key=("source", "target"),
    writer="update, generate, sections",
    readers=("generate",),
    newest_wins=False,
    columns=(
        Column("source", "string", "section of the pages that they were found on"),
        Column("target", "string", "section that they are in; null: the row counts visits"),
        Column(
            "pages",
            "long",
            "new pages, in 2^-20; one that several pages link to counts for each in equal parts; "
            "those found long ago count less",
        ),
    ),
)

DUE_TIMES = Dataset(
    "due_times",
    "how many pages are due in each span of ten minutes; kept up to date, so that a look at the "
    "queue does not have to read all pages",
    key=("from_ms", "interval_s", "fetched"),
    writer="inject, refresh, update, filters",
    readers=("inject", "refresh", "update", "filter"),
    newest_wins=False,
    columns=(
        Column("from_ms", "long", "begin of the span; 0: the pages are due at once"),
        Column("interval_s", "long", "as in pages; null for pages whose last fetch failed"),
        Column("fetched", "boolean", "status is fetched"),
        Column("pages", "long", "number of pages; those with status gone or alias do not count"),
    ),
)

WARC = Dataset(
    "warc",
    "request, response, revisit and metadata records, in the standard format",
    key=(),
    writer="fetch",
    readers=("parse",),
    newest_wins=False,
)
