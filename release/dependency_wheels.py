"""Does each locked dependency have a wheel for every platform that Gossamer supports?

uv asks the package index for all of them side by side, with one request per package, and with its
own settings. The exit code is 1 if a wheel is missing that is not in KNOWN_GAPS, or if a gap that
is listed there has been closed.

    .venv/bin/python release/dependency_wheels.py [LOCK]
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
MINORS = (11, 12, 13, 14)
GLIBC = 36
"""That of Debian 12. Its pip installs wheels that need an older one."""
MACOS = (14, 0)


class Platform(NamedTuple):
    """An operating system on a processor, as wheels and markers name it."""

    title: str
    machine: str
    sys_platform: str
    tags: tuple[str, ...]


class Package(NamedTuple):
    """A locked package; `wheels` are its files on the index."""

    name: str
    version: str
    marker: str
    wheels: tuple[str, ...]


Gap = tuple[str, str, int]
"""A package has no wheel for this title of a platform, and this minor version of Python 3."""


def _manylinux(machine: str) -> tuple[str, ...]:
    numbered = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC, 4, -1)]
    return (*numbered, *(f"manylinux{year}_{machine}" for year in (2014, 2010, 1)))


PLATFORMS = (
    Platform("Linux x86_64", "x86_64", "linux", _manylinux("x86_64")),
    Platform("Linux aarch64", "aarch64", "linux", _manylinux("aarch64")),
    Platform("macOS arm64", "arm64", "darwin", tuple(mac_platforms(MACOS, "arm64"))),
)
KNOWN_GAPS: frozenset[Gap] = frozenset(
    [
        # It is only published as a source, which is pure Python and needs no compiler.
        *(("pyspark-client", platform.title, minor) for platform in PLATFORMS for minor in MINORS),
    ]
)


def read_packages(lock: Path) -> list[Package]:
    """The packages of a lock file, with the wheels that the index has of their versions."""
    with TemporaryDirectory() as scratch:
        resolved = Path(scratch, "pylock.toml")
        command: list[str | Path] = [
            UV,
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--no-deps",
            "--no-header",
        ]
        command += ["--python-version", f"3.{MINORS[0]}", "--format", "pylock.toml"]
        subprocess.run([*command, "--output-file", resolved, lock], check=True)
        listed = tomllib.loads(resolved.read_text("utf-8"))["packages"]
    return [
        Package(
            each["name"],
            each["version"],
            each.get("marker", ""),
            tuple(map(_file_name, each.get("wheels", ()))),
        )
        for each in listed
    ]


def _file_name(wheel: Mapping[str, Any]) -> str:
    name: str = wheel.get("name") or wheel["url"].rpartition("/")[2]
    return name


def find_gaps(package: Package) -> Iterator[Gap]:
    """The platforms and versions of Python that need the package and have no wheel of it."""
    offered = frozenset[Tag]().union(*(parse_wheel_filename(each)[3] for each in package.wheels))
    for platform, minor in product(PLATFORMS, MINORS):
        if is_needed(package, platform, minor) and offered.isdisjoint(_tags(platform, minor)):
            yield package.name, platform.title, minor


def is_needed(package: Package, platform: Platform, minor: int) -> bool:
    environment = {
        "platform_machine": platform.machine,
        "platform_system": platform.title.partition(" ")[0].replace("macOS", "Darwin"),
        "python_full_version": f"3.{minor}.0",
        "python_version": f"3.{minor}",
        "sys_platform": platform.sys_platform,
    }
    return not package.marker or Marker(package.marker).evaluate(environment)


def _tags(platform: Platform, minor: int) -> Iterator[Tag]:
    """What pip accepts there."""
    yield from cpython_tags((3, minor), platforms=platform.tags)
    yield from compatible_tags((3, minor), f"cp3{minor}", platform.tags)


def _print_table(packages: list[Package], gaps: frozenset[Gap]) -> None:
    def cell(package: Package, platform: Platform, minor: int) -> str:
        if (package.name, platform.title, minor) in gaps:
            return "MISS"
        return "yes" if is_needed(package, platform, minor) else "-"

    titles = {f"{each.name} {each.version}": each for each in packages}
    width = max(map(len, titles))
    versions = "".join(f"3.{minor:<4}" for minor in MINORS)
    print(" " * width, *(platform.title.ljust(len(versions)) for platform in PLATFORMS))
    print(" " * width, *(versions for _ in PLATFORMS))
    for title, package in titles.items():
        cells = (
            "".join(f"{cell(package, platform, minor):<6}" for minor in MINORS)
            for platform in PLATFORMS
        )
        print(title.ljust(width), *cells)


def main(lock: Path = ROOT / "requirements.lock") -> int:
    """Print the table and what differs from KNOWN_GAPS; returns the exit code."""
    packages = read_packages(lock)
    gaps = frozenset(gap for package in packages for gap in find_gaps(package))
    _print_table(packages, gaps)
    for problem, found in (
        ("no wheel", gaps - KNOWN_GAPS),
        ("a wheel, or no longer locked: remove it from KNOWN_GAPS", KNOWN_GAPS - gaps),
    ):
        for name, platform, minor in sorted(found):
            print(f"{name} on {platform}, Python 3.{minor}: {problem}", file=sys.stderr)
    return 1 if gaps != KNOWN_GAPS else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
