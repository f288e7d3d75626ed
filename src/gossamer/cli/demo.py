"""The demo: crawl, rank and index a web on loopback within minutes."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from rich.table import Table

from gossamer.api.crawl import Crawl
from gossamer.cli.step_progress import StepProgress
from gossamer.errors import UsageError
from gossamer.fakeweb import FakeWeb, Web, doc_folders
from gossamer.flow.rounds import ROUND
from gossamer.status.overview import page_counts
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import is_made_here

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from gossamer.storage.store import StepReport

HOSTS = 150
MARK = ".gossamer-demo"
ROUNDS = 12
MINUTES = 1.5
"""No round starts later than this; a machine may have 100,000 pages of manuals."""
SETTINGS = """\
# Settings of the demo. Its web is on loopback and needs no delays.
[filter]
scope = "any"
allow = ['^https?://[^/]+\\.test/']  # not the real web, which the manuals also link to

[generate]
pages = 5_000

[fetch]
delay_s = 0
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
host_overrides = {{ "*.test" = "{address}" }}
"""


def run_demo(folder: Path, console: Console, hosts: int = HOSTS) -> None:
    """Crawl the demo's web into `folder`, replacing an earlier demo, and print a summary."""
    started = time.monotonic()
    _clear_demo(folder)
    docs = doc_folders()
    web = Web(hosts=hosts, docs=docs)
    console.print(
        f"A web of {hosts} hosts, and {len(docs)} manuals of this machine, on loopback.",
        highlight=False,
    )
    with (
        FakeWeb(web) as fake,
        Crawl.create(str(folder), SETTINGS.format(address=fake.address)) as crawl,
    ):
        (folder / MARK).touch()
        crawl.inject(web.seeds())
        with StepProgress(crawl.work, console) as progress:
            steps = crawl.run(ROUNDS, MINUTES, progress.announce, progress.report)
        console.print(_demo_summary(crawl, steps, time.monotonic() - started))


def _clear_demo(folder: Path) -> None:
    """Remove an earlier demo. Raises UsageError if the folder holds anything else."""
    if not folder.exists():
        return
    remedy = "choose another folder with --folder"
    if not (folder / MARK).exists() and any(folder.iterdir()):
        raise UsageError(folder, "exists and was not created by gossamer demo", remedy)
    for path, _ in LocalBackend(folder).sizes(""):
        if path != MARK and not is_made_here(path):
            raise UsageError(folder, f"holds {path}, which gossamer demo did not write", remedy)
    shutil.rmtree(folder)


def _demo_summary(crawl: Crawl, steps: list[StepReport], seconds: float) -> Table:
    manifest = crawl.work.store.manifest
    requests = sum(layer.rows for layer in manifest.layers("responses"))
    crawling_s = sum(s.seconds for s in steps if s.step in ROUND)
    table = Table(title="The demo's crawl", show_header=False, title_justify="left")
    known = page_counts(crawl.work)
    hosts, fetched = known["hosts"], known.get("fetched", 0)
    rows = {
        "pages": f"{fetched:,} fetched of {sum(known.values()) - hosts:,} known",
        "hosts": f"{hosts:,}",
        "links": f"{sum(layer.rows for layer in manifest.layers('links')):,}",
        "pages/s": f"{fetched / crawling_s:,.0f} over {crawling_s:.1f} s of rounds",
        "requests/s": f"{requests / crawling_s:,.0f}, including errors and redirects",
    }
    for name in dict.fromkeys(step.step for step in steps):
        rows[name] = f"{sum(s.seconds for s in steps if s.step == name):.1f} s"
    rows["all"] = f"{seconds:.1f} s"
    for name, value in rows.items():
        table.add_row(name, value)
    return table
