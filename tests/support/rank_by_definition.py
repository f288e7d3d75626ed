"""PageRank of a small crawl by a dense matrix, to compare the fast one with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import host_of
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gossamer.state.workspace import Workspace

HOSTS = (
    "a.example.org",
    "b.example.org:8080",
    "example.org",
    "other.net",
    "third.co.uk",
    "[::1]:81",
)
URLS = [f"https://{host}/{path}" for host in HOSTS for path in ("", "x", "z?q=1")]


def configure(work: Workspace, **values: Any) -> None:
    changed = msgspec.structs.replace(work.config.rank, **values)
    work.config = msgspec.structs.replace(work.config, rank=changed)


def crawl(
    work: Workspace, links: Iterable[tuple[str, str]], fetched: Iterable[str], **more: object
) -> None:
    put(work, "pages", [{"url": url, "status": "fetched"} for url in fetched])
    put(work, "links", [{"src": src, "dst": dst} | more for src, dst in links])
    put(work, "responses", [{"url": url, "outcome": "ok"} for url in fetched])


def ranks(work: Workspace, dataset: str = "ranks", key: str = "url") -> dict[str, float]:
    return {name: row["rank"] for name, row in by_url(work.read(dataset), key).items()}


def domain(url: str) -> str:
    return registrable(host_of(url))


def dense(
    links: Iterable[tuple[str, str]],
    preferred: Iterable[str],
    *,
    damping: float = 0.85,
    same_domain: float = 0.5,
    domain_of: Callable[[str], str] = domain,
    factor: Callable[[str], float] = lambda _: 1.0,
) -> dict[str, float]:
    """PageRank by its definition, as the solution of a linear system."""
    links = set(links)
    preferred = set(preferred)
    nodes = sorted({end for link in links for end in link} | preferred)
    at = {node: n for n, node in enumerate(nodes)}
    preference = np.array([node in preferred for node in nodes]) / len(preferred)
    move = np.zeros((len(nodes), len(nodes)))
    for node in nodes:
        targets = [dst for src, dst in links if src == node]
        inner = [dst for dst in targets if domain_of(dst) == domain_of(node)]
        outer = [dst for dst in targets if dst not in inner]
        share = {dst: 1 / len(targets) for dst in targets}
        if inner and outer:
            for dst in inner:
                share[dst] *= same_domain
            for dst in outer:
                share[dst] += (1 - same_domain) * len(inner) / len(targets) / len(outer)
        column = np.zeros(len(nodes))
        for dst, carried in share.items():
            column[at[dst]] = factor(node) * carried
        move[:, at[node]] = column + (1 - column.sum()) * preference
    solved = np.linalg.solve(np.eye(len(nodes)) - damping * move, (1 - damping) * preference)
    return dict(zip(nodes, solved.tolist(), strict=True))


def host_links(links: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    pairs = {(host_of(src), host_of(dst)) for src, dst in links}
    return {(src, dst) for src, dst in pairs if src != dst}


SOME = {
    *((URLS[0], url) for url in URLS[1:9]),
    *((url, URLS[0]) for url in URLS[3:15]),
    *((URLS[12], URLS[13]), (URLS[13], URLS[12]), (URLS[13], URLS[17]), (URLS[4], URLS[5])),
}
