"""What hangs together: components of a graph, and its bow tie.

Two nodes are strongly connected if each can be reached from the other, and weakly connected if they
can when links are followed in both directions. Broder et al., "Graph structure in the Web" (WWW
2000), found that the largest strong component, the core, divides the rest like a bow tie:

  in            reaches the core, which does not lead back
  out           can be reached from the core
  tubes         none of these, but on a way from `in` to `out`
  tendrils      the rest of what is weakly connected with the core
  disconnected  everything else

The functions read forward links only, and take some 40 bytes of memory per node beside the rows
(see `row_windows.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.links.graph.row_windows import WindowedRows, index_type
from gossamer.native import native

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.overlay import Graph
    from gossamer.links.graph.row_windows import Indices

    Flags = npt.NDArray[np.bool_]
    Marks = npt.NDArray[np.uint8]

REGIONS = ("core", "in", "out", "tubes", "tendrils", "disconnected")
"""The parts of the bow tie."""
CORE, IN, OUT, TUBES, TENDRILS, DISCONNECTED = range(len(REGIONS))
TO_CORE, FROM_CORE, TO_OUT, FROM_IN = 1, 2, 4, 8
NONE, UNLISTED = -1, -2


class Components(NamedTuple):
    """A division of the nodes: the component of each node, and the size of each component."""

    numbers: Indices
    sizes: Numbers

    @property
    def largest(self) -> int:
        """The largest component; of several, the one with the smallest node. Needs a node."""
        return int(self.numbers[np.argmax(self.sizes[self.numbers] == self.sizes.max())])


class Structure(NamedTuple):
    """How a graph hangs together, in numbers of components and nodes."""

    strong_components: int
    largest_strong: int
    weak_components: int
    largest_weak: int
    bow_tie: Mapping[str, int]
    """The nodes of each of the REGIONS."""


def graph_structure(graph: Graph) -> Structure:
    """Count components, and the nodes of the bow tie."""
    rows = WindowedRows(graph)
    strong, weak = _strong_components(rows, graph.nodes), weak_components(graph)
    regions = _bow_tie_regions(rows, strong, weak)
    counts = np.bincount(regions, minlength=len(REGIONS)).tolist()
    return Structure(
        strong.sizes.size,
        int(strong.sizes.max(initial=0)),
        weak.sizes.size,
        int(weak.sizes.max(initial=0)),
        dict(zip(REGIONS, counts, strict=True)),
    )


def strong_components(graph: Graph) -> Components:
    """The strongly connected components, in reverse topological order: none links to a later one.

    One depth-first search, after Tarjan, with the space of Pearce, "A space-efficient algorithm for
    finding strongly connected components" (Information Processing Letters 116, 2016).
    """
    return _strong_components(WindowedRows(graph), graph.nodes)


def weak_components(graph: Graph) -> Components:
    """The weakly connected components, in the order of their smallest nodes.

    Union-find with path halving, in one pass over the rows (Tarjan and van Leeuwen, "Worst-case
    analysis of set union algorithms", Journal of the ACM 31, 1984).
    """
    roots = np.arange(graph.nodes, dtype=index_type(graph.nodes))
    first = 0
    for starts, targets in graph.rows():
        _unite_linked_sets(first, starts, targets, roots)
        first += starts.size - 1
    count = _number_sets(roots)
    return Components(roots, np.bincount(roots, minlength=count))


def bow_tie(graph: Graph) -> Marks:
    """The region of each node: an index of REGIONS."""
    rows = WindowedRows(graph)
    return _bow_tie_regions(rows, _strong_components(rows, graph.nodes), weak_components(graph))


def _strong_components(rows: WindowedRows, nodes: int) -> Components:
    kind = index_type(nodes)
    low, below, parent = (np.zeros(nodes, kind) for _ in range(3))
    above = np.full(nodes, UNLISTED, kind)
    heads = np.zeros(nodes, np.bool_)
    counters = np.array([0, NONE, NONE, 0, 0])
    node = 0 if nodes else NONE
    while node != NONE:
        node = _search_components(*rows.around(node), low, above, below, parent, heads, counters)
    numbers = -1 - low
    return Components(numbers, np.bincount(numbers))


@native
def _search_components(
    first: int,
    starts: Numbers,
    targets: Indices,
    low: Indices,
    above: Indices,
    below: Indices,
    parent: Indices,
    heads: Flags,
    counters: Numbers,
) -> int:
    """Search on; return the node whose row is needed next, or NONE at the end.

    `above` and `below` link a list of the nodes that the search has met and not left. Its top is
    visited next, or left if it was visited before. A node that is met again before its visit moves
    to the top, because its latest parent visits it first. So this is a depth-first search that
    reads each row once and keeps none.

    `low` of a node is 0 before its visit; then the smallest index that the node is known to reach;
    and -1 - c once its component c is complete. `heads` has the nodes that are not known to reach a
    smaller index than their own. Nodes that were left, but whose components are not complete, are a
    stack, which is linked by `below`, too. `counters` has the last index, the top of the list, the
    top of the stack, the number of components, and a node before which all were visited.
    """
    index, top, left, count, start = counters
    while True:
        if top == NONE:
            while start < len(low) and low[start] != 0:
                start += 1
            if start == len(low):
                return NONE
            top = start
            above[top] = below[top] = parent[top] = NONE
        node = top
        if low[node] == 0:
            if not first <= node < first + len(starts) - 1:
                counters[:] = np.array((index, top, left, count, start))
                return int(node)
            index += 1
            row = targets[starts[node - first] : starts[node - first + 1]]
            low[node], heads[node] = index, True
            top = _visit_node(node, row, low, above, below, parent, heads)
            continue
        top = below[node]
        if top != NONE:
            above[top] = NONE
        if heads[node]:
            left = _complete_component(node, left, count, low, below)
            count += 1
        else:
            below[node], left = left, node
            before = parent[node]
            if low[node] < low[before]:
                low[before], heads[before] = low[node], False


def _visit_node(
    node: int,
    row: Indices,
    low: Indices,
    above: Indices,
    below: Indices,
    parent: Indices,
    heads: Flags,
) -> int:
    """Put the successors of the top that were not visited on top of it; return the new top."""
    top = node
    for target in row:
        if low[target] == 0 and target != top:
            _put_on_top(target, top, above, below)
            parent[target], top = node, target
        elif 0 < low[target] < low[node]:
            low[node], heads[node] = low[target], False
    return top


def _put_on_top(node: int, top: int, above: Indices, below: Indices) -> None:
    """Put a node on top of the list, from where it is in it, if it is."""
    if above[node] != UNLISTED:  # another node is above it
        lower = below[node]
        below[above[node]] = lower
        if lower != NONE:
            above[lower] = above[node]
    above[node], below[node], above[top] = NONE, top, node


def _complete_component(head: int, left: int, component: int, low: Indices, below: Indices) -> int:
    """Give a component its number: its head, and nodes on the stack; return the stack's top."""
    while left != NONE and low[left] >= low[head]:
        following = below[left]
        low[left] = -1 - component
        left = following
    low[head] = -1 - component
    return left


@native
def _unite_linked_sets(first: int, starts: Numbers, targets: Indices, parents: Indices) -> None:
    """Unite the sets of linked nodes. The root of a set is its smallest node."""
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            one, other = first + row, targets[at]
            while parents[one] != one:
                parents[one] = parents[parents[one]]
                one = parents[one]
            while parents[other] != other:
                parents[other] = parents[parents[other]]
                other = parents[other]
            parents[max(one, other)] = min(one, other)


def _number_sets(parents: Indices) -> int:
    """Replace the parents of nodes, which are not larger, by the numbers of their sets."""
    is_root = parents == np.arange(parents.size)
    while (parents[parents] != parents).any():
        parents[:] = parents[parents]
    parents[:] = (is_root.cumsum() - 1)[parents]
    return int(np.count_nonzero(is_root))


def _bow_tie_regions(rows: WindowedRows, strong: Components, weak: Components) -> Marks:
    """The regions, by what reaches the core and so on; marks spread from component to component."""
    numbers = strong.numbers
    if not numbers.size:
        return np.empty(0, np.uint8)
    upwards = np.argsort(numbers, kind="stable")
    downwards = np.ascontiguousarray(upwards[::-1])
    marks = np.zeros(strong.sizes.size, np.uint8)
    core = strong.largest
    marks[core] = TO_CORE | FROM_CORE
    _mark_components(rows, upwards, numbers, marks, TO_CORE, along=False)
    marks[marks & TO_CORE > 0] |= FROM_IN
    _mark_components(rows, downwards, numbers, marks, FROM_CORE | FROM_IN, along=True)
    marks[marks & FROM_CORE > 0] |= TO_OUT
    _mark_components(rows, upwards, numbers, marks, TO_OUT, along=False)
    of_nodes = marks[numbers]
    is_core = numbers == core
    regions = np.full(numbers.size, DISCONNECTED, np.uint8)
    regions[weak.numbers == weak.numbers[np.argmax(is_core)]] = TENDRILS
    regions[of_nodes & (FROM_IN | TO_OUT) == FROM_IN | TO_OUT] = TUBES
    regions[of_nodes & FROM_CORE > 0] = OUT
    regions[of_nodes & TO_CORE > 0] = IN
    regions[is_core] = CORE
    return regions


def _mark_components(
    rows: WindowedRows, order: Numbers, numbers: Indices, marks: Marks, spread: int, *, along: bool
) -> None:
    """Spread marks of components along links, or against them, node by node in this order."""
    at = 0
    while at < order.size:
        at = _spread_component_marks(
            *rows.around(int(order[at])), order, at, numbers, marks, spread, along
        )


@native
def _spread_component_marks(
    first: int,
    starts: Numbers,
    targets: Indices,
    order: Numbers,
    at: int,
    numbers: Indices,
    marks: Marks,
    spread: int,
    along: bool,
) -> int:
    """Spread marks from the position `at` of the order; return where a row is not in the window."""
    while at < len(order):
        node = order[at]
        if not first <= node < first + len(starts) - 1:
            break
        source = numbers[node]
        for n in range(starts[node - first], starts[node - first + 1]):
            target = numbers[targets[n]]
            if along:
                marks[target] |= marks[source] & spread
            else:
                marks[source] |= marks[target] & spread
        at += 1
    return at
