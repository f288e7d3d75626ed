"""Where packages come from on this machine, for systems that a test builds in a folder."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"index-url", "extra-index-url", "trusted-host", "proxy", "cert"}


def pip_settings(authority: Path, place: str) -> str:
    """A pip.conf for another system, with this machine's settings.

    If these name an authority, it is copied to the file `authority`, which the other system has at
    `place`.
    """
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.check_output(command, text=True)
    found = dict(re.findall(r"^[\w:]+\.([\w-]+)='(.*)'$", listed, re.MULTILINE))
    shutil.copy(found.get("cert", "/dev/null"), authority)
    found |= {"cert": place} if "cert" in found else {}
    lines = [f"{name} = {value}" for name, value in found.items() if name in NAMES]
    return "\n".join(["[global]", *lines, ""])
