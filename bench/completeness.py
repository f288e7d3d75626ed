"""Is a crawl complete, and does a page's title find it? Real manuals, judged from their files.

    apt-get install python3.11-doc debian-reference debian-handbook
    python bench/completeness.py

A walk over the links with the standard library's HTML parser determines which pages are reachable.
A crawl over HTTP must fetch exactly these and record the same links.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import real_webs
from gossamer.search.searcher import Searcher


def main() -> None:
    hosts = real_webs.folders()
    if missing := [str(folder) for folder in hosts.values() if not folder.is_dir()]:
        sys.exit(f"{missing[0]} is missing: apt-get install {real_webs.PACKAGES}")
    walked = real_webs.judge(hosts)
    with tempfile.TemporaryDirectory(prefix="completeness-") as folder:
        started = time.perf_counter()
        crawl = real_webs.crawl(Path(folder, "crawl"), hosts)
        seconds = time.perf_counter() - started
        with crawl:
            pages, links = real_webs.fetched(crawl), real_webs.links(crawl)
            found = real_webs.known_items(walked, Searcher.open(crawl.work))
    lost, more = set(walked.pages) - set(pages), set(pages) - set(walked.pages)
    lost_links, more_links = walked.links - set(links), set(links) - walked.links
    print(
        "| host | pages | missing | extra | links | missing | extra "
        "| title queries | first | first three |"
    )
    print("|---" * 10 + "|")
    for host in hosts:
        counts = [Counter(page.host for page in some)[host] for some in (pages, lost, more)]
        counts += [
            Counter(src.host for src, _ in some)[host] for some in (links, lost_links, more_links)
        ]
        numbers = " | ".join(f"{count:,}" for count in counts)
        items, first, top3, _ = found[host]
        print(f"| {host} | {numbers} | {items:,} | {first / items:.1%} | {top3 / items:.1%} |")
    print(f"\n{len(pages):,} pages crawled, ranked and indexed in {seconds:.1f} s")


if __name__ == "__main__":
    main()
