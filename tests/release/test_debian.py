"""What `make wheels` has built, on a Debian that has nothing but Python.

Prints the seconds and the CPU seconds of each command from `pip install` to the first result. With
ARM=1 also on arm64, whose programs qemu runs: that takes an hour, and its seconds mean nothing.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer.cli.demo import free_port
from tests.support.machine_needs import lacking
from tests.support.pip_settings import pip_settings
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.debian

WHEELS = ROOT / "build" / "wheels"
AUTHORITY = "/etc/registry.pem"
SYSTEMS = [
    ("bookworm", "amd64", "cp311-cp311"),
    ("trixie", "amd64", "cp313-cp313"),
    *([("trixie", "arm64", "py3-none-any")] if os.environ.get("ARM") else []),
]
ENTER = """\
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" \
env -i HOME=/root PATH=/root/.venv/bin:/usr/bin:/bin "$@"
"""
"""Its mounts end with the command."""
FIRST_RESULT = """\
import signal, subprocess, sys, urllib.request
port = sys.argv[1]
url = f"http://127.0.0.1:{port}/api/v1/search?q=host:gazette.test"
demo = subprocess.Popen(
    ["gossamer", "demo", "--folder", "/root/demo", "--port", port, "--no-browser"],
    stdout=subprocess.PIPE,
)
for _ in demo.stdout:  # a line for each step, without end
    try:
        with urllib.request.urlopen(url) as answer:
            print(answer.read().decode())
        break
    except OSError:  # it does not listen yet, or nothing is indexed yet
        continue
demo.send_signal(signal.SIGINT)
demo.communicate()
"""
"""Runs the demo until it answers, and prints the answer."""
TRUST = """\
import pathlib, subprocess, sys
settings = pathlib.Path("/root/demo/gossamer.toml")
demo = ["gossamer", "demo", "--folder", "/root/demo", "--port", sys.argv[1], "--no-browser"]
refused = subprocess.run(demo, capture_output=True, text=True)
assert "engine.trust_users" in refused.stderr, refused
settings.write_text("engine.trust_users = true\\n" + settings.read_text())
"""
"""Does as the demo says where the kernel has no seccomp, as qemu's has none."""


class System(NamedTuple):
    """A Debian in a folder, and the wheel that pip would take there."""

    root: Path
    wheel: Path
    is_emulated: bool
    took: list[tuple[str, float, float]]

    def run(self, *command: str) -> str:
        """Run a command of the system and note its seconds; returns what it prints."""
        began, before = time.monotonic(), _cpu_s()
        inside = ("unshare", "--mount", "sh", "-c", ENTER, str(self.root), *command)
        done = subprocess.run(inside, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        self.took.append((" ".join(command[:2]), time.monotonic() - began, _cpu_s() - before))
        return done.stdout


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(params=SYSTEMS, ids="-".join)
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[System]:
    suite, architecture, tag = request.param
    wheels = list(WHEELS.glob(f"*-{tag}*.whl"))
    if not wheels:
        lacking(f"there is no wheel for {tag} on this machine")
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        lacking("this needs root and mmdebstrap: apt-get install mmdebstrap")
    is_emulated = architecture == "arm64" and platform.machine() != "aarch64"
    if is_emulated:
        _require_emulation("qemu-aarch64")
    root = tmp_path / "debian"
    packages = "--include=python3-venv,ca-certificates"
    subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", packages, f"--arch={architecture}",
         "--aptopt=APT::Install-Recommends false", suite, root],
        check=True,
    )  # fmt: skip
    settings = pip_settings(root / AUTHORITY.lstrip("/"), AUTHORITY)
    (root / "etc" / "pip.conf").write_text(settings)
    shutil.copy("/etc/resolv.conf", root / "etc")
    shutil.copy(wheels[0], root / "root")
    yield System(root, wheels[0], is_emulated, [])
    shutil.rmtree(root)


def _require_emulation(name: str) -> None:
    if not Path("/proc/sys/fs/binfmt_misc", name).exists():
        lacking(f"this needs {name}: apt-get install qemu-user-static binfmt-support")


def test_from_the_wheel_to_the_first_result(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    system.run("python3", "-m", "venv", "/root/.venv")
    system.run("pip", "install", "--quiet", f"/root/{system.wheel.name}")
    form = "not compiled" if "-none-any" in system.wheel.name else "compiled"
    assert system.run("gossamer", "--version").rstrip().endswith(f", parser {form}")
    port = str(free_port())
    if system.is_emulated:
        system.run("python3", "-c", TRUST, port)
    (system.root / "root" / "first_result.py").write_text(FIRST_RESULT)
    found = json.loads(system.run("python3", "/root/first_result.py", port))
    assert found["hits"]
    with capsys.disabled():
        print()
        for command, wall_s, cpu_s in system.took:
            print(f"{wall_s:7.1f} s {cpu_s:7.1f} CPU s  {command}")
        used = subprocess.check_output(["du", "-sm", system.root / "root" / ".venv"], text=True)
        print(f"{used.split()[0]} MB in .venv")
