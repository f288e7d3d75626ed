"""Graphs of networkx whose shapes are special cases of PageRank."""

from __future__ import annotations

import networkx as nx


def of_links(*links: tuple[int, int]) -> nx.DiGraph:
    return nx.DiGraph(links)


CLIQUE = nx.complete_graph(9, nx.DiGraph)
SHAPES = {
    "one node": nx.empty_graph(1, nx.DiGraph),
    "no links": nx.empty_graph(7, nx.DiGraph),
    "a link": of_links((0, 1)),
    "two that alternate": of_links((0, 1), (1, 0)),
    "links to oneself": of_links((0, 0), (1, 1), (1, 0), (2, 1)),
    "a long chain": nx.path_graph(300, nx.DiGraph),
    "a long cycle": nx.cycle_graph(300, nx.DiGraph),
    "one that leads to many that dangle": nx.star_graph(50, nx.DiGraph),
    "many that lead to one that dangles": of_links(*((n, 0) for n in range(1, 50))),
    "a clique": CLIQUE,
    "a clique with a way out": nx.compose(CLIQUE, of_links((4, 9), (9, 10))),
    "a clique with a way in": nx.compose(CLIQUE, of_links((10, 9), (9, 4))),
    "cliques apart": nx.disjoint_union(CLIQUE, nx.complete_graph(3, nx.DiGraph)),
    "a tree": nx.balanced_tree(3, 5, nx.DiGraph),
    "random": nx.gnp_random_graph(200, 0.03, seed=1, directed=True),
    "sparse": nx.gnp_random_graph(200, 0.003, seed=2, directed=True),
    "popular nodes": nx.DiGraph(nx.scale_free_graph(300, seed=3)),
}
