"""The README is true: its commands exist, its Python runs, its output has the current form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from rich.console import Console

from gossamer import cli
from gossamer.cli import demo
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.code_blocks import blocks
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
}
NUMBER = re.compile(r"[\d,.]*\d")


def commands(text: str) -> list[str]:
    shell = [line for block in blocks(text, "") for line in block.splitlines()]
    return [line for line in shell if line.startswith("gossamer ")]


@pytest.mark.parametrize(
    ("page", "line"), [(page, line) for page, text in DOCS.items() for line in commands(text)]
)
def test_every_command_in_the_docs_is_valid(page: str, line: str) -> None:
    import shlex

    name, *words = shlex.split(line.partition(" #")[0])[1:]
    group = typer.main.get_command(cli.app)
    assert name in group.commands, page  # type: ignore[attr-defined]
    command: Any = group.commands[name]  # type: ignore[attr-defined]
    parent = group.make_context("gossamer", [name], resilient_parsing=True)
    command.make_context(name, words, parent)  # raises for an option or argument that is none


@pytest.mark.server
def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (snippet,) = blocks(README, "python")
    with FakeWeb(Web(hosts=1, pages_per_host=3, mix=Mix.plain())) as fake:
        settings = (
            "fetch = {delay_s = 0, delay_factor = 0, address_delay_s = 0, "
            'allow_networks = ["127.0.0.0/8"], '
            f'host_overrides = {{"*.test" = "{fake.address}"}}}}'
        )
        snippet = snippet.replace('fetch.contact = "you@example.org"', settings)
        snippet = snippet.replace("https://example.org/", "http://site-0.test/")
        title = fake.web.title("site-0.test", 1)
        snippet = snippet.replace("some words", title)
        exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102  # our own words
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].startswith(f"{title} http://site-0.test/")
    assert re.search(r"fetched +3", printed)


@pytest.mark.server
def test_the_output_shown_has_the_shape_of_the_demos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "doc_folders", dict)  # this machine may have many manuals
    monkeypatch.setattr(demo, "ROUNDS", 1)
    with (tmp_path / "out").open("w+", encoding="utf-8") as file:
        demo.run(tmp_path / "demo", Console(file=file, width=100), hosts=2)
        file.seek(0)
        printed = {shape(line) for line in file}
    (shown,) = [block for block in blocks(README, "") if block.startswith("A web of")]
    lines = [line for line in shown.splitlines() if line != "…"]
    assert {shape(line) for line in lines} <= printed


def shape(line: str) -> str:
    """A line without its figures; a step without its counts, which depend on the web."""
    line = re.sub(r"^(round .*? s)  .*", r"\1", line.rstrip())
    return re.sub(r" +", " ", NUMBER.sub("N", line))


def test_links_lead_to_existing_files() -> None:
    for page, text in DOCS.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"
