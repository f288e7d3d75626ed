"""The files in deploy/ name commands, options and files that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from gossamer import cli
from gossamer.stopping import CTRL_C

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "gossamer@.service"
CONTAINER = DEPLOY / "Containerfile"


def settings_of(unit: Path) -> dict[str, dict[str, list[str]]]:
    """The sections of a unit (systemd.syntax(7)); a name may stand more than once."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in unit.read_text().splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = match[1]
        elif line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(section, {}).setdefault(name, []).append(value)
    return found


def options_of(words: list[str]) -> set[str]:
    return {word for word in words if word.startswith("--")}


def known_options(command: str) -> set[str]:
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    return {option for param in commands[command].params for option in param.opts}


def test_the_unit_starts_a_command_that_exists() -> None:
    (line,) = settings_of(UNIT)["Service"]["ExecStart"]
    program, command, folder, *options = shlex.split(line)
    assert Path(program).name == "gossamer"
    assert folder.startswith("/var/lib/gossamer/")
    assert {"--forever", "--serve"} == options_of(options) <= known_options(command)


def test_the_unit_waits_for_the_messages_that_a_crawl_sends() -> None:
    service = settings_of(UNIT)["Service"]
    assert service["Type"] == ["notify"]
    assert service["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert service["SuccessExitStatus"] == [str(CTRL_C)]
    assert {"WatchdogSec", "Restart", "StateDirectory", "CacheDirectory"} <= service.keys()


def test_the_container_copies_files_that_exist_and_its_example_works() -> None:
    text = CONTAINER.read_text()
    for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE):
        *sources, target = line.split()
        assert target.startswith("/opt/gossamer/")
        for source in sources:
            assert (ROOT / source).exists()
    example = re.sub(r"\\\n# *", "", text)
    (line,) = re.findall(r"gossamer +crawl (.+)$", example, re.MULTILINE)
    assert options_of(shlex.split(line)) <= known_options("crawl")
    (folder,) = re.findall(r"^VOLUME (.+)$", text, re.MULTILINE)
    assert shlex.split(line)[0] == folder


@pytest.mark.parametrize("path", [UNIT, CONTAINER], ids=lambda path: path.name)
def test_the_documentation_names_it(path: Path) -> None:
    assert f"deploy/{path.name}" in (ROOT / "docs/operating.md").read_text()
