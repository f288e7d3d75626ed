"""Pages written by hand name every command, option and error that there is, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer.main

from gossamer import cli, errors
from gossamer.monitor import Heartbeat
from gossamer.serve.answers import Results
from gossamer.store import Manifest

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).parent.parent
COMMANDS: dict[str, click.Command] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def json_of(page: str) -> list[str]:
    return re.findall(r"^```json\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL)


def test_every_command_has_a_section_with_an_example() -> None:
    sections = dict(
        re.findall(
            r"^### (\w+)\n(.*?)(?=^##|\Z)", read("docs/commands.md"), re.MULTILINE | re.DOTALL
        )
    )
    assert sections.keys() == COMMANDS.keys()
    for name, section in sections.items():
        assert f"\ngossamer {name}" in section


def test_every_option_is_told() -> None:
    sections = re.split(r"^### ", read("docs/commands.md"), flags=re.MULTILINE)
    texts = {section.partition("\n")[0]: section for section in sections}
    for name, command in COMMANDS.items():
        options = {max(p.opts, key=len) for p in command.params if p.param_type_name == "option"}
        of_all_steps = {"--help", "--json"}
        told = set(re.findall(r"--[a-z-]+", texts[name]))
        assert options - of_all_steps <= told, name
        assert told <= options | of_all_steps, name


def test_every_error_has_a_remedy() -> None:
    tree = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.GossamerError)
    }
    section = read("docs/operating.md").partition("## Errors and remedies")[2]
    told = set(re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))
    assert told == tree - {"GossamerError", "StoreError"}  # which only have kinds


def test_the_json_shown_is_what_is_written() -> None:
    manifest, heartbeat = json_of("docs/formats.md")
    (results,) = json_of("docs/searching.md")
    for text, kind in ((manifest, Manifest), (heartbeat, Heartbeat), (results, Results)):
        decoded = msgspec.json.decode(text, type=kind)
        assert json.loads(msgspec.json.encode(decoded)) == json.loads(text)


def test_every_module_has_its_place_in_the_architecture() -> None:
    package = ROOT / "src" / "gossamer"
    modules = {path.name for path in package.glob("[!_]*.py")}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    told = set(re.findall(r"\b(\w+\.py|\w+/)", read("ARCHITECTURE.md")))
    assert modules | folders <= told
