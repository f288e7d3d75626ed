"""Pages written by hand name every command, option and error, and none that does not exist."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
import typer.main

from gossamer import cli, errors
from gossamer.search.results import Results
from gossamer.state.heartbeats import TaskProgress
from gossamer.storage import checksums
from gossamer.storage.listings import LARGEST, NEWEST
from gossamer.storage.manifest import Layer, StepReport, decode_manifest, encode_manifest
from gossamer.storage.ownership import Owner
from tests.support.bare_stores import unlisted
from tests.support.repository import PAGES_OF_DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

PAGES = [
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *(path.relative_to(ROOT).as_posix() for path in PAGES_OF_DOCS),
]
EXAMPLE = "gossamer_gardens"
"""The package that docs/plugins.md builds."""
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


def test_every_option_is_documented_and_every_documented_option_exists() -> None:
    sections = re.split(r"^### ", read("docs/commands.md"), flags=re.MULTILINE)
    texts = {section.partition("\n")[0]: section for section in sections}
    for name, command in COMMANDS.items():
        parts = [command, *getattr(command, "commands", {}).values()]
        params = [param for part in parts for param in part.params]
        options = {max(p.opts, key=len) for p in params if p.param_type_name == "option"}
        opposites = {each for param in params for each in param.secondary_opts}
        of_all_steps = {"--help", "--json"}
        told = set(re.findall(r"--[a-z-]+", texts[name]))
        assert options - of_all_steps <= told, name
        assert told <= options | opposites | of_all_steps, name


def test_every_error_has_a_remedy() -> None:
    tree = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.GossamerError)
    }
    section = read("docs/operating.md").partition("## Errors and remedies")[2]
    told = set(re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))
    assert told == tree - {"GossamerError", "StoreError"}  # which only have kinds


def test_the_json_examples_have_the_form_that_gossamer_writes() -> None:
    manifest, owner, heartbeat = json_of("docs/formats.md")
    (results,) = json_of("docs/searching.md")
    shown = json.loads(manifest)
    body = json.dumps({**shown, "xxh3": None})[: -len(', "xxh3": null}')].encode()
    data = b'%s,"xxh3":"%s"}' % (body, checksums.checksum_bytes(body).encode())
    written = json.loads(encode_manifest(decode_manifest(data, shown["version"], unlisted)))
    assert shown | {"xxh3": ""} == written | {"xxh3": ""}
    for text, kind in ((owner, Owner), (heartbeat, TaskProgress), (results, Results)):
        decoded = msgspec.json.decode(text, type=kind)
        assert json.loads(msgspec.json.encode(decoded)) == json.loads(text)


def test_the_sizes_of_listings_are_told() -> None:
    told = " ".join(read("docs/formats.md").split())
    assert f"up to {NEWEST[Layer]} files" in told
    assert f"(up to {LARGEST[Layer]:,})" in told
    reports = f"with {NEWEST[StepReport]} and {LARGEST[StepReport]} in place of"
    assert f"{reports} {NEWEST[Layer]} and {LARGEST[Layer]:,}." in told


def test_every_module_has_its_place_in_the_architecture() -> None:
    package = ROOT / "src" / "gossamer"
    modules = {path.name for path in package.glob("[!_]*.py")}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    told = set(re.findall(r"\b(\w+\.py|\w+/)", read("ARCHITECTURE.md")))
    assert modules | folders <= told


@pytest.mark.server
def test_files_named_in_pages_exist() -> None:
    paths = (*ROOT.glob("*.py"), *ROOT.glob("[a-z]*/**/*.py"))
    files = [f"/{path.relative_to(ROOT)}" for path in paths]
    missing = {
        f"{page}: {name}"
        for page in PAGES
        for name in re.findall(r"\w[\w/]*\.py\b", read(page))
        if not name.startswith(EXAMPLE) and not any(file.endswith(f"/{name}") for file in files)
    }
    assert not missing


def test_names_that_pages_import_or_mention_exist() -> None:
    for page in PAGES:
        for name in names_of(read(page)):
            assert name.startswith(EXAMPLE) or pkgutil.resolve_name(name), page


def names_of(text: str) -> Iterator[str]:
    """Dotted names of the package: in back quotes, and imported by Python code."""
    yield from re.findall(r"`(gossamer(?:\.[A-Za-z_]\w*)+)", text.replace("`gossamer.toml", ""))
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gossamer"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
