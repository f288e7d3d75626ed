"""What do the lines that a site repeats change: near-duplicates, snippets, main texts, time?

    python bench/boilerplate.py FOLDER [FOLDER ...] [--pages N]

Each folder is a site of HTML pages, at most N of them, evenly spread. Its documents are indexed as
a crawl leaves them, with and without the step `boilerplate`. The first table has, for each site,
the share of the main texts' characters that its boilerplate takes, the pages that have some, and
those of them whose extractor was in doubt; the pairs of texts with J ≥ 0.8; and how many of the
snippets of up to ten results for each of QUERIES titles show boilerplate.

The second one is for planted pairs: articles of the first three folders under the templates of two
sites, one of each edited, and pages of the second site with a few words of their own. A template
takes the given share of a page. Similarities are those of the articles, without templates and
without the code under test.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpus import crawl
from crawl import tree_cpu_s
from near_duplicates import edited, real, similarity, synthetic
from parse import RULES
from rich.console import Console
from rich.table import Table

from gossamer import boilerplate, dedup, index
from gossamer.boilerplate.host_lines import SHARE
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.page_lines import LINE, HostLines
from gossamer.parse.content import parse_page
from gossamer.parse.page import Page
from gossamer.parse.task import main_and_boilerplate
from gossamer.search.searcher import Searcher
from gossamer.sketches import described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gossamer.api import Crawl

PAGES, ARTICLES, LITTLE = 600, 400, 200
"""Pages of a site, planted pairs, and pages with OWN words of their own."""
QUERIES, OWN = 40, 30
NEAR, FALSE = 0.9, 0.8
STEPS = boilerplate, dedup, index
TEMPLATES = 0.2, 0.5, 0.8
SETTINGS = "index.shards = 1\ndedup.similarity = 0.8\n"
_MARK = re.compile(r"</?b>")


class Harvest(NamedTuple):
    """Similar texts by site, snippets by site and query, and CPU seconds by step."""

    pairs: Mapping[str, int]
    snippets: Mapping[str, Sequence[str]]
    cpu_s: Mapping[str, float]
    lines: Mapping[str, HostLines]


def documents(folder: Path, count: int) -> Iterator[dict[str, Any]]:
    host = f"{folder.name}.test"
    paths = sorted(
        path for path in folder.rglob("*.htm*") if path.is_file() and not path.is_symlink()
    )
    for path in paths[:: max(-(-len(paths) // count), 1)]:
        url = f"http://{host}/{path.relative_to(folder)}"
        page = parse_page(Page(url, {"content-type": "text/html"}, path.read_bytes()), RULES)
        if page.outcome == "parsed":
            main, around = main_and_boilerplate(page.text, page.main_text)
            yield document(url, main or "", page.title or "") | {
                "boilerplate": around,
                "is_doubtful": page.is_doubtful,
                "headings": list(page.headings),
                "language": page.language,
            }


def document(url: str, main: str, title: str) -> dict[str, Any]:
    text_hash, sketch = described(main, title)
    return {
        "url": url,
        "host": url.split("/")[2],
        "digest": url,
        "title": title,
        "headings": [],
        "main_text": main,
        "text_hash": text_hash,
        "sketch": sketch,
        "content_type": "text/html",
        "nosnippet": False,
        "fetched_ms": 0,
        "rank": 1.0,
        "anchors": [],
    }


def clocked(step: Any, work: Any) -> float:
    began_s = tree_cpu_s()
    step.run(work)
    return tree_cpu_s() - began_s


def harvested(rows: Sequence[dict[str, Any]], engine: Engine, *, with_step: bool) -> Harvest:
    with tempfile.TemporaryDirectory() as folder:
        made = crawl(Path(folder, "crawl"), rows, engine, SETTINGS)
        steps = STEPS if with_step else STEPS[1:]
        cpu_s = {step.__name__: clocked(step, made.work) for step in steps}
        host_of = {row["url"]: row["host"] for row in rows}
        hosts = {*host_of.values()}
        pairs = dict.fromkeys(hosts, 0)
        for one, other in similar(made, rows):
            if host_of[one] == host_of[other]:
                pairs[host_of[one]] += 1
        searcher = Searcher.open(made.work)
        snippets = {
            host: [
                hit.snippet
                for title in titles(row["title"] for row in rows if row["host"] == host)
                for hit in searcher.search(f"{title} site:{host}").hits
            ]
            for host in hosts
        }
        found = made.dataset("boilerplate").where("lines IS NOT NULL").collect()
        return Harvest(
            pairs, snippets, cpu_s, {row["host"]: HostLines(row["lines"]) for row in found}
        )


def titles(found: Iterable[str]) -> list[str]:
    """Some titles as queries, without punctuation."""
    plain = [" ".join(re.findall(r"\w+", title)[:4]) for title in found]
    return plain[:: max(-(-len(plain) // QUERIES), 1)]


def similar(made: Crawl, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The pairs of pages whose texts were found to be similar, or equal to the first of a few."""
    own = {row["url"]: row for row in made.dataset("own_texts").where("is_repeated").collect()}
    urls: dict[int, str] = {}
    for row in rows:
        text = own[row["url"]]["text"] if row["url"] in own else row["text_hash"]
        if text is not None and (first := urls.setdefault(text, row["url"])) != row["url"]:
            yield first, row["url"]
    for row in made.dataset("similar").where(f"similarity >= {FALSE}").collect():
        if row["one"] in urls and row["other"] in urls:
            yield urls[row["one"]], urls[row["other"]]


