"""fetch: fetchlist → responses + WARC. `step.py` is the step.

The life of one URL:

  1. `generate` assigned it to a part, the same one for its whole registrable domain. `run` starts
     one task per part, or lets tasks look for parts that their workers may fetch
     (`egress_scheduling.py`), and `fetch_task.read_part` reads the task's rows.
  2. `frontier.py` puts it into a front queue by its score, and later into its host's back queue.
     By then the host's address has been looked up (`cached_resolver.py`), and the host waits in a
     heap until it may be contacted.
  3. Its host's turn comes. If the origin's robots.txt was not read within the last day, this turn
     is used to fetch it, and the URL is put back. Each redirect of a robots.txt takes a turn of
     the host it leads to. `host_book.py` keeps the file for this round and later ones. Then the
     same happens with files in which the host speaks about uses of its pages (`wish_files.py`).
  4. The URL's own turn comes (`fetch_loop.py`). `robots_txt.py` may forbid it, which takes no
     request. `scheme_fetchers.py` chooses the fetcher for its scheme: `http/fetcher.py`,
     `file_fetcher.py` or a plugin. Fetchers are bounded and connect only to addresses that
     `allowed_networks.py` allows.
  5. If a filter rule refuses the content type, the body is not downloaded (`filtered_type`).
     The result is an outcome (gossamer.tables.outcomes). `response_writer.py` appends a row and
     archives the exchange in a WARC file; the row holds the file's name and the offset.
  6. The host must now wait: the delay from the settings or from robots.txt, a multiple of its
     response time, Retry-After, or a back-off that grows while it fails. If the wait is too long,
     or the round's time is over, the remaining URLs of the host are `postponed`.
  7. The task ends and returns the files it wrote. `run` commits the files of all tasks at once, so
     files of a task that died or ran twice are never read.

All URLs of a host are in one task, so politeness needs no lock. That no task runs beside another
one with the same hosts is ensured by `fetch_lease.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.fetch.step import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # the engine takes long to import, and plugins need only other modules
        return import_module(f"{__name__}.step").run
    raise AttributeError(name)
