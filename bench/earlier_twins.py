"""What could parse save on a body that an earlier round has parsed under another URL?

    python bench/earlier_twins.py [FOLDER] [--pages 60] [--dust 300]

FOLDER holds pages as .html. Of such a twin, main text, language and sketch could be copied from the
document of the other page. Its relative links lead elsewhere, so the body is read, and its tree
built and walked, for them. Prints, in CPU ms per page on one core, the best of five runs:

  whole      decoding, parsing and describing a page
  twin       the same without main text, language and sketch
  links      only decoding, tree, and the hrefs of its elements: the least that links could cost
             if a second walk were written for them

and for a crawl of the sites of `gossamer.fakeweb.dust`, without and with learned rules, how many of
the parsed pages had a body that another page had in an earlier round, or in the same one. Those of
the same round are read once already (`parse/latest.py`).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from dust import SETTINGS
from parse import DOCS, RULES, URL, cost_ms, pages_of, tree_of

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.parse.charset import decode
from gossamer.parse.html import article
from gossamer.parse.html.metadata import metadata
from gossamer.parse.html.walk import findings
from gossamer.parse.language import language_of
from gossamer.sketches import described


def twin(body: bytes) -> object:
    tree = tree_of(decode(body, None)[0])
    found = findings(tree, RULES)
    found.references.links(URL, URL, RULES.urls)
    return tree, found


def whole(body: bytes) -> None:
    tree, found = twin(body)  # type: ignore[misc]
    found.lines.visible()
    metadata(found.head_metadata, URL, title=found.title)
    main = article(tree, found)
    language_of(main)
    described(main, found.title)


def links(body: bytes) -> list[str | None]:
    tree = tree_of(decode(body, None)[0])
    return [node.attributes.get("href") for node in tree.css("a, area, link, base")]


def print_occurrences(pages: int, *, learn: bool) -> None:
    web = Web(hosts=0, dust_pages=pages)
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="twins-") as folder:
        settings = SETTINGS.format(address=fake.address, per_round=500, learn=str(learn).lower())
        with Crawl.create(str(Path(folder, "crawl")), settings) as crawl:
            crawl.inject(web.seeds())
            crawl.run()
            columns = crawl.dataset("responses").where("outcome = 'ok'").select("round", "digest")
            rows = sorted(columns.collect())
    first: dict[str, int] = {}
    earlier = same = 0
    for round_, digest in rows:
        before = first.setdefault(digest, round_)
        earlier += before < round_
        same += before == round_
    same -= len(first)
    print(
        f"{'with' if learn else 'without'} rules: {len(rows):,} pages parsed, {earlier:,} "
        f"({earlier / len(rows):.1%}) after a twin of an earlier round, {same:,} "
        f"({same / len(rows):.1%}) after one of the same round"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DOCS)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--dust", type=int, default=300)
    options = parser.parse_args()
    bodies = pages_of(options.folder, options.pages)
    base = cost_ms(whole, bodies)
    for name, ms in (
        ("whole", base),
        ("twin", cost_ms(twin, bodies)),
        ("links", cost_ms(links, bodies)),
    ):
        print(f"{name:8}{ms:8.2f} ms{ms / base:8.0%}")
    for learn in (False, True):
        print_occurrences(options.dust, learn=learn)


if __name__ == "__main__":
    main()
