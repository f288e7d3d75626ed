"""Change one byte of a file of a crawl, and see what the code that reads the file makes of it.

The outcome of a flip is one of:

    error     an error of Gossamer's that names the file
    same      the same answer as before: the byte does not matter to the code that reads the file
    RAW       another exception, or an error that does not name the file
    WRONG     a different answer than before, without an error
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gossamer.errors import GossamerError
from gossamer.index.postings.reader import PostingsReader
from gossamer.links.graph import stored_graph as stored_graphs
from gossamer.parse.step.stored_responses import bodies, read_answers
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace
from gossamer.status.overview import overview
from gossamer.storage.store import Store

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from gossamer.engine.engine import Engine

WORDS = ("page", "host OR the OR and", '"of the"', "type:html")


def state(work: Workspace) -> object:
    figures = overview(work)
    return {name: figures[name] for name in ("version", "round", "datasets", "counts")}


def rows(dataset: str) -> Callable[[Workspace], object]:
    """Return a function that reads all rows of a dataset, as steps and exports do."""

    def read(work: Workspace) -> object:
        return sorted(map(repr, work.read(dataset).collect()))

    return read


def searches(work: Workspace) -> object:
    searcher = Searcher.open(work)
    return [
        (found.total, [(hit.url, hit.title, hit.score, hit.snippet) for hit in found.hits])
        for found in (searcher.search(words, facets=True) for words in WORDS)
    ], searcher.complete("pa")


def term_searches(work: Workspace) -> object:
    reader = PostingsReader.open(work)
    return [
        [(hit.url, hit.score) for hit in reader.search(words, every=False)]
        for words in ("page", "the of and", "host")
    ]


def archive(work: Workspace) -> object:
    """Return every stored body, as `parse`, `inspect` and the cached copy read them.

    Raises DamagedRecordError with the file of the first damaged record.
    """
    files = work.store.files("responses")
    answers = [answer for file in files for answer in read_answers(f"{work.root}/{file.path}")]
    found = []
    for answer, stored in bodies(work.root, answers):
        if stored is None:
            raise DamagedRecordError(answer.warc_file)
        found.append((answer.url, stored))
    return found


class DamagedRecordError(Exception):
    """A record that `parse` counts as `unreadable`, naming the file in the document's detail."""


def graphs(work: Workspace) -> object:
    """Return the names and all rows of the graphs of pages and of hosts, as steps read them."""
    found = []
    for kind in ("page", "host"):
        names, forward, transposed = stored_graphs.open_graph(work, kind)[-3:]
        found.append([names[number] for number in range(names.count)])
        found.append(
            [
                graph.successors(n).tolist()
                for graph in (forward, transposed)
                for n in range(graph.nodes)
            ]
        )
    return found


def remembered(work: Workspace) -> object:
    """Return what the last `rank` left for the next one, which does without if it is damaged."""
    return [work.store.backend.read(file.path) for file in work.store.files("ranked_nodes")]


QUESTIONS: dict[str, Callable[[Workspace], object]] = {
    "manifest": state,
    "warc": archive,
    "graph": graphs,
    "ranked_nodes": remembered,
    "index": searches,
    "postings": term_searches,
    "numbered": term_searches,
}
"""The code that reads each folder's files; for other folders, `rows`."""


def question_of(folder: str) -> Callable[[Workspace], object]:
    return QUESTIONS.get(folder) or rows(folder)


def outcome(root: Path, path: str, before: object, engine: Engine) -> tuple[str, str]:
    """Return the outcome of a changed file, and the text of the error."""
    try:
        now = question_of(path.partition("/")[0])(Workspace.open(str(root), engine))
    except (GossamerError, DamagedRecordError) as error:
        return ("error" if path in str(error) else "RAW"), str(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # a panic in native code is not an Exception
        return "RAW", repr(error)
    return ("same" if now == before else "WRONG"), ""


def flipped(root: Path, path: str, draws: random.Random) -> Iterator[int]:
    """Change a byte of a file, yield its offset, and restore it.

    The file keeps its size all the time: it may be mapped into memory by a reader that is not
    collected yet, which would die of SIGBUS beyond the end of a file that is written anew.
    """
    with (root / path).open("r+b") as file:
        data = file.read()
        at = draws.randrange(len(data))
        _put(file, at, data[at] ^ draws.randrange(1, 256))
        try:
            yield at
        finally:
            _put(file, at, data[at])


def _put(file: BinaryIO, at: int, byte: int) -> None:
    file.seek(at)
    file.write(bytes([byte]))
    file.flush()


def is_found(root: Path, path: str) -> bool:
    """Whether `gossamer check` finds that a file is damaged."""
    try:
        store = Store.open(Workspace.open(str(root)).store.backend)
    except GossamerError as error:
        return path in str(error)
    files = [file for name in store.manifest.datasets for file in store.listed(name)]
    return any(wrong is not None and file.path == path for file, wrong in store.verify(files))


def kind_of(path: str) -> str:
    folder = path.partition("/")[0]
    return f"{folder} {Path(path).suffix}" if folder in ("warc", "index") else folder
