"""Graphs of other programs in a crawl: their links by URL are those that the files have."""

from __future__ import annotations

import gzip
import random
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.api.crawl import Crawl
from gossamer.errors import ConfigError, StoreError, UsageError
from gossamer.links import farms, graph, rank
from gossamer.links.bvgraph import Shape
from gossamer.links.graph import export, importing, url_lists
from gossamer.links.graph.queries import LinkGraph
from gossamer.links.graph.stored_graph import is_imported, open_graph
from gossamer.storage.names import is_collected
from gossamer.web.urls import normalize
from tests.support.bvgraph_files import csr, write
from tests.support.command_line import gossamer, lent
from tests.support.crawled_links import crawl
from tests.support.rows import by_url

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from tests.support.bvgraph_files import Rows

PLAIN = [[1, 2], [0], [0, 1]]
URLS = ["http://b.org/", "http://a.org/x", "http://a.org/"]


class Files(NamedTuple):
    base: Path
    urls: list[str]
    rows: Rows


def written(base: Path, rows: Rows, urls: Sequence[str], shape: Shape | None = None) -> Files:
    """Files as other programs leave them: without offsets."""
    write(base, rows, shape or Shape())
    base.with_suffix(".offsets").unlink()
    base.with_suffix(".urls").write_text("".join(f"{url}\n" for url in urls))
    return Files(base, list(urls), rows)


def imported(
    work: Workspace, base: Path, urls: Path | None = None, *, anew: bool = False
) -> StepReport:
    given = importing.graph_files(str(base), None if urls is None else str(urls))
    return importing.run(work, given, lambda _: None, anew=anew)


def links_of(work: Workspace, folder: Path) -> set[tuple[str, str]]:
    path = folder / "links.tsv"
    export.export_graph(work, "page", path)
    return {(src, dst) for src, dst in (line.split("\t") for line in path.read_text().splitlines())}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"SPANS": 3, "BATCH_NODES": 16, "BATCH_ARCS": 40}
    for name, size in sizes.items():
        monkeypatch.setattr(importing, name, size)
    monkeypatch.setattr(url_lists, "PIECE_BYTES", 700)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("shape", "packed"),
    [(Shape(0, 0, 0, 5), ""), (Shape(30, 1 << 30, 2, 1), ".gz"), (Shape(1, 1, 9, 7), ".zst")],
)
def test_links_are_those_of_the_files(
    work: Workspace, tmp_path: Path, shape: Shape, packed: str
) -> None:
    chosen = random.Random(shape.zeta)  # noqa: S311  # a test
    paths = ["", "a", "b/", "%41", "A", "?q=2&p=1", "?p=1&q=2", "#top", "z?utm_source=x", "\xe9"]
    urls = [f"http://h{chosen.randrange(9)}.example.org/{chosen.choice(paths)}" for _ in range(95)]
    urls += ["", "no url", "ftp://a.org/", "http://[/", "https://www.example.com:443"]
    chosen.shuffle(urls)
    rows = [sorted(chosen.sample(range(100), chosen.randrange(12))) for _ in urls]
    rows[50] = [*range(20, 90)]
    files = written(tmp_path / "web", rows, urls, shape)
    if packed:
        listed = files.base.with_suffix(".urls")
        with pa.output_stream(f"{listed}{packed}") as out:
            out.write(listed.read_bytes())
        listed.unlink()
    counts = imported(work, files.base).counts
    normal = [normalize(url) for url in urls]
    ends = [(normal[n], normal[other]) for n, row in enumerate(rows) for other in row]
    valid = [(src, dst) for src, dst in ends if src and dst]
    wanted = {(src, dst) for src, dst in valid if src != dst}
    assert links_of(work, tmp_path) == wanted
    nodes = {url for url in normal if url}
    names = open_graph(work, "page").names
    assert names.count == len(nodes)
    assert counts["bad_lines"] == normal.count(None) == 4
    assert counts["repeated_urls"] == 96 - len(nodes)
    assert counts["links_of_bad_lines"] == len(ends) - len(valid)
    assert counts["self_links"] == sum(src == dst for src, dst in valid)
    assert (counts["pages"], counts["page_links"]) == (len(nodes), len(wanted))
    left = [path.path for path in work.store.listed("graph")]
    assert all(map(is_collected, left))
    assert not [*work.store.backend.sizes("scratch")]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("plain") / "web", PLAIN, URLS).base


def test_a_new_crawl_ranks_an_imported_graph_and_answers_from_it(
    work: Workspace, plain: Path
) -> None:
    imported(work, plain)
    farms.run(work)
    rank.run(work)
    ranks = by_url(work.read("ranks"), "url")
    assert ranks.keys() == {*URLS}
    assert sum(row["rank"] for row in ranks.values()) == pytest.approx(1)
    assert by_url(work.read("host_ranks"), "host").keys() == {"a.org", "b.org"}
    assert LinkGraph(work).inlinks("http://b.org/").names == ["http://a.org/", "http://a.org/x"]
    assert LinkGraph(work, "host").outlinks("b.org").names == ["a.org"]


