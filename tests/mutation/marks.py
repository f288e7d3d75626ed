"""A copy of the sources that marks the statements of the core that are executed.

Coverage libraries miss the workers that run most of the steps, because these serve many tests and
are killed. In this copy, each statement of a function sets a byte of a file that all processes map
into their memory. After each test, `recorder.py` reads and clears these bytes.
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from tests.mutation.recording import Recording, core_files, statements_of
from tests.mutation.trial import copy_sources

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "gossamer_marks"
SOURCE = """
import mmap
from pathlib import Path

with Path(__file__).with_name("marks").open("r+b") as file:
    marks = mmap.mmap(file.fileno(), 0)


def mark(place: int) -> None:
    marks[place] = 1
"""


def copy_with_marks(root: Path, copy: Path, recording: Recording) -> None:
    copy_sources(root, copy)
    for path in core_files(root):
        tree = ast.parse(path.read_text())
        places = statements_of(tree, str(path.relative_to(root)))
        _Marking({node: recording.number(place) for place, node in places}).visit(tree)
        first = len(list(takewhile(_is_head, tree.body)))
        tree.body[first:first] = ast.parse(f"from {MODULE} import mark as _mark_place").body
        marked = ast.unparse(ast.fix_missing_locations(tree))
        (copy / path.relative_to(root / "src")).write_text(marked)
    recording.save_places()
    (copy / f"{MODULE}.py").write_text(SOURCE)
    (copy / "marks").write_bytes(bytes(len(recording.places)))


def _is_head(node: ast.stmt) -> bool:
    """Whether it is the docstring, or an import that must follow it."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )


class _Marking(ast.NodeTransformer):
    """Puts a call before each statement of the functions of a module."""

    def __init__(self, numbers: dict[ast.stmt, int]) -> None:
        self._numbers = numbers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._mark(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        self._mark(node)
        return node

    def _mark(self, node: ast.AST) -> None:
        for child in [*ast.walk(node)]:
            for name in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(child, name, None), list):
                    setattr(child, name, [each for old in block for each in self._marked(old)])

    def _marked(self, node: ast.stmt) -> list[ast.stmt]:
        call = ast.parse(f"_mark_place({self._numbers[node]})").body[0]
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        return [node] if is_text or isinstance(node, ast.Nonlocal | ast.Global) else [call, node]
