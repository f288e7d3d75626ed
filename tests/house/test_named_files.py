"""Prose that names a module leads a reader to it: the file is there."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import PurePath

from tests.support.repository import PAGES_OF_DOCS, ROOT

NAMED = re.compile(r"(?<![\w*./-])(?:[a-z]\w*/)*[a-z_]\w*\.py\b")
OF_USERS = {"gossamer_gardens.py"}
"""Files that readers of docs/plugins.md write."""


def prose_of(source: str) -> str:
    """The comments and docstrings of a module, or nothing if it cannot name a file."""
    if not NAMED.search(source):
        return ""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(
        each.string
        for each in tokens
        if each.type == tokenize.COMMENT or (each.type == tokenize.STRING and '"""' in each.string)
    )


def test_every_module_that_prose_names_is_there() -> None:
    roots = ("src", "tests", "bench", "examples", "docs", "release", "hatch_build.py")
    files = [path for root in roots for path in sorted({ROOT / root, *(ROOT / root).rglob("*")})]
    modules = {path.relative_to(ROOT).as_posix() for path in files if path.suffix == ".py"}
    known = {"/".join(PurePath(path).parts[-n:]) for path in modules for n in range(1, 9)}
    prose = {path: prose_of(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")}
    prose |= {path: path.read_text("utf-8") for path in [*ROOT.glob("*.md"), *PAGES_OF_DOCS]}
    missing = [
        f"{path.relative_to(ROOT)} names {name}"
        for path, text in prose.items()
        for name in NAMED.findall(text)
        if name not in known | OF_USERS
    ]
    assert not missing
