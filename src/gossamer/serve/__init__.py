"""serve: the search page and API of one crawl, over HTTP.

Reads index, and of other datasets the rows of a page that somebody looks at. A commit of `index`
is seen within a second, and the next request is answered from the new shards; the old ones stay
mapped until their last search is done, so nothing is ever half old and half new.

    query.py      what a person types → a tree
    resolve.py    what it asks about other pages, put into the tree; similar.py has telling words
    broker.py     a tree → what nodes are asked, and their replies → the answer: answers.py;
                  messages.py is all that goes between, placing.py the order of what was found
    node.py       some shards, which assembly.py opens, and what they answer
    ranking.py    a tree → what tantivy looks for: the one page on ranking; filters.py for dates,
                  sites and the like; statistics.py tells how much a word weighs
    profiles.py   the order of the best, by our formula or a published one; recency.py for the new
    snippets.py   why a page was found; spelling.py what was meant, or may be typed
    pages.py      what is known of a page, its links; copies.py its stored copy, without rights;
                  pictures.py the picture it names
    dashboard.py  what the crawl does, for people; charts.py draws it
    search.py     one process that has the whole index; live.py has that of the newest
    cluster/      processes that search, here and on other machines; front.py asks them
    web/          pages and API (starlette); views.py and templates/ are their HTML; cache.py keeps
                  answers
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.serve.cluster.children import Children

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from starlette.types import ASGIApp

    from gossamer.config import ServeConfig
    from gossamer.workspace import Workspace

MAX_PROCESSES = 8
"""That search, where nobody says how many: of more, few users have the use."""
_say = partial(print, flush=True)


def serve(
    work: Workspace,
    host: str,
    port: int,
    announce: Callable[[str], object] = _say,
) -> None:
    """Listen until SIGINT or SIGTERM; answers that are being made are finished first.

    Port 0 stands for any free one; `announce` is told the URL. Raises UsageError where the
    address cannot be had.
    """
    from gossamer.serve.web import app

    processes = _processes(work.config.serve)
    with ExitStack() as stack:
        stack.enter_context(_ends_in_order())
        children = stack.enter_context(Children(work, processes)) if processes > 1 else None
        groups = work.config.serve.nodes or ((children.addresses,) if children else ())
        _run(app(work, groups), host, port, announce)


def serve_node(
    work: Workspace,
    host: str,
    port: int,
    shards: Collection[int] = (),
    announce: Callable[[str], object] = _say,
) -> None:
    """Answer to the brokers of other processes until SIGINT or SIGTERM, for these shards or all.

    Raises UsageError as `serve` does.
    """
    from gossamer.serve.cluster.listen import listen
    from gossamer.serve.live import Live

    with _listen(host, port) as listener:
        announce(f"{host}:{listener.getsockname()[1]}")
        listen(Live(work, shards=shards), listener)


@contextmanager
def _ends_in_order() -> Iterator[None]:
    """Uvicorn raises the signal that ended it once more: SIGTERM shall not end us half-way then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _processes(config: ServeConfig) -> int:
    """Processes on this machine that search."""
    if config.nodes:
        return 0
    return config.processes or min(os.cpu_count() or 1, MAX_PROCESSES)


def _run(application: ASGIApp, host: str, port: int, announce: Callable[[str], object]) -> None:
    from gossamer.serve.web.protocol import server

    with _listen(host, port) as listener, suppress(KeyboardInterrupt):
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}/")
        server(application).run([listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"{host}:{port}", f"cannot listen here: {error.strerror}", "give another --port"
        ) from None
