"""What `make wheels` has built, in empty environments outside of this checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from release.build_wheels import find_pythons
from tests.support.loopback import Script, loopback, page
from tests.support.repository import ROOT

pytestmark = pytest.mark.wheels

UV = Path(sys.executable).with_name("uv")
BUILT = sorted((ROOT / "build" / "wheels").glob("gossamer-*"))
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
HOOK = SETTINGS["tool"]["hatch"]["build"]["hooks"]["custom"]
COMPILED = [
    ".".join(Path(module).relative_to("src").with_suffix("").parts) for module in HOOK["modules"]
]
PAGES: dict[str, bytes | list[bytes] | Script] = {
    "/": page(b"<title>Fruit</title><a href=/apple>apples</a> <p>All the fruit that we have."),
    "/apple": page(b"<title>Apple cider</title><p>Cider is made of apples, pressed in autumn."),
}
IMPORT = """\
import importlib, sys
from gossamer.native import LOOPS, TEXTS
found = [importlib.import_module(name).__file__.endswith(".so") for name in sys.argv[1:]]
print([*found, None not in (LOOPS, TEXTS)])
"""


class Installed(NamedTuple):
    """An environment with the locked dependencies and a wheel or sdist of ours, and no compiler."""

    folder: Path

    def run(self, *words: str | Path) -> str:
        """Run a program of the environment, with an empty home outside of this checkout."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            [self.folder / "bin" / words[0], *words[1:]],
            cwd=home,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def install(built: Path, folder: Path) -> Installed:
    """Install with the Python that a compiled wheel names, or with the oldest one."""
    pythons = find_pythons()
    version = re.search(r"-cp3(\d+)-", built.name)
    python = pythons[int(version[1]) if version else min(pythons)]
    inside = ("--quiet", "--python", folder / "bin" / "python")
    subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=True)
    locked = ("--require-hashes", "--no-deps", "-r", ROOT / "requirements.lock")
    subprocess.run([UV, "pip", "install", *inside, *locked], check=True)
    backend = ("--build-constraints", ROOT / "requirements-build.lock")
    no_compiler = {**os.environ, "CC": "/bin/false"}
    ours = (UV, "pip", "install", *inside, "--no-deps", "--no-cache", *backend, built)
    subprocess.run(ours, env=no_compiler, check=True)
    subprocess.run([UV, "pip", "check", *inside], check=True)
    return Installed(folder)


@pytest.mark.parametrize("built", BUILT, ids=lambda path: path.name)
def test_it_crawls_indexes_and_searches(built: Path, tmp_path: Path) -> None:
    installed = install(built, tmp_path / "environment")
    compiled = "-cp3" in built.name
    form = "compiled" if compiled else "not compiled"
    assert installed.run("gossamer", "--version").rstrip().endswith(f", parser {form}")
    assert (
        installed.run("python", "-c", IMPORT, *COMPILED) == f"{[compiled] * (len(COMPILED) + 1)}\n"
    )
    with loopback() as server:
        server.answers = PAGES
        installed.run("gossamer", "crawl", "fruit", "--own", f"http://{server.address}/")
    found = installed.run("python", "-m", "gossamer", "search", "fruit", "cider", "--json")
    assert [hit["title"] for hit in json.loads(found)["hits"]] == ["Apple cider"]


def test_there_is_an_sdist_and_a_wheel_for_each_python() -> None:
    names = [path.name.removeprefix(f"gossamer-{SETTINGS['project']['version']}") for path in BUILT]
    tags = [f"-cp3{minor}-cp3{minor}-" for minor in find_pythons()]
    assert sorted(re.sub("-(manylinux|macosx).*", "-", name) for name in names) == sorted(
        [".tar.gz", "-py3-none-any.whl", *tags]
    )
