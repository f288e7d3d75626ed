"""The properties of a graph: its size and the parameters of its rows, as Java's properties."""

from __future__ import annotations

from typing import NamedTuple

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY, Shape
from gossamer.storage.errors import system_error
from gossamer.storage.local_copies import local_copy

GRAPH_CLASS = "it.unimi.dsi.webgraph.BVGraph"
MAX_NODES = 1 << 40
MAX_BYTES = 1 << 20
"""More than any file of properties has."""
SHAPE_KEYS = {
    "windowsize": "window",
    "maxrefcount": "max_references",
    "minintervallength": "min_interval",
    "zetak": "zeta",
}
DEFAULTS = {"zetak": "3"}
"""What a graph has whose properties lack a key."""


class Properties(NamedTuple):
    nodes: int
    arcs: int
    shape: Shape

    def __str__(self) -> str:
        values = {
            "version": 0,
            "graphclass": GRAPH_CLASS,
            "nodes": self.nodes,
            "arcs": self.arcs,
            "compressionflags": "",
            **{key: getattr(self.shape, name) for key, name in SHAPE_KEYS.items()},
        }
        lines = (f"{key}={value}\n" for key, value in values.items())
        return "#BVGraph properties\n" + "".join(lines)


def read_properties(path: str) -> Properties:
    """Read a file of properties. Raises StoreError for a graph of another kind."""
    try:
        with local_copy(path).open("rb") as file:
            text = file.read(MAX_BYTES).decode("latin-1")
    except OSError as error:
        raise system_error(error, path) from None
    values = DEFAULTS | {
        key.strip(): value.strip()
        for key, separator, value in (line.partition("=") for line in text.splitlines())
        if separator and key[:1] != "#"
    }
    _check_kind(path, values)
    try:
        nodes, arcs = (int(values[key]) for key in ("nodes", "arcs"))
        shape = Shape(*(int(values[key]) for key in SHAPE_KEYS))
    except (KeyError, ValueError) as error:
        raise StoreError(path, f"a number is missing or invalid: {error}", REMEDY) from None
    if not (0 <= nodes <= MAX_NODES and 0 <= arcs <= MAX_NODES * MAX_NODES and shape.is_sound):
        raise StoreError(path, "a number is out of range", REMEDY)
    return Properties(nodes, arcs, shape)


def _check_kind(path: str, values: dict[str, str]) -> None:
    """Raise StoreError unless the rows are those that `bvgraph` describes.

    Facts: the class is BVGraph in Java, and BvGraph in Rust, which may write the bits of a word in
    the other order; `compressionflags` names codes other than the default ones.
    """
    is_bvgraph = values.get("graphclass", "").lower().endswith("bvgraph")
    is_big = values.get("endianness", "big").lower() == "big"
    if not (is_bvgraph and is_big) or values.get("compressionflags"):
        raise StoreError(
            path,
            "only graphs of the class BVGraph with its default codes, big-endian, can be read",
            "store the graph again with WebGraph's BVGraph and its default options",
        )
