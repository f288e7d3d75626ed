from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mutation.closest import Closeness
from tests.mutation.mutators import compiles, mutants
from tests.mutation.trial import Trial

if TYPE_CHECKING:
    from pathlib import Path

TOY = '''
def is_few(number: int = 3) -> bool:
    """Whether it is less than 3."""
    return number < 3
'''
TESTS = """
from gossamer.toy import is_few

def test_two_are_few():
    assert is_few(2)

def test_four_are_not():
    assert not is_few(4)
"""


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["pass", "a <= b", "a >= b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = not a", ["x = a"]),
        ("x = a and (b or c)", ["x = a or (b or c)", "x = a and (b and c)"]),
        ("x = 'ä' + (a)", ["x = 'ä' - (a)"]),
        ("x = 0", ["x = 1", "x = 2"]),
        ("x = True", ["x = False"]),
        ("x = min(a, 'b')", ["x = max(a, 'b')"]),
        ("x = f(a, b, 'c')", ["x = f(b, a, 'c')"]),
        ("x = a if b else c", ["x = a if not (b) else c"]),
        ("x = [a for a in b if a]", ["x = [a for a in b if True]"]),
        ("a.b = c", ["pass"]),
        ("a += b", ["pass"]),
        ("for a in b: continue", ["for a in b: break"]),
        ("for a in b: break", ["for a in b: continue"]),
        ("if a: raise B(1)", ["if not (a): raise B(1)", "if False: raise B(1)", "if a: pass"]),
        ("def f(a: int | None = None, b=False): ...", ["def f(a: int | None = None, b=True): ..."]),
    ],
)
def test_each_change(source: str, changed: list[str]) -> None:
    assert [mutant.apply(source) for mutant in mutants(source)] == changed
    assert all(map(compiles, changed))


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "LIMIT = 64 << 20",
        "WAIT_S: Final = 2.5",
        "if TYPE_CHECKING: import a",
        "__slots__ = ('a', 1)",
        "@dataclass(slots=True)\nclass A: x: int | None",
        "a = zip(b, strict=True)",
    ],
)
def test_what_no_test_could_notice_is_left_as_it_is(source: str) -> None:
    assert not [mutant.apply(source) for mutant in mutants(source)]


def test_a_mutant_shows_its_lines() -> None:
    source = "a = 1\nb = (c <\n     d)\n"
    mutant = next(each for each in mutants(source) if each.new == "<=")
    assert mutant.line == 2
    assert mutant.lines(source) == ("b = (c <", "b = (c <=")


def checkout(folder: Path, tests: str = TESTS) -> Path:
    for name in ("src/gossamer/toy.py", "tests/toys/test_toy.py", "tests/toys/test_other.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "src/gossamer/toy.py").write_text(TOY)
    (folder / "src/gossamer/__init__.py").touch()
    (folder / "tests/toys/test_toy.py").write_text(tests)
    (folder / "tests/toys/test_other.py").write_text("def test_nothing(): ...")
    return folder


def test_the_closest_tests_import_the_module_and_name_the_function(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    found = Closeness(root).closest(root / "src/gossamer/toy.py", 4)
    assert [path.name for path in found] == ["test_toy.py", "test_other.py"]


@pytest.mark.server
def test_a_mutant_is_killed_or_survives(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root")
    module, tests = root / "src/gossamer/toy.py", [root / "tests/toys/test_toy.py"]
    trial = Trial(root, tmp_path / "copy")
    changes = {each.new: each.apply(TOY) for each in mutants(TOY)}
    assert trial.killer(module, changes["<="], tests) is None
    assert trial.killer(module, changes[">="], tests) == "tests/toys/test_toy.py::test_two_are_few"
    assert module.read_text() == TOY


@pytest.mark.server
def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root", "def test_broken(): assert False\n" + TESTS)
    module, tests = root / "src/gossamer/toy.py", [root / "tests/toys/test_toy.py"]
    trial = Trial(root, tmp_path / "copy")
    killer = trial.killer(module, TOY.replace("<", ">="), tests)
    assert killer == "tests/toys/test_toy.py::test_two_are_few"
    assert trial.broken == {"tests/toys/test_toy.py::test_broken"}
