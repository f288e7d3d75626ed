"""A link graph as one file for other programs.

    .tsv .txt    a link per line: two URLs, with a tab between them
    .parquet     columns src and dst
    .graphml     for Gephi and its like, with URLs and degrees of nodes (graphml.graphdrawing.org)

The first two and GraphML may be compressed: `.gz` or `.zst` follows. Links are read in the order of
their sources, in batches of BATCH_LINKS. A file has its name only once it is complete.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gossamer.errors import UsageError
from gossamer.links.graph import name_arrays
from gossamer.links.graph.names import host_prefixes
from gossamer.links.graph.stored_graph import open_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.state.workspace import Workspace

BATCH_LINKS = 500_000
MAX_GRAPHML = 1_000_000
"""Nodes and links of a GraphML file. Programs hold all of it in memory."""
CODECS: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}
LONG = pa.large_string()
_SCHEMA = pa.schema([("src", LONG), ("dst", LONG)])
_NO_XML = "[^\\t\\n\\r\\x{20}-\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]"
"""Characters that XML 1.0 does not have (section 2.2)."""
_ESCAPES: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_KEYS = (("label", "string"), ("host", "string"), ("inlinks", "long"), ("outlinks", "long"))
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    + "".join(
        f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n'
        for name, kind in _KEYS
    )
    + '<graph edgedefault="directed">\n'
)
_TAIL = "</graph>\n</graphml>\n"


class _Links(NamedTuple):
    """Links by the numbers of their nodes."""

    src: Numbers
    dst: Numbers


def export_graph(work: Workspace, kind: str, path: Path) -> int:
    """Write the links of the graph of pages ("page") or hosts ("host"); return their number.

    The ending of the path decides on the format. Raises UsageError for an unknown one, for a graph
    that is too large for GraphML, and without a graph.
    """
    codec = CODECS.get(path.suffix)
    ending = Path(path.stem).suffix if codec else path.suffix
    if ending not in FORMS or (codec and ending == ".parquet"):
        known = ", ".join(FORMS)
        raise UsageError(path, "its ending names no format", f"one of {known}; .gz, .zst after it")
    graph = open_graph(work, kind)
    size = graph.forward.nodes + graph.forward.arcs
    if ending == ".graphml" and size > MAX_GRAPHML:
        what = f"{size:,} nodes and links are too many for GraphML, which is read as a whole"
        remedy = f"at most {MAX_GRAPHML:,}: export --hosts, or .parquet, or .tsv.zst"
        raise UsageError(path, what, remedy)
    with _complete(path, codec) as out:
        FORMS[ending](graph, out)
    return graph.forward.arcs


@contextmanager
def _complete(path: Path, codec: str | None) -> Iterator[Any]:
    """A file beside the path, which takes its place at the end, or is deleted."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("xb") as file:
            if codec:
                with pa.CompressedOutputStream(file, codec) as out:
                    yield out
            else:
                yield file
        partial.replace(path)
    except OSError as error:
        if error.errno is not None:  # else Arrow reports damage like this
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            partial.unlink()


def _export_batches(graph: StoredGraph) -> Iterator[_Links]:
    """All links, about BATCH_LINKS at a time."""
    kept: list[_Links] = []
    first = size = 0
    for starts, targets in graph.forward.rows():
        nodes = np.arange(first, first + starts.size - 1)
        kept.append(_Links(np.repeat(nodes, np.diff(starts)), targets))
        first, size = first + nodes.size, size + targets.size
        if size >= BATCH_LINKS:
            yield _Links(*map(np.concatenate, zip(*kept, strict=True)))
            kept, size = [], 0
    if size:
        yield _Links(*map(np.concatenate, zip(*kept, strict=True)))


def _by_url(graph: StoredGraph) -> Iterator[pa.RecordBatch]:
    for links in _export_batches(graph):
        nodes, places = np.unique(np.concatenate(links), return_inverse=True)
        urls = name_arrays.urls_of(graph.names.take(nodes).cast(LONG))
        ends = (urls.take(pa.array(end)) for end in np.split(places, 2))
        yield pa.RecordBatch.from_arrays(list(ends), schema=_SCHEMA)


def _text(graph: StoredGraph, out: Any) -> None:
    for links in _by_url(graph):
        _write(out, links.column("src"), "\t", links.column("dst"), "\n")


def _write_parquet(graph: StoredGraph, out: Any) -> None:
    with pq.ParquetWriter(out, _SCHEMA, compression="zstd") as writer:
        for links in _by_url(graph):
            writer.write_batch(links)


def _write_graphml(graph: StoredGraph, out: Any) -> None:
    out.write(_HEAD.encode())
    nodes = np.arange(graph.forward.nodes)
    names = graph.names.take(nodes)
    outlinks, inlinks = (
        _digits(each.outdegrees(0, nodes.size)) for each in (graph.forward, graph.transposed)
    )
    urls = (name_arrays.urls_of(each.cast(LONG)) for each in (names, host_prefixes(names)))
    values = *map(_escape_graphml, urls), inlinks, outlinks
    data = [
        text
        for (name, _), column in zip(_KEYS, values, strict=True)
        for text in (f'<data key="{name}">', column, "</data>")
    ]
    _write(out, '<node id="n', _digits(nodes), '">', *data, "</node>\n")
    for src, dst in _export_batches(graph):
        _write(out, '<edge source="n', _digits(src), '" target="n', _digits(dst), '"/>\n')
    out.write(_TAIL.encode())


def _write(out: Any, *texts: pa.Array | str) -> None:
    """Write texts beside each other, row by row."""
    joined = pc.binary_join_element_wise(
        *(pa.scalar(text, LONG) if isinstance(text, str) else text for text in texts),
        pa.scalar("", LONG),
    )
    _, offsets, data = joined.buffers()
    if len(joined):
        out.write(data.slice(0, np.frombuffer(offsets, np.int64)[len(joined)]))


def _digits(numbers: Numbers) -> pa.Array:
    return pa.array(numbers).cast(LONG)


def _escape_graphml(texts: pa.Array) -> pa.Array:
    for char, escape in _ESCAPES.items():
        texts = pc.replace_substring(texts, char, escape)
    return pc.replace_substring_regex(texts, _NO_XML, "\N{REPLACEMENT CHARACTER}")


FORMS: Mapping[str, Callable[[StoredGraph, Any], None]] = {
    ".tsv": _text,
    ".txt": _text,
    ".parquet": _write_parquet,
    ".graphml": _write_graphml,
}
