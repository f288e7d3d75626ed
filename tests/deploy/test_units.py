"""deploy/: the units start commands that exist, and systemd accepts them; docs name all files."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from gossamer.config import ServeConfig
from tests.support.deploy_files import DEPLOY, GUIDE, parsed, refused, run
from tests.support.machine_needs import lacking
from tests.support.node_clusters import answers, work
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

__all__ = ["work"]
CRAWL, NODE, SERVE = UNITS = [
    DEPLOY / f"{name}@.service" for name in ("gossamer", "gossamer-node", "gossamer-serve")
]
SOCKET = DEPLOY / "gossamer-serve@.socket"
MOST_EXPOSED = 2.0
"""Of 10, as systemd-analyze counts: what is left are the network, JIT code, and our user."""


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


def started_by(unit: Path, **environment: str) -> list[str]:
    """The words of the command that a unit starts, without the program's."""
    (line,) = settings_of(unit)["Service"]["ExecStart"]
    for name, value in environment.items():
        line = line.replace(f"${{{name}}}", value).replace(f"${name}", value)
    program, *words = shlex.split(line)
    assert program == "/opt/gossamer/bin/gossamer"
    assert "$" not in line
    return words


def hardening_of(unit: Path) -> str:
    _, found = re.split(r"\n\n(?=UMask)", unit.read_text())
    return found


def test_the_unit_of_a_crawl_starts_a_command_that_exists() -> None:
    values = parsed(started_by(CRAWL))
    assert values["crawl"] == "/var/lib/gossamer/%i"
    assert values["forever"]
    assert values["with_page"]


def test_the_units_of_nodes_and_servers_start_what_the_guide_sets() -> None:
    (example,) = re.findall(r"# /etc/gossamer/my-web\.env.*?\n(.+?)```", GUIDE, re.DOTALL)
    given = dict(line.strip().split("=", 1) for line in example.strip().splitlines())
    assert parsed(started_by(SERVE, CRAWL=given["CRAWL"]))["crawl"] == given["CRAWL"]
    options = given["NODE_OPTIONS"].strip('"')
    values = parsed(started_by(NODE, CRAWL=given["CRAWL"], NODE_OPTIONS=options))
    assert (values["host"], values["port"]) == ("10.0.0.1", 9400)
    for unit in (NODE, SERVE):
        assert settings_of(unit)["Service"]["EnvironmentFile"] == ["/etc/gossamer/%i.env"]


def test_the_unit_waits_for_the_messages_that_a_crawl_sends() -> None:
    service = settings_of(CRAWL)["Service"]
    assert service["Type"] == ["notify"]
    assert service["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert "SuccessExitStatus" not in service  # it ends with 0 when it is stopped
    assert {"WatchdogSec", "Restart", "StateDirectory", "CacheDirectory"} <= service.keys()


def test_all_units_are_hardened_alike() -> None:
    assert len({hardening_of(unit) for unit in UNITS}) == 1


@pytest.mark.server
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_unit_and_finds_it_hardened(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        lacking("this needs systemd-analyze: apt-get install systemd")
    # The program must be there, and the name of a template is that of an instance.
    text = unit.read_text().replace("/opt/gossamer/bin/gossamer", "/bin/true")
    copy = tmp_path / unit.name.replace("@.", "@web.")
    copy.write_text(text)
    run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", copy)
    analyse = ("systemd-analyze", "security", "--offline=true")
    run(*analyse, f"--threshold={10 * MOST_EXPOSED:.0f}", copy)
    copy.write_text(text.replace("SystemCallFilter=", "# ").replace("CapabilityBoundingSet=", "# "))
    refused(*analyse, f"--threshold={10 * MOST_EXPOSED:.0f}", copy)


@pytest.mark.server
def test_certificates_let_a_server_and_its_nodes_talk(work: Workspace, tmp_path: Path) -> None:
    made = tmp_path / "made"
    run(DEPLOY / "certificates.sh", made, "node-1.example", "127.0.0.1", "2001:db8::1")
    files = ("node.pem", "node.key", "ca.pem")
    pem, key, trusted = (str(made / name) for name in files)
    settings = ServeConfig(node_certificate=pem, node_key=key, node_authority=trusted)
    assert answers(work, settings, settings)
    assert sorted(path.name for path in made.iterdir()) == sorted(files)
    said = run("openssl", "x509", "-in", made / "node.pem", "-noout", "-ext", "subjectAltName")
    assert "DNS:node-1.example, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1" in said
    before = (made / "node.pem").read_bytes()
    run(DEPLOY / "certificates.sh", made, "127.0.0.2")
    assert (made / "node.pem").read_bytes() == before


@pytest.mark.server
def test_systemd_accepts_the_socket(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        lacking("this needs systemd-analyze: apt-get install systemd")
    for unit in (SOCKET, SERVE):
        text = unit.read_text().replace("/opt/gossamer/bin/gossamer", "/bin/true")
        (tmp_path / unit.name.replace("@.", "@web.")).write_text(text)
    run(
        "systemd-analyze",
        "verify",
        "--man=no",
        "--recursive-errors=no",
        tmp_path / SOCKET.name.replace("@.", "@web."),
    )
    assert SOCKET.stem == SERVE.stem
    settings = settings_of(SOCKET)["Socket"]
    assert len(settings["ListenStream"]) == 1
    assert "Accept" not in settings


def test_the_documentation_names_every_file() -> None:
    operating = (ROOT / "docs" / "operating.md").read_text("utf-8")
    for path in DEPLOY.iterdir():
        assert f"deploy/{path.name}" in GUIDE + operating
