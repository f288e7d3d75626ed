"""The application of one crawl: its routes, and what stands around them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gossamer import serve
from gossamer.lookup import Lookup
from gossamer.serve.cache import Cache
from gossamer.serve.cluster.cluster import Cluster
from gossamer.serve.front import Front
from gossamer.serve.live import Live
from gossamer.serve.pages import Pages
from gossamer.serve.web import openapi, opensearch
from gossamer.serve.web.copying import Copying
from gossamer.serve.web.headers import Headers
from gossamer.serve.web.limits import Limits
from gossamer.serve.web.metrics import Metrics
from gossamer.serve.web.paging import Paging
from gossamer.serve.web.problem import HANDLERS
from gossamer.serve.web.searching import Searching
from gossamer.serve.web.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp

    from gossamer.workspace import Workspace

OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
STATIC = Path(serve.__file__).parent / "static"


def app(work: Workspace, groups: Sequence[Sequence[str]] = ()) -> ASGIApp:
    """The application of one crawl. `groups` are the processes that search (cluster.py), if any."""
    lookup = Lookup(work)
    pages = Pages(work, lookup)
    ranking, deadline_s = work.config.ranking, work.config.serve.deadline_s
    cluster = Cluster(groups, ranking, pages, deadline_s) if groups else None
    live = Live(work, known=pages)
    cache = Cache(work.config.serve.cached_answers)
    front = Front(live, cluster)
    metrics = Metrics(work, live, cluster, cache)
    routed = Starlette(
        lifespan=lambda _: cluster.watched() if cluster else nullcontext(),
        routes=[
            *Searching(work, front, cache).routes(),
            *Paging(work, pages).routes(),
            *Copying(work, pages).routes(),
            *Status(work, live, lookup).routes(),
            *metrics.routes(),
            *openapi.ROUTES,
            *opensearch.ROUTES,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers=HANDLERS,
    )
    # A web page elsewhere may point a name of its own at this machine and read the answers in
    # its visitor's browser (DNS rebinding), unless only our own names are answered to.
    names = [*OWN_NAMES, work.config.serve.host, *work.config.serve.names]
    known = TrustedHostMiddleware(routed, allowed_hosts=names, www_redirect=False)
    return metrics.around(Headers(Limits(known)))  # outermost, so that errors have them too
