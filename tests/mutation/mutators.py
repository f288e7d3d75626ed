"""The small changes that can be made to a source, by its syntax tree.

Places that no test could notice are left out: annotations, decorators, docstrings, protocols, the
messages of errors, and numbers above 2 and fractions that a module or class gives a name, because
tests use the name.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    Change = tuple[int, int, str]

OPERATORS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
    ast.Add: (r"\+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: (r"\*", ("//",)),
    ast.Div: ("/", ("*",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: (r"\|", ("&",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}
"""The pattern of each operator, and what may stand in its place."""
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
SYMMETRIC = {"max", "min", "zip", "select", "groupBy", "agg", "isin", "least", "greatest"}
SYMMETRIC |= {"partitionBy", "drop", "suppress", "union1d", "multiply", "minimum", "maximum"}
SYMMETRIC |= {"equal", "and_", "or_"}
"""Functions whose arguments are not swapped."""
UNSEEN_KEYWORDS = {"slots", "frozen", "strict", "daemon", "maxsize", "chunksize", "copy"}
UNSEEN_KEYWORDS |= {"use_threads"}
LARGEST_SWITCH = 2
"""Larger numbers that have a name are limits and sizes."""


class Mutant(NamedTuple):
    """What replaces the bytes between two offsets of a source."""

    line: int
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        """Return the changed source."""
        text = source.encode()
        return (text[: self.start] + self.new.encode() + text[self.end :]).decode()

    def lines(self, source: str) -> tuple[str, str]:
        """Return the lines of the place before and after the change, each joined to one line."""
        text = source.encode()
        first = text.rfind(b"\n", 0, self.start) + 1
        last = (text + b"\n").index(b"\n", self.end)
        before, after = text[first : self.start].decode(), text[self.end : last].decode()
        old = text[self.start : self.end].decode()
        return _one_line(before + old + after), _one_line(before + self.new + after)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a module. A few of them may be no Python: see `compiles`."""
    visitor = _Mutators(source)
    for start, end, new in visitor.changes(ast.parse(source)):
        if visitor.text[start:end] == new.encode():  # arguments that are the same
            continue
        yield Mutant(visitor.text.count(b"\n", 0, start) + 1, start, end, new)


def compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class _Mutators(ast.NodeVisitor):
    """Its methods yield the changes of a node as offsets and the new text."""

    def __init__(self, source: str) -> None:
        self.text = source.encode()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def changes(self, node: ast.AST) -> Iterator[Change]:
        """Yield the changes of a node and of those below it."""
        if not _is_unseen(node):
            yield from self.visit(node)
            for child in _seen_children(node):
                yield from self.changes(child)

    def generic_visit(self, node: ast.AST) -> Iterator[Change]:
        """Delete statements that have an effect; leave other nodes as they are."""
        if isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete):
            yield *self._place(node), "pass"

    def visit_Compare(self, node: ast.Compare) -> Iterator[Change]:
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            yield from self._operator(operator, left, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> Iterator[Change]:
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from self._operator(node.op, left, right)

    def visit_BinOp(self, node: ast.BinOp) -> Iterator[Change]:
        return self._operator(node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Iterator[Change]:
        if isinstance(node.op, ast.Not):
            yield self._place(node)[0], self._place(node.operand)[0], ""

    def visit_Constant(self, node: ast.Constant) -> Iterator[Change]:
        if isinstance(node.value, bool):
            yield *self._place(node), str(not node.value)
        elif isinstance(node.value, int | float):
            yield *self._place(node), str(node.value + 1)
            yield *self._place(node), str(node.value - 1 if node.value >= 1 else node.value + 2)

    def visit_Name(self, node: ast.Name) -> Iterator[Change]:
        if node.id in NAMES:
            yield *self._place(node), NAMES[node.id]

    def visit_Call(self, node: ast.Call) -> Iterator[Change]:
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in SYMMETRIC:
                return
            case ast.Call(args=[first, second, *_]) if type(first) is type(second):
                (start, middle), (after, end) = self._place(first), self._place(second)
                swapped = self.text[after:end] + self.text[middle:after] + self.text[start:middle]
                yield start, end, swapped.decode()

    def visit_If(self, node: ast.If) -> Iterator[Change]:
        yield from self._condition(node.test)
        if isinstance(node.body[-1], ast.Return | ast.Continue | ast.Raise):
            yield *self._place(node.test), "False"

    def visit_While(self, node: ast.While) -> Iterator[Change]:
        return self._condition(node.test)

    def visit_IfExp(self, node: ast.IfExp) -> Iterator[Change]:
        return self._condition(node.test)

    def visit_comprehension(self, node: ast.comprehension) -> Iterator[Change]:
        for test in node.ifs:
            yield *self._place(test), "True"

    def visit_Continue(self, node: ast.Continue) -> Iterator[Change]:
        yield *self._place(node), "break"

    def visit_Break(self, node: ast.Break) -> Iterator[Change]:
        yield *self._place(node), "continue"

    def visit_Assign(self, node: ast.Assign) -> Iterator[Change]:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            yield *self._place(node), "pass"

    def _condition(self, test: ast.expr) -> Iterator[Change]:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):  # they have their own
            start, end = self._place(test)
            yield start, end, f"not ({self.text[start:end].decode()})"

    def _operator(self, operator: ast.AST, left: ast.expr, right: ast.expr) -> Iterator[Change]:
        pattern, others = OPERATORS.get(type(operator), ("$", ()))
        start = self._place(left)[1]
        for found in re.finditer(pattern.encode(), self.text[start : self._place(right)[0]]):
            yield from ((start + found.start(), start + found.end(), other) for other in others)

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end


def _is_unseen(node: ast.AST) -> bool:
    """Whether no test could notice a change of the node or of anything below it."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Expr(value=ast.Constant()):
            return True  # the parts of an f-string have no places before Python 3.12
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case (
            ast.Call(func=ast.Attribute(attr="partitionBy"), args=[ast.Call()])
            | ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")])
        ):
            return True  # a single partition, whatever number it has; names of a module
        case ast.ClassDef(bases=[ast.Name(id="Protocol")]):
            return True
        case ast.keyword(arg=name):
            return name in UNSEEN_KEYWORDS
    return False


def _seen_children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Raise() | ast.arg():
            pass
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (each for each in (*node.args.defaults, *node.args.kw_defaults) if each)
            yield from node.body
        case ast.Module() | ast.ClassDef():
            yield from (each for each in node.body if not _is_limit(each))
        case _:
            yield from ast.iter_child_nodes(node)


def _is_limit(node: ast.stmt) -> bool:
    """Whether a module or class names a number, or an expression of numbers, that is no switch."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    parts = [each for each in ast.walk(node.value) if isinstance(each, ast.expr)]
    numbers = [ast.literal_eval(each) for each in parts if isinstance(each, ast.Constant)]
    return (
        all(isinstance(each, ast.Constant | ast.BinOp | ast.Tuple) for each in parts)
        and all(isinstance(each, int | float) for each in numbers)
        and any(each > LARGEST_SWITCH or isinstance(each, float) for each in numbers)
    )
