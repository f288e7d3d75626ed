"""A link graph as a file for other programs, and as pictures."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.errors import StoreError, UsageError
from gossamer.links import graph
from gossamer.links.graph import export, name_arrays
from gossamer.links.graph.names import name_of, url_of
from gossamer.links.graph.queries import Spread
from gossamer.serve.drawing import charts
from tests.support.crawled_links import crawl

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

XML = "{http://graphml.graphdrawing.org/xmlns}"
SVG = "{http://www.w3.org/2000/svg}"
ODD = "http://b.example.org:8080/?a=1&b=<2>\x01"
LINKS = [("http://a.org/", "http://b.org/x"), ("http://a.org/", ODD), (ODD, "https://[::1]:81/y z")]
LINKS += [(f"http://c.org/{n}", f"http://c.org/{n + 1}") for n in range(9)]


@pytest.fixture
def built(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(export, "BATCH_LINKS", 4)
    monkeypatch.setattr("gossamer.links.bvgraph.files.CHUNK", 4)
    crawl(work, LINKS)
    graph.run(work)
    return work


def test_many_names_are_written_as_single_ones_are() -> None:
    names = [name_of(url) for link in LINKS for url in link] + [
        "org,a ",
        "[::1] :81",
        "  file /x\ny",
    ]
    assert name_arrays.urls_of(pa.array(names, pa.large_string())).to_pylist() == [
        *map(url_of, names)
    ]
    assert name_arrays.urls_of(pa.array([], pa.large_string())).to_pylist() == []


@pytest.mark.parametrize("name", ["links.tsv", "links.txt.gz", "links.tsv.zst"])
def test_an_edge_list_has_a_line_per_link(built: Workspace, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert export.export_graph(built, "page", path) == len(LINKS)
    with pa.input_stream(str(path)) as file:
        lines = file.read().decode().splitlines()
    assert sorted(tuple(line.split("\t")) for line in lines) == sorted(LINKS)
    if name.endswith("gz"):
        assert gzip.decompress(path.read_bytes()).decode().splitlines() == lines
    assert [*tmp_path.iterdir()] == [path]


def test_parquet_has_two_columns(built: Workspace, tmp_path: Path) -> None:
    export.export_graph(built, "page", tmp_path / "links.parquet")
    table = pq.read_table(tmp_path / "links.parquet")
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == sorted(LINKS)
    export.export_graph(built, "host", tmp_path / "hosts.parquet")
    hosts = pq.read_table(tmp_path / "hosts.parquet").to_pylist()
    assert {"src": "b.example.org:8080", "dst": "[::1]:81"} in hosts


def test_graphml_is_read_by_an_xml_parser(built: Workspace, tmp_path: Path) -> None:
    export.export_graph(built, "page", tmp_path / "links.graphml")
    root = ET.parse(tmp_path / "links.graphml").getroot()  # noqa: S314  # our own file
    keys = {key.get("id"): key.get("attr.type") for key in root.iter(f"{XML}key")}
    assert keys == {"label": "string", "host": "string", "inlinks": "long", "outlinks": "long"}
    nodes = {
        node.get("id"): {data.get("key"): data.text for data in node}
        for node in root.iter(f"{XML}node")
    }
    visible = ODD.replace("\x01", "\N{REPLACEMENT CHARACTER}")
    found = {(nodes[edge.get("source")]["label"], nodes[edge.get("target")]["label"])
             for edge in root.iter(f"{XML}edge")}  # fmt: skip
    assert found == {(src.replace(ODD, visible), dst.replace(ODD, visible)) for src, dst in LINKS}
    assert {"label": visible, "host": "b.example.org:8080", "inlinks": "1", "outlinks": "1"} in [
        *nodes.values()
    ]


def test_a_graph_too_large_for_graphml_says_what_to_do(
    built: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MAX_GRAPHML", 10)
    with pytest.raises(UsageError, match=r"nodes and links are too many[^→]*→[^→]*--hosts"):
        export.export_graph(built, "page", tmp_path / "links.graphml")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["links", "links.csv", "links.parquet.gz", "links.gz"])
def test_other_endings_are_refused(built: Workspace, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.tsv, \.txt, \.parquet, \.graphml"):
        export.export_graph(built, "page", tmp_path / name)


def test_an_export_that_fails_leaves_the_file_of_before(
    built: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "links.tsv"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise StoreError("names", "are damaged")

    monkeypatch.setattr(name_arrays, "urls_of", fail)
    with pytest.raises(StoreError):
        export.export_graph(built, "page", path)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_the_commands_write_files(built: Workspace, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        ended = CliRunner().invoke(app, ["graph", *arguments])
        assert ended.exit_code == 0, ended.output
        return ended.output

    links, around, degrees = (tmp_path / name for name in ("l.tsv", "around.svg", "degrees.svg"))
    assert run("export", built.root, "-o", str(links)) == f"12 links in {links}\n"
    run("neighbourhood", built.root, "http://c.org/4", "--depth", "2", "-o", str(around))
    drawn = ET.parse(around).getroot()  # noqa: S314  # our own file
    assert {link.get("href") for link in drawn.iter(f"{SVG}a")} == {
        f"http://c.org/{n}" for n in (2, 3, 5, 6)
    }
    assert "var(" not in around.read_text()
    shown = run("stats", built.root, "--picture", str(degrees))
    assert "strong components" in shown
    assert "bow tie: core" in shown
    assert len([*ET.parse(degrees).getroot().iter(f"{SVG}circle")]) == 3  # noqa: S314  # as above
    ended = CliRunner().invoke(app, ["graph", "export", built.root, "-o", f"{links}/no/l.tsv"])
    assert ended.exit_code == 1


def test_degrees_are_dots_at_their_places() -> None:
    inlinks, outlinks = charts.degree_chart(Spread([(0, 5), (1, 100), (100, 1)], [(10, 10)]))
    left, right, above, below = charts.MARGINS
    first, last = (
        f'cx="{left}" cy="{above}"',
        (f'cx="{charts.PLOT_WIDTH - right}" cy="{charts.PLOT_HEIGHT - below}"'),
    )
    assert inlinks.count("<circle") == 2
    assert first in inlinks
    assert last in inlinks
    assert "1 inlinks: 100 pages" in inlinks
    assert f'cx="{charts.PLOT_WIDTH - right}" cy="{above}"' in outlinks
    assert "<circle" not in charts.degree_chart(Spread([(0, 5)], []))[0]
    assert [charts._power(decade) for decade in (0, 2, 3, 5, 6)] == ["1", "100", "1k", "100k", "1M"]