@pytest.mark.folder
def test_an_imported_graph_stays_until_the_user_replaces_it(
    work: Workspace, plain: Path, tmp_path: Path
) -> None:
    crawl(work, [("http://c.org/", "http://d.org/")])
    assert graph.run(work).counts["pages"] == 2
    with pytest.raises(UsageError, match=r"has a link graph already[^→]*→[^→]*--replace"):
        imported(work, plain)
    imported(work, plain, anew=True)
    before = work.store.listed("graph")
    assert graph.run(work).counts == {"links_left_out": 1}
    with pytest.raises(UsageError, match=r"was imported[^→]*→[^→]*graph build [^ ]* --rebuild"):
        Crawl(work).build_graph()
    assert work.store.listed("graph") == before
    (tmp_path.joinpath(work.root, before[0].path)).write_bytes(b"damaged")
    graph.run(work)  # by no means built from links
    assert is_imported(work)
    Crawl(work).build_graph(anew=True)
    assert not is_imported(work)
    assert links_of(work, tmp_path) == {("http://c.org/", "http://d.org/")}


def test_ranks_of_an_imported_graph_have_to_fit(
    work: Workspace, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(work, plain)
    monkeypatch.setattr("gossamer.links.rank.arrays.BYTES_PER_NODE", 1e12)
    with pytest.raises(ConfigError, match=r"rank\.memory_gb: the imported graph of pages needs"):
        rank.run(work)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"http://a.org/\n" * 2, "has 2 lines, and the graph 3 nodes"),
        (b"http://a.org/\n" * 4, "has more than 3 lines, and the graph 3 nodes"),
        (b"http://a.org/\nb\n" + b"c" * (2 << 20), "line 3 is longer than a megabyte"),
        (b"a\nb\nc\n", "none of its lines is a URL that can be crawled"),
        (gzip.compress(b"http://a.org/\n" * 3, mtime=0)[:-9], "cannot be read: "),
        (gzip.compress(bytes(1 << 21), mtime=0), "line 1 is longer than a megabyte"),
        (b"\x28\xb5\x2f\xfdxxxx", "cannot be read: "),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_list_of_other_urls_is_an_error(
    work: Workspace, plain: Path, tmp_path: Path, content: bytes | None, says: str
) -> None:
    urls = tmp_path / "urls"
    if content is not None:
        urls.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        imported(work, plain, urls)
    assert raised.value.subject == str(urls)
    assert says in raised.value.what
    assert raised.value.remedy
    assert not work.store.manifest.layers("graph")


@pytest.mark.embedded
def test_the_command_reports_invalid_lines(work: Workspace, tmp_path: Path, engine: Engine) -> None:
    urls = [f"line {n}" for n in range(30)] + URLS
    rows = [[30]] * 30 + [[0, 31], [], []]
    base = written(tmp_path / "web", rows, urls).base
    with lent(engine):
        said = gossamer("graph", "import", work.root, f"{base}.graph")
    lines = said.stderr.splitlines()
    assert lines[0] == f"gossamer: {base}.urls:1: not a URL that can be crawled: 'line 0'"
    assert lines[url_lists.REPORTED :] == [
        "gossamer: invalid lines: 30; their nodes are left out, with 31 links"
    ]
    assert "1 page_links, 3 pages" in said.stdout


def test_rows_that_do_not_ascend_are_damage(plain: Path) -> None:
    graph = write(plain.with_name("whole"), PLAIN)
    ascending: list[Rows] = [[[0, 9], [], [3, 4], []], [], [[]], [[5], [2]]]
    for rows in ascending:
        importing._check_order(graph, csr(rows))
    others: list[Rows] = [[[0, 9], [9, 9]], [[3, 2], [7]], [[], [], [1, 1]]]
    for rows in others:
        with pytest.raises(StoreError, match=f"{graph.path}: .* not ascending"):
            importing._check_order(graph, csr(rows))


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\n", b""))), st.booleans())
def test_pieces_have_all_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "urls"
    text = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    if text[:2] in (b"\x1f\x8b", b"\x28\xb5"):
        return
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_lists, "PIECE_BYTES", 7)
        found = [line for piece in url_lists._read_pieces(path) for line in piece.to_pylist()]
    rest = text.removeprefix(url_lists.BOM)
    assert b"".join(found) == rest
    assert len(found) == rest.count(b"\n") + (rest[-1:] not in (b"\n", b""))


@pytest.mark.fuzz
@settings(max_examples=500)
@given(st.binary(max_size=300), st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd"]))
def test_any_bytes_are_lines_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, magic: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "urls"
    path.write_bytes(magic + content)
    with suppress(UsageError):
        list(url_lists._read_pieces(path))
