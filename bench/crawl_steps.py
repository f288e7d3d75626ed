"""How long does each step of a whole crawl take, in several versions of Gossamer?

    python bench/crawl_steps.py FOLDER [--src SRC]... [--repeat 5]

FOLDER holds a manual, which `gossamer crawl` makes searchable as in searchable.py. Each SRC is the
`src` of a checkout, by default of this one. Their crawls take turns, so that all of them meet the
same load. Printed are the milliseconds of each step in its fastest run, of what comes before,
between and after the steps, and the least wall and CPU time of a whole crawl. Each checkout must
have crawled once before, so that numba's machine code is there: with --repeat 2 or more it has.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from crawl import adopt_orphans, children_s
from local_settings import local_settings
from searchable import HOST, OWN, reap_orphans

import gossamer as package
from gossamer.backends import open_backend
from gossamer.fakeweb import FakeWeb, Web
from gossamer.store import Store

WALL, CPU = "wall", "CPU"


def crawled(src: Path, fake: FakeWeb) -> dict[str, float]:
    """Crawl once with the code in `src`; return the seconds of each part."""
    command = [str(Path(sys.executable).with_name("gossamer")), "crawl"]
    with tempfile.TemporaryDirectory(prefix="crawl-steps-") as folder:
        Path(folder, "gossamer.toml").write_text(local_settings(fake.address, OWN))
        began_s, before_s = time.time(), children_s()
        subprocess.run(
            [*command, folder, f"http://{HOST}/"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(src)},
        )
        ended_s = time.time()
        reap_orphans(fake.pid)
        cpu_s = children_s() - before_s
        reports = Store.open(open_backend(folder)).manifest.history
    steps = {f"{report.step} {report.round}": report.seconds for report in reports}
    start_s = reports[0].started_ms / 1000 - began_s
    end_s = ended_s - reports[-1].started_ms / 1000 - reports[-1].seconds
    between_s = ended_s - began_s - start_s - end_s - sum(steps.values())
    whole = {WALL: ended_s - began_s, CPU: cpu_s}
    return {"start": start_s, **steps, "end": end_s, "between": between_s, **whole}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--src", type=Path, action="append", metavar="SRC")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    sources = [src.resolve() for src in options.src or [Path(package.__path__[0]).parent]]
    adopt_orphans()
    found: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    for src in sources:
        compileall.compile_dir(src / "gossamer", quiet=1)
    with FakeWeb(Web(hosts=0, docs={HOST: options.folder}), log_path="/dev/null") as fake:
        for _ in range(options.repeat):
            for src in sources:
                found[str(src)].append(crawled(src, fake))
    for number, src in enumerate(found, 1):
        print(f"{number}: {src}")
    print(f"{'ms':16}", *(f"{number:8}" for number in range(1, len(found) + 1)))
    for part in found[str(sources[0])][0]:
        least = (min(run.get(part, 0) for run in runs) for runs in found.values())
        print(f"{part:16}", *(f"{1000 * each:8.0f}" for each in least))


if __name__ == "__main__":
    main()
