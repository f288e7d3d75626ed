"""Crawl manuals that Debian packages as one web of many hosts, for its link graph.

    apt-get download PACKAGE && dpkg -x PACKAGE*.deb WEBS/PACKAGE
    python bench/linked_web.py WEBS CRAWL [--minutes 30]
    gossamer graph build CRAWL && python bench/graph.py CRAWL

Crawls those packages of FOLDERS that are unpacked, whole, unlike webs.py, and only up to the links:
nothing is inverted, ranked or indexed. Run it again to go on, also with further packages.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from urllib.parse import quote

from webs import SETTINGS

from gossamer import rounds
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.filenames import CONFIG_NAME
from gossamer.preparation import prepare_worker

FOLDERS = {
    "cppreference-doc-en-html": "usr/share/cppreference/doc/html",
    "erlang-doc": "usr/share/doc/erlang-doc",
    "fp-docs-3.2.2": "usr/share/doc/fp-docs/3.2.2",
    "gnuradio-doc": "usr/share/doc/gnuradio-doc/html",
    "lazarus-doc-2.2": "usr/share/doc/lazarus/2.2.6",
    "libfastutil-java-doc": "usr/share/doc/libfastutil-java",
    "libhbci4j-core-java-doc": "usr/share/doc/libhbci4j-core-java/api",
    "libpcl-doc": "usr/share/doc/libpcl-dev/html",
    "linux-doc-6.1": "usr/share/doc/linux-doc-6.1/html",
    "openjdk-17-doc": "usr/share/doc/openjdk-17-jre-headless/api",
    "petsc3.18-doc": "usr/share/doc/petsc3.18-doc",
    "python-dask-doc": "usr/share/doc/python-dask-doc/html",
    "python-pandas-doc": "usr/share/doc/python-pandas-doc/html",
    "python-scipy-doc": "usr/share/doc/python-scipy-doc/html",
    "python-statsmodels-doc": "usr/share/doc/python-statsmodels-doc/html",
    "python3.11-doc": "usr/share/doc/python3.11/html",
    "racket-doc": "usr/share/doc/racket",
    "rust-doc": "usr/share/doc/rust-doc/html",
    "sagemath-doc": "usr/share/doc/sagemath/html/en",
    "scala-doc": "usr/share/doc/scala-2.11/api/library",
    "twisted-doc": "usr/share/doc/twisted-doc/html",
    "vtk9-doc": "usr/share/doc/vtk9/html",
}
"""The folder of each package that is served, as a host."""
ENTRIES = ("index.html", "*/index.html", "*/*/index.html", "package.html")
"""The pages from which a host is crawled, as globs."""
ROUND_PAGES = 20_000
PARSE = """
[parse]
domain_cpu_s = 0
"""


def host_of(package: str) -> str:
    return f"{package.replace('.', '-')}.test"


def seeds(package: str, folder: Path) -> list[str]:
    paths = (path for entry in ENTRIES for path in sorted(folder.glob(entry)))
    names = (quote(path.relative_to(folder).as_posix()) for path in paths)
    return [f"http://{host_of(package)}/{name}" for name in names]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("webs", type=Path)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--minutes", type=float, default=30, help="start no round after this")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    folders = {
        package: options.webs / package / folder
        for package, folder in FOLDERS.items()
        if (options.webs / package / folder).is_dir()
    }
    docs = {host_of(package): folder for package, folder in folders.items()}
    with FakeWeb(Web(hosts=0, docs=docs), log_path="/dev/null") as web:
        settings = SETTINGS.format(address=web.address, deny=[], workers=options.workers)
        settings = settings.replace("pages = 100_000", f"pages = {ROUND_PAGES}", 1)
        settings = settings.replace("[fetch]", "[fetch]\nown = ['*.test']") + PARSE
        with opened(options.crawl, settings) as crawl:
            crawl.inject(
                url for package, folder in folders.items() for url in seeds(package, folder)
            )
            crawl_until(crawl, time.monotonic() + 60 * options.minutes)


def opened(folder: Path, settings: str) -> Crawl:
    """The crawl with these settings: its web has another address each time."""
    file = folder / CONFIG_NAME
    if not file.exists():
        return Crawl.create(str(folder), settings)
    file.write_text(settings, encoding="utf-8")
    return Crawl.open(str(folder))


def crawl_until(crawl: Crawl, ends_s: float) -> None:
    """Run rounds, and leave out what follows them."""
    crawl.work.prepare = prepare_worker
    with crawl.work.store.lock(), crawl.work.errors():
        for report in rounds.run(crawl.work):
            print(f"{report.seconds:7.1f} s  {report.step} {report.counts}", flush=True)
            idle = report.step == "generate" and not report.counts.get("pages")
            if idle or (report.step == "update" and time.monotonic() > ends_s):
                break


if __name__ == "__main__":
    main()
