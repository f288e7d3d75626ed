from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mutation.closest import Closeness
from tests.mutation.mutators import compiles, mutants
from tests.mutation.trial import Failure, Trial

if TYPE_CHECKING:
    from collections.abc import Callable
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


# As in pyproject.toml: to import these plugins takes seconds.
SETTINGS = """
[tool.pytest.ini_options]
addopts = "-p no:anyio -p no:schemathesis -p no:xdist -p no:hypothesispytest"
"""
FIRST = "tests/toys/test_toy.py::test_two_are_few"


def checkout(folder: Path, tests: str = TESTS) -> Path:
    for name in ("src/gossamer/toy.py", "tests/toys/test_toy.py", "tests/toys/test_other.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "src/gossamer/toy.py").write_text(TOY)
    (folder / "src/gossamer/__init__.py").touch()
    (folder / "tests/toys/test_toy.py").write_text(tests)
    (folder / "tests/toys/test_other.py").write_text("def test_nothing(): ...")
    return folder


def trial_of(folder: Path, tests: str = TESTS) -> tuple[Trial, Callable[[str], Failure | None]]:
    """A trial of that checkout, and what kills a mutant of its module."""
    root = checkout(folder / "root", tests)
    trial = Trial(root, folder / "copy")
    module, files = root / "src/gossamer/toy.py", [root / "tests/toys/test_toy.py"]
    return trial, lambda operator: trial.killer(module, TOY.replace("<", operator), files)


def test_the_closest_tests_import_the_module_and_name_the_function(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    found = Closeness(root).closest(root / "src/gossamer/toy.py", 4)
    assert [path.name for path in found] == ["test_toy.py", "test_other.py"]


@pytest.mark.slow
@pytest.mark.server
def test_a_mutant_is_killed_or_survives(tmp_path: Path) -> None:
    trial, killer = trial_of(tmp_path)
    assert killer("<=") is None
    assert killer(">=") == Failure(FIRST, "")
    assert (trial.root / "src/gossamer/toy.py").read_text() == TOY


@pytest.mark.slow
@pytest.mark.server
def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    trial, killer = trial_of(tmp_path, "def test_broken(): assert False\n" + TESTS)
    assert killer(">=") == Failure(FIRST, "")
    assert trial.broken.keys() == {"tests/toys/test_toy.py::test_broken"}


ENDS_ONCE = """
import os
from pathlib import Path

if not Path("ended").exists():
    Path("ended").touch()
    os.abort()
"""


@pytest.mark.server
def test_what_happens_once_before_the_first_test_kills_nothing(tmp_path: Path) -> None:
    _, killer = trial_of(tmp_path, ENDS_ONCE + TESTS)
    assert killer("<=") is None


@pytest.mark.server
def test_a_mutant_that_cannot_be_imported_is_killed_and_pytest_says_why(tmp_path: Path) -> None:
    trial, killer = trial_of(tmp_path)
    killed = killer(")")
    assert killed is not None
    assert killed.test == str(trial.root / "tests/toys/test_toy.py")
    assert killed.end.startswith("pytest ended with ")
    assert "SyntaxError" in killed.end


def test_no_bytecode_of_a_mutant_is_taken_for_the_original(tmp_path: Path) -> None:
    """Python compares sizes, and times in whole seconds."""
    trial, _ = trial_of(tmp_path)
    path, copied = trial.root / "src/gossamer/toy.py", trial.copy / "gossamer/toy.py"
    times = [int(copied.stat().st_mtime)]
    for operator in ("<", ">"):
        with trial._changed(path, TOY.replace("<", operator)):
            times.append(int(copied.stat().st_mtime))
        times.append(int(copied.stat().st_mtime))
    assert len(set(times)) == len(times)
