"""The explanation of a score: tantivy's tree of sums and products, cut to a maximum size.

For a query of 64 words, the tree of one page has thousands of nodes; it takes a quarter of a second
to build and 20 MB of memory as Python objects.
"""

from __future__ import annotations

from collections import deque
from typing import Any

MAX_PAGES = 10
"""The first results of an answer, which are explained."""
MAX_TERMS = 16
"""Queries of more terms are not explained: the cost grows faster than their number."""
MAX_S = 0.1
"""Seconds after which no further result of an answer is explained."""
MAX_STEPS = 300
"""Nodes of a tree that are returned, those nearest to the root."""
CUT = "further steps are left out"


def cut_tree(tree: dict[str, Any], most: int = MAX_STEPS) -> dict[str, Any]:
    """The first `most` nodes of the tree, breadth first. CUT marks nodes that lost some details."""
    root: dict[str, Any] = {}
    waiting = deque([(tree, root)])
    left = most
    while waiting:
        node, copy = waiting.popleft()
        copy.update({name: value for name, value in node.items() if name != "details"})
        left -= 1
        details = node.get("details") or []
        shown = details[: max(left - len(waiting), 0)]
        copies: list[dict[str, Any]] = [{} for _ in shown]
        waiting.extend(zip(shown, copies, strict=True))
        if len(shown) < len(details):
            copy["context"] = [*node.get("context", []), CUT]
        if copies:
            copy["details"] = copies
    return root
