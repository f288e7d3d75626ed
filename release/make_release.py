"""Collects what a release consists of, from the wheels that release/build_wheels.py has built.

    .venv/bin/python release/make_release.py WHEELS FOLDER

FOLDER gets the sdist and the wheels, the version's section of CHANGELOG.md, a bill of materials of
the locked dependencies (CycloneDX), a statement of provenance (in-toto, SLSA v1), and SHA256SUMS of
all of these. The statement is not signed: it says what was built from which commit, but whoever
can replace a file can replace it, too.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "build" / "releasing" / "bin"
LOCKS = ("requirements.lock", "requirements-build.lock")
BUILD_TYPE = "urn:gossamer:make-release:1"
BUILDER = "urn:gossamer:checkout"
"""A person's own machine."""


class Unfit(SystemExit):
    """Why this checkout cannot be released."""


def read_version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version: str = project["version"]
    return version


def changes_of(version: str, changelog: str) -> str:
    """The section of a version in CHANGELOG.md. Raises Unfit if there is none."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    found = [each for each in sections if each.startswith(f"[{version}]")]
    if len(found) != 1:
        raise Unfit(f"CHANGELOG.md has {len(found)} sections for {version}; it needs one")
    return f"## {found[0].rstrip()}\n"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Source(NamedTuple):
    """What is released."""

    commit: str
    is_changed: bool
    """Whether files differ from the commit."""


def read_source() -> Source:
    git = ("git", "-C", ROOT)
    commit = subprocess.check_output((*git, "rev-parse", "HEAD"), text=True).strip()
    return Source(commit, bool(subprocess.check_output((*git, "status", "--porcelain"))))


def write_bill(file: Path) -> None:
    """List Gossamer and its locked dependencies, with their hashes."""
    command: list[str | Path] = [TOOLS / "cyclonedx-py", "requirements", ROOT / "requirements.lock"]
    options = ("--pyproject", ROOT / "pyproject.toml", "--output-reproducible")
    subprocess.run([*command, *options, "--output-file", file], check=True)


def provenance(
    files: list[Path], version: str, source: Source, finished: datetime
) -> dict[str, Any]:
    """A statement that these files were built from this commit with these locks."""
    sources = [{"uri": "git+file:.", "digest": {"gitCommit": source.commit}}]
    sources += [
        {"uri": f"file:{lock}", "digest": {"sha256": digest(ROOT / lock)}} for lock in LOCKS
    ]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": digest(file)}} for file in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"version": version, "uncommittedChanges": source.is_changed},
                "internalParameters": {
                    "python": platform.python_version(),
                    "platform": sysconfig.get_platform(),
                },
                "resolvedDependencies": sources,
            },
            "runDetails": {
                "builder": {"id": BUILDER},
                "metadata": {"finishedOn": finished.strftime("%Y-%m-%dT%H:%M:%SZ")},
            },
        },
    }


def collect(wheels: Path, folder: Path) -> None:
    """Write the release of this checkout into `folder`, replacing what is there."""
    version = read_version()
    changes = changes_of(version, (ROOT / "CHANGELOG.md").read_text("utf-8"))
    built = sorted(wheels.glob(f"gossamer-{version}*"))
    if not built:
        raise Unfit(f"{wheels} holds nothing of version {version}: make wheels")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = [Path(shutil.copy2(file, folder)) for file in built]
    files.append(folder / f"gossamer-{version}.cdx.json")
    write_bill(files[-1])
    files.append(folder / "CHANGES.md")
    files[-1].write_text(changes, "utf-8")
    source = read_source()
    statement = provenance(files, version, source, datetime.now(UTC))
    files.append(folder / f"gossamer-{version}.intoto.json")
    files[-1].write_text(json.dumps(statement, indent=2) + "\n", "utf-8")
    sums = "".join(f"{digest(file)}  {file.name}\n" for file in files)
    (folder / "SHA256SUMS").write_text(sums, "utf-8")
    print(f"gossamer {version} in {folder}:", sums, sep="\n", end="")
    if source.is_changed:
        print("this checkout has changes that are not committed, and the provenance says so")


if __name__ == "__main__":
    collect(Path(sys.argv[1]), Path(sys.argv[2]))
