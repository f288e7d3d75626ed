"""Parsers of other packages, laid out in a folder as an installer does."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer import parse
from gossamer.errors import ConfigError, EngineError
from gossamer.parse import Rules
from gossamer.parse.parsed_page import Page, ParsedPage
from gossamer.parse.process.guarded_parser import GuardedParser
from tests.support.plugin_packages import forget_plugins
from tests.support.stored_rounds import HOME, Fetched, store_round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gossamer.state.workspace import Workspace

    Install = Callable[..., None]

READS = """
import os, sys
from gossamer.parse import ParsedPage

def read(content, rules):
    word = content.page.body.decode()
    if word == "raise":
        raise ValueError("x" * 1_000)
    if word == "exit":
        sys.exit(3)
    if word == "print":
        print("printed")
        os.write(1, b"written")
    if word == "nothing":
        return None
    if word == "wrong":
        return ParsedPage(outcome="parsed", title=5)
    if word == "strange":
        return ParsedPage(outcome="parsed", title=object())
    return ParsedPage(outcome="parsed", title=f"{content.mime}: {word}")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package: its name, its source, and the types and functions of its parsers."""
    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{inherited}")  # for processes of parsers
    monkeypatch.syspath_prepend(tmp_path)

    names = []

    def install(name: str, source: str, **parsers: str) -> None:
        names.append(name)
        (tmp_path / f"{name}.py").write_text(source)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        entries = "".join(f"{kind} = {name}:{what}\n" for kind, what in parsers.items())
        (info / "entry_points.txt").write_text(f"[gossamer.parsers]\n{entries}")
        forget_plugins()

    yield install
    forget_plugins()
    for name in names:
        sys.modules.pop(name, None)


def read(parser: GuardedParser, body: bytes, mime: str = "text/x-words") -> ParsedPage:
    return parser.parse(Page(HOME, {"content-type": mime}, body))


@pytest.mark.server
def test_a_package_reads_a_type_and_may_replace_ours(install: Install) -> None:
    install("words", READS, **{"text/x-words": "read", "application/json": "read"})
    with GuardedParser(Rules()) as parser:
        page = read(parser, b"yes")
        assert (page.outcome, page.content_type) == ("parsed", "text/x-words")
        assert page.title == "text/x-words: yes"
        assert read(parser, b"{}", "application/json").title == "application/json: {}"
        assert read(parser, b"<p>x", "text/html").text == "x"


@pytest.mark.server
@pytest.mark.parametrize(
    ("word", "detail"),
    [
        (b"raise", "ValueError('xxx"),
        (b"exit", "the parser ended with exit code 3"),
        (b"nothing", "AttributeError("),
        (
            b"wrong",
            "the parser returned an invalid page: Expected `str | null`, got `int` - at `$.title`",
        ),
        (b"strange", "TypeError("),
    ],
)
def test_what_a_package_breaks_is_the_page_it_had(
    install: Install, word: bytes, detail: str
) -> None:
    install("words", READS, **{"text/x-words": "read"})
    with GuardedParser(Rules()) as parser:
        page = read(parser, word)
        assert page.outcome == "failed"
        assert page.detail is not None
        assert page.detail.startswith(detail)
        assert len(page.detail) <= 200
        assert read(parser, b"next").title == "text/x-words: next"


@pytest.mark.server
def test_what_a_package_prints_is_no_page(
    install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    install("words", READS, **{"text/x-words": "read"})
    with GuardedParser(Rules()) as parser:
        assert read(parser, b"print").title == "text/x-words: print"
    assert "written" in (error := capfd.readouterr().err)
    assert "printed" in error


UNUSABLE = {
    "not imported": [("a", "import nowhere_to_be_found", {"text/a": "f"})],
    "no such name": [("a", "", {"text/a": "f"})],
    "no function": [("a", "f = 1", {"text/a": "f"})],
    "no type": [("a", "f = print", {"Text/A": "f"})],
    "two of them": [("a", "f = print", {"text/a": "f"}), ("b", "f = print", {"text/a": "f"})],
}
WHY = {
    "not imported": "parser text/a .*No module named 'nowhere_to_be_found'",
    "no such name": "parser text/a .*AttributeError",
    "no function": "parser text/a .*a:f is not a function",
    "no type": "parser Text/A .*not a media type in lower case",
    "two of them": "parser text/a .*b:f is not the only parser for this type",
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_package_that_cannot_be_used_is_told_before_the_step(
    work: Workspace, install: Install, case: str
) -> None:
    for name, source, parsers in UNUSABLE[case]:
        install(name, source, **parsers)
    store_round(work, [Fetched(HOME, b"<p>x")])
    before = work.store.manifest
    with pytest.raises(ConfigError, match=WHY[case]) as raised:
        parse.run(work)
    assert raised.value.remedy == "repair or uninstall the package it came with"
    assert work.store.manifest == before


@pytest.mark.server
def test_a_machine_on_which_it_cannot_be_used_says_so(
    install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    install("words", "import nowhere_to_be_found", **{"text/x-words": "read"})
    with GuardedParser(Rules()) as parser, pytest.raises(EngineError, match="exit code 1"):
        read(parser, b"x")
    assert "No module named 'nowhere_to_be_found'" in capfd.readouterr().err
