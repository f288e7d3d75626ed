"""The README is true: its commands exist, its Python runs. test_demo.py has its output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from gossamer import cli
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.code_blocks import blocks
from tests.support.command_line import lent
from tests.support.repository import PAGES_OF_DOCS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *PAGES_OF_DOCS)
}
GROUP: Any = typer.main.get_command(cli.app)


def commands(text: str) -> list[str]:
    shell = [line for block in blocks(text, "") for line in block.splitlines()]
    return [line for line in shell if line.startswith("gossamer ")]


@pytest.mark.parametrize(
    ("page", "line"), [(page, line) for page, text in DOCS.items() for line in commands(text)]
)
def test_every_command_in_the_docs_is_valid(page: str, line: str) -> None:
    import shlex

    name, *words = shlex.split(line.partition(" #")[0])[1:]
    assert name in GROUP.commands, page
    command = GROUP.commands[name]
    parent = GROUP.make_context("gossamer", [name], resilient_parsing=True)
    command.make_context(name, words, parent)  # raises for an option or argument that is none


def test_the_python_of_the_readme_runs(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (snippet,) = blocks(README, "python")
    with FakeWeb(Web(hosts=1, pages_per_host=2, mix=Mix.plain())) as fake:
        settings = (
            "fetch = {delay_s = 0, delay_factor = 0, address_delay_s = 0, "
            'allow_networks = ["127.0.0.0/8"], '
            f'host_overrides = {{"*.test" = "{fake.address}"}}}}'
        )
        snippet = snippet.replace('fetch.contact = "you@example.org"', settings)
        snippet = snippet.replace("https://example.org/", "http://site-0.test/")
        title = fake.web.title("site-0.test", 1)
        snippet = snippet.replace("some words", title)
        with lent(engine):
            exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102  # our own words
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].startswith(f"{title} http://site-0.test/")
    assert re.search(r"fetched +2", printed)


def test_links_lead_to_existing_files() -> None:
    for page, text in DOCS.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"