def shows(snippet: str, lines: Collection[str]) -> bool:
    """Whether a whole line of a snippet is boilerplate."""
    shown = unescape(_MARK.sub("", snippet)).split(LINE)
    return any(line.strip(" …") in lines for line in shown)


def of_sites(folders: Sequence[Path], count: int, engine: Engine) -> Iterator[Table]:
    rows = [row for folder in folders for row in documents(folder, count)]
    before, after = (harvested(rows, engine, with_step=each) for each in (False, True))
    names = ("of characters", "pages with it", "in doubt", "pairs", "with step", "snippets")
    table = Table("site", "pages", "lines", *names, "show it", "with step")
    for host in sorted(before.pairs):
        ours = [row for row in rows if row["host"] == host]
        lines = after.lines.get(host, HostLines(()))
        repeated = [lines.divided(row["main_text"])[1] for row in ours]
        having = [row for row, text in zip(ours, repeated, strict=True) if text]
        shown = {line for text in repeated for line in text.split(LINE) if line}
        chars = sum(map(len, repeated)) / max(sum(len(row["main_text"]) for row in ours), 1)
        cells = (
            *(len(ours), len(shown), f"{100 * chars:.2f} %", len(having)),
            sum(row["is_doubtful"] for row in having),
            *(before.pairs[host], after.pairs[host], len(after.snippets[host])),
            *(sum(shows(each, shown) for each in run.snippets[host]) for run in (before, after)),
        )
        table.add_row(host, *map(str, cells))
    yield table
    costs = Table("CPU s", *(step.__name__ for step in STEPS))
    for name, run in (("without", before), ("with", after)):
        seconds = (run.cpu_s.get(step.__name__, 0.0) for step in STEPS)
        costs.add_row(name, *(f"{each:.1f}" for each in seconds))
    yield costs


def planted(articles: Sequence[str], share: float) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Documents of two sites, and the article of each by its URL."""
    draw = random.Random(3)  # noqa: S311  # reproducible
    own: dict[str, str] = {}
    for number, text in enumerate(articles):
        own[f"http://one.test/{number}"] = text
        own[f"http://two.test/{number}"] = edited(text, draw)
    for number, text in enumerate(synthetic(LITTLE)):
        own[f"http://two.test/little-{number}"] = " ".join(text.split()[:OWN])
    words = [f"t{number}" for number in range(5_000)]
    mean = sum(len(text.split()) for text in articles) / len(articles)
    length = int(mean * share / (1 - share))
    templates = {
        host: [" ".join(draw.choices(words, k=length // 10)) for _ in range(10)]
        for host in ("one.test", "two.test")
    }
    rows = []
    for url, text in own.items():
        first, *rest = templates[url.split("/")[2]]
        rows.append(document(url, LINE.join([first, text, *rest]), "A title"))
    return rows, own


def of_planted(articles: Sequence[str], engine: Engine) -> Table:
    table = Table(
        *("template", "step", f"J ≥ {NEAR}", "found", f"{FALSE} to {NEAR}", "found"),
        *("pairs", f"below {FALSE}"),
    )
    for share in TEMPLATES:
        rows, own = planted(articles, share)
        pairs = {}
        for number in range(len(articles)):
            pair = f"http://one.test/{number}", f"http://two.test/{number}"
            pairs[pair] = similarity(*map(own.__getitem__, pair))
        for with_step in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                made = crawl(Path(folder, "crawl"), rows, engine, SETTINGS)
                if with_step:
                    boilerplate.run(made.work)
                dedup.run(made.work)
                found = {tuple(sorted(pair)) for pair in similar(made, rows)}
            cells: list[Any] = [f"{100 * share:.0f} %", "with" if with_step else "without"]
            for low, high in ((NEAR, 2.0), (FALSE, NEAR)):
                wanted = [pair for pair, true in pairs.items() if low <= true < high]
                met = sum(pair in found for pair in wanted)
                cells += [len(wanted), f"{100 * met / max(len(wanted), 1):.2f} %"]
            wrong = sum(similarity(*map(own.__getitem__, pair)) < FALSE for pair in found)
            table.add_row(*map(str, (*cells, len(found), wrong)))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=PAGES)
    options = parser.parse_args()
    console = Console(width=150)
    with Engine(EngineConfig(workers=2)) as engine:
        for table in of_sites(options.folders, options.pages, engine):
            console.print(table)
        console.print(f"a line is boilerplate on more than {100 * SHARE:.0f} % of a site's texts")
        console.print(of_planted(real(options.folders[:3], ARTICLES), engine))


if __name__ == "__main__":
    main()
