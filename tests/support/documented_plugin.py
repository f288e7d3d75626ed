"""The package that docs/plugins.md shows, installed in a folder."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


def install(folder: Path) -> None:
    """The files that an installer would put there."""
    (package,) = re.findall(r"^```toml\n(\[project\].*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (module,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "gossamer_gardens.py").write_text(module)
    info = folder / "gossamer_gardens-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gossamer-gardens\nVersion: 1.0\n")
    groups = tomllib.loads(package)["project"]["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
