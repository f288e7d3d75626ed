"""Packages with plugins, installed in a folder as an installer would leave them."""

from __future__ import annotations

import re
import shutil
import tomllib
from typing import TYPE_CHECKING

from gossamer.parse import installed_parsers
from gossamer.rules import filters
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FTP = ROOT / "examples" / "plugins" / "ftp"


def forget_plugins() -> None:
    """Look for plugins again when they are needed next: those of `sys.path` have changed."""
    for known in (
        filters.find_plugins,
        installed_parsers.find_plugins,
        installed_parsers.installed_parsers,
    ):
        known.cache_clear()


def install_documented(folder: Path) -> None:
    """Install the package that docs/plugins.md shows."""
    (package,) = re.findall(r"^```toml\n(\[project\].*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (module,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "gossamer_gardens.py").write_text(module)
    _write_metadata(folder, package)


def install_ftp(folder: Path) -> None:
    """Install the package of examples/plugins/ftp."""
    shutil.copytree(FTP / "gossamer_ftp", folder / "gossamer_ftp")
    _write_metadata(folder, (FTP / "pyproject.toml").read_text())


def _write_metadata(folder: Path, package: str) -> None:
    project = tomllib.loads(package)["project"]
    name, version = project["name"], project["version"]
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
