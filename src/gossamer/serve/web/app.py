"""The web application of one crawl: its routes and middleware."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gossamer.index.changes.reading import ChangeLog
from gossamer.rules.absence import Absence
from gossamer.search.page_info import PageInfo
from gossamer.search.synonyms import synonyms_of
from gossamer.serve.cluster import tls
from gossamer.serve.cluster.cluster import Cluster
from gossamer.serve.cluster.nodes import Nodes
from gossamer.serve.differences import Differences
from gossamer.serve.dispatch.fair_queue import Busy
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from gossamer.serve.documents import Documents
from gossamer.serve.feeds.newest_matches import NewestMatches
from gossamer.serve.graphs import Graphs
from gossamer.serve.mcp.tools import Toolbox
from gossamer.serve.web import openapi, protocol, robots_route
from gossamer.serve.web.change_routes import Changing
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.compression import Compression
from gossamer.serve.web.connections import MAX_CONNECTIONS, Connections
from gossamer.serve.web.copy_routes import Copying
from gossamer.serve.web.cors import Cors
from gossamer.serve.web.diff_routes import Differing
from gossamer.serve.web.document_routes import Documenting
from gossamer.serve.web.embed_routes import Embedding
from gossamer.serve.web.expensive_responses import KEPT_S
from gossamer.serve.web.feed_routes import Feeding
from gossamer.serve.web.graph_routes import Graphing
from gossamer.serve.web.headers import Headers
from gossamer.serve.web.host_names import KnownNames
from gossamer.serve.web.mcp_route import McpEndpoint
from gossamer.serve.web.metrics import Metrics
from gossamer.serve.web.open_webui_route import OpenWebui
from gossamer.serve.web.paced_sending import Sending
from gossamer.serve.web.page_routes import Paging
from gossamer.serve.web.problem import HANDLERS, busy_problem
from gossamer.serve.web.request_limits import Limits
from gossamer.serve.web.search_routes import Searching
from gossamer.serve.web.section_routes import Sectioning
from gossamer.serve.web.site_path import behind_proxies
from gossamer.serve.web.status_routes import Status
from gossamer.serve.web.stopping import Stopping
from gossamer.serve.web.token_gate import TokenGate
from gossamer.state.lookup import Lookup
from gossamer.status.overview import CrawlWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    import uvicorn
    from starlette.routing import Route
    from starlette.types import ASGIApp

    from gossamer.state.workspace import Workspace

OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
STATIC = Path(__file__).parents[1] / "static"
_MB = 1 << 20


def server(
    work: Workspace,
    addresses: Sequence[str] = (),
    *,
    connections: int = MAX_CONNECTIONS,
    kept_s: float = KEPT_S,
    log_level: str = "error",
) -> uvicorn.Server:
    """The server of one crawl: its application behind bounded connections.

    `addresses` are those of the search processes of this machine, if any; nodes on others are in
    the settings. At most `connections` are open at once. Expensive responses other than searches
    are reused for `kept_s` seconds.
    """
    config, refused = work.config.serve, Counter[str]()
    clients = Clients(config.proxies)
    application = app(work, addresses, clients, refused, kept_s)
    admitted = Connections(clients, refused, connections)
    return protocol.server(behind_proxies(application, config, clients), admitted, log_level)


def app(
    work: Workspace,
    addresses: Sequence[str],
    clients: Clients,
    refused: Counter[str],
    kept_s: float,
) -> ASGIApp:
    """The application of one crawl. It counts refused requests in `refused`, by reason."""
    lookup = Lookup(work)
    pages = PageInfo(work, lookup)
    left_out = Absence(work, lookup)
    graphs = Graphs(work, lookup)
    ranking, config = work.config.ranking, work.config.serve
    synonyms = synonyms_of(work.root, work.config.search.synonyms)
    nodes = cluster = None
    if config.nodes:
        secured = tls.server_context(config, work.root)
        nodes = Nodes(
            config.nodes,
            ranking,
            pages,
            config.deadline_s,
            secured,
            synonyms=synonyms,
            meanings=bool(work.config.semantic.model),
        )
    elif addresses:
        cluster = Cluster(addresses, config.deadline_s)
    elsewhere = nodes or cluster
    index = nodes or OpenIndex(work, crawl=pages)
    front = Dispatcher(index, cluster, config.cache_mb * _MB, synonyms)
    documents = Documents(work, pages)
    changes = ChangeLog(work)
    watch = CrawlWatch(work, lookup)
    metrics = Metrics(watch, front.opened, elsewhere, front.cache, refused, kept_s)
    contexts = [elsewhere.watch] if elsewhere else []
    model_routes: list[Route] = []
    if config.mcp:
        gate = TokenGate(work, refused)
        tools = McpEndpoint(Toolbox(work, pages, documents, front), gate)
        contexts.append(tools.lifespan)
        model_routes = [*tools.routes(), *OpenWebui(work, documents, front, gate).routes()]
    routed = Starlette(
        lifespan=lambda _: _within(contexts),
        routes=[
            *Searching(work, pages, documents, front).routes(),
            *Embedding(front).routes(),
            *Paging(work, pages, left_out, graphs).routes(kept_s),
            *Graphing(graphs).routes(kept_s),
            *Copying(work, pages).routes(kept_s),
            *Differing(work, pages, documents, Differences(work, pages)).routes(kept_s),
            *Documenting(work, pages, documents, front).routes(kept_s),
            *Changing(work, changes).routes(kept_s),
            *Feeding(NewestMatches(work, changes, lookup, front), front).routes(),
            *Status(watch, front.opened, graphs).routes(kept_s),
            *Sectioning(work, left_out).routes(kept_s),
            *metrics.routes(),
            *openapi.ROUTES,
            *robots_route.ROUTES,
            *model_routes,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers=HANDLERS | {Busy: partial(busy_problem, refused)},
    )
    known = KnownNames(routed, [*OWN_NAMES, config.host, *config.names])
    sent = Sending(Compression(known), refused)
    limited = Limits(sent, clients, config.requests_per_address, refused)
    readable = Cors(limited, config.origins)
    # Outermost, so that errors have the headers too, and are counted.
    return metrics.around(Headers(Stopping(readable)))


@asynccontextmanager
async def _within(
    contexts: Iterable[Callable[[], AbstractAsyncContextManager[Any]]],
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for context in contexts:
            await stack.enter_async_context(context())
        yield
