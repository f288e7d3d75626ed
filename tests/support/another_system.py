"""Programs for which this machine does not run Linux."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "not_linux"


def environment_without_linux() -> dict[str, str]:
    """The environment of such a program and its child processes: see not_linux/sitecustomize.py."""
    inherited = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(FOLDER), inherited)))}
