from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.mutation import __main__ as mutation
from tests.mutation.__main__ import Choice, near_and_far, within
from tests.mutation.closest import Closeness
from tests.mutation.marks import MODULE, copy_with_marks
from tests.mutation.mutators import compiles, mutants
from tests.mutation.recording import Place, RecordedTest, Recording, by_function, statements
from tests.mutation.trial import Trial
from tests.support.repository import ROOT

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
        "SHARE = 0.5",
        "class A(Protocol):\n    def f(self, a: bool = False) -> None: ...",
        "LEAST, MOST = 14, 8",
        "if TYPE_CHECKING: import a",
        "__slots__ = ('a', 1)",
        "@dataclass(slots=True)\nclass A: x: int | None",
        "a = zip(b, strict=True)",
        "a = b(c, c)",
    ],
)
def test_what_no_test_could_notice_is_left_as_it_is(source: str) -> None:
    assert not [mutant.apply(source) for mutant in mutants(source)]


def test_a_mutant_shows_its_lines() -> None:
    source = "a = 1\nb = (c <\n     d)\n"
    mutant = next(each for each in mutants(source) if each.new == "<=")
    assert mutant.line == 2
    assert mutant.lines(source) == ("b = (c <", "b = (c <=")


FIRST = "tests/toys/test_toy.py::test_two_are_few"
SECOND = "tests/toys/test_toy.py::test_four_are_not"
OPTIONS = """
[tool.pytest.ini_options]
addopts = "-m 'not slow'"
markers = ["slow"]
"""


def checkout(folder: Path, tests: str = TESTS) -> Path:
    for name in ("src/gossamer/toy.py", "tests/toys/test_toy.py", "tests/toys/test_other.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(OPTIONS)
    (folder / "src/gossamer/toy.py").write_text(TOY)
    (folder / "src/gossamer/__init__.py").touch()
    (folder / "tests/toys/test_toy.py").write_text(tests)
    (folder / "tests/toys/test_other.py").write_text("def test_nothing(): ...")
    return folder


TRIED = """
import sys
from pathlib import Path
from tests.mutation import trial as trials
from tests.mutation.trial import Run, Trial

trials.DATA_BYTES = 1 << 30
root, only, operators = Path(sys.argv[1], "root"), sys.argv[2].split(), sys.argv[3:]
trial, module = Trial(root, Path(sys.argv[1], "copy")), root / "src/gossamer/toy.py"
run = Run(["tests/toys/test_toy.py"], only=frozenset(only), cpu_s=2)
for operator in operators:
    print(trial.killer(module, module.read_text().replace("<", operator), run))
print(*trial.broken)
"""


def tried(folder: Path, *operators: str, tests: str = TESTS, only: str = "") -> list[str]:
    """What kills a mutant with each operator, and at the end, the broken tests.

    In a process of its own: in this one, there are threads, and the sources are imported.
    """
    root = checkout(folder / "root", tests)
    command = [sys.executable, "-c", TRIED, str(folder), only, *operators]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (root / "src/gossamer/toy.py").read_text() == TOY
    return done.stdout.splitlines()


def test_the_closest_tests_import_the_module_and_name_the_function(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    found = Closeness(root).closest(root / "src/gossamer/toy.py", 4)
    assert [path.name for path in found] == ["test_toy.py", "test_other.py"]


MARKED = '''"""Toys."""
from __future__ import annotations

from typing import Any

LIMIT = 3


def _mark(number, limit):
    return number < limit

class Toys:
    def are_few(self, number):
        """Whether these are less than LIMIT."""
        if _mark(number, LIMIT):
            return True
        return False
'''


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """Of two tests of that module, of which the first finds few toys, and the second many."""
    source = tmp_path / "src/gossamer/web/toys.py"
    source.parent.mkdir(parents=True)
    source.write_text(MARKED)
    recording = Recording(tmp_path / "recording")
    copy_with_marks(tmp_path, tmp_path / "copy", recording)
    monkeypatch.syspath_prepend(str(tmp_path / "copy"))
    names: dict[str, Any] = {}
    exec((tmp_path / "copy/gossamer/web/toys.py").read_text(), names)  # noqa: S102
    marks = np.frombuffer(import_module(MODULE).marks, bool)
    for name, number in (("few", 1), ("many", 9)):
        marks[:] = False
        names["Toys"]().are_few(number)
        recording.add(f"test_toys.py::test_{name}", 0.25, False, marks)
    return Recording(tmp_path / "recording")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (15, ["few", "many"]),
        (16, ["few"]),
        (17, ["many"]),
        (6, ["few", "many"]),  # a constant: where it is used
        (10, ["few", "many"]),
        (4, []),  # an import
    ],
)
def test_the_tests_that_execute_a_line(
    recording: Recording, line: int, expected: list[str]
) -> None:
    found = recording.tests_of(MARKED, "src/gossamer/web/toys.py", line)
    assert [test.function for test in found] == [f"test_toys.py::test_{name}" for name in expected]
    for test in found:
        assert (test.file, test.seconds, test.places) == ("test_toys.py", 0.25, 3)


CACHED = """
from functools import cache, lru_cache

@cache
def _rules():
    return [1]

@lru_cache(3)
def _ends():
    return _rules()

def is_end(end):
    return end in _ends()
"""


def test_tests_that_find_the_result_of_a_function_in_its_cache_execute_it(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    places = [place for place, _ in statements(CACHED, "ends.py")]
    numbers = {place.function: recording.number(place) for place in places}
    recording.save_places()
    for name, functions in (("first", ("_rules", "_ends", "is_end")), ("next", ("is_end",))):
        marks = np.zeros(len(recording.places), bool)
        marks[[numbers[function] for function in functions]] = True
        recording.add(f"test_ends.py::{name}", 1, False, marks)
    found = Recording(tmp_path).tests_of(CACHED, "ends.py", 6)
    assert [test.id for test in found] == ["test_ends.py::first", "test_ends.py::next"]


def test_tests_of_a_function_may_notice_another_default(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    places = [place for place, _ in statements(CACHED, "ends.py")]
    numbers = {place.function: recording.number(place) for place in places}
    recording.save_places()
    marks = np.zeros(len(recording.places), bool)
    marks[numbers["is_end"]] = True
    recording.add("test_ends.py::test", 1, False, marks)
    found = Recording(tmp_path).tests_of(CACHED, "ends.py", 12)  # the line with its name
    assert [test.id for test in found] == ["test_ends.py::test"]


def test_each_function_has_a_turn_before_a_second_case() -> None:
    tests = [
        RecordedTest(f"test.py::{name}", 1, False, n)
        for n, name in enumerate(["a[0]", "a[1]", "b"])
    ]
    assert by_function(tests) == [tests[0], tests[2], tests[1]]
    assert within(2, tests) == tests[:2]
    assert within(0.5, tests) == tests[:1]
    assert near_and_far(1, tests) == [tests[:1], tests[1:]]
    assert near_and_far(9, tests) == [tests]
    assert near_and_far(9, []) == []


@pytest.mark.parametrize(("line", "left_out"), [(1, set()), (3, {"test_a.py::test"})])
def test_a_place_without_recorded_tests_has_all_tests_of_the_closest_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, left_out: set[str]
) -> None:
    """What is executed when a module is imported is no place of a test."""
    (tmp_path / "a.py").write_text("A = f(1, 2)\ndef g():\n    return 1\n")
    (tmp_path / "test_a.py").touch()
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    monkeypatch.setattr(mutation, "KEPT", tmp_path / "kept")
    recording = Recording(tmp_path / "kept")
    number = recording.number(Place("a.py", "g", "return 1"))
    recording.save_places()
    recording.add("test_a.py::test", 1, False, np.arange(number + 1) == number)
    closest = SimpleNamespace(closest=lambda *_: [tmp_path / "test_a.py"])
    monkeypatch.setattr(mutation, "Closeness", lambda _: closest)
    *near, last = Choice().runs(tmp_path / "a.py", line)
    assert [run.files for run in near] == [["test_a.py"]] * bool(left_out)
    assert (last.files, {*last.left_out}) == (["test_a.py"], left_out)


def test_a_long_test_leaves_the_time_to_others() -> None:
    tests = [RecordedTest(f"test.py::{n}", s, False, n) for n, s in enumerate((9, 1, 5, 2, 2))]
    assert within(5, tests) == [tests[1], *tests[3:]]
    assert within(8, tests) == tests[1:4]
    assert within(0.5, tests) == tests[:1]
    assert near_and_far(2, tests) == [tests[1:2], [tests[0], *tests[2:]]]


@pytest.mark.server
def test_a_mutant_is_killed_or_survives(tmp_path: Path) -> None:
    assert tried(tmp_path, "<=", ">=") == ["None", FIRST, ""]


@pytest.mark.server
def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    broken = "def test_broken(): assert False\n" + TESTS
    found = tried(tmp_path, ">=", tests=broken)
    assert found == [FIRST, "tests/toys/test_toy.py::test_broken"]


ENDS_ONCE = """
import os
from pathlib import Path

if not Path("ended").exists():
    Path("ended").touch()
    os.abort()
"""


@pytest.mark.server
def test_what_happens_once_before_the_first_test_kills_nothing(tmp_path: Path) -> None:
    assert tried(tmp_path, "<=", tests=ENDS_ONCE + TESTS) == ["None", ""]


@pytest.mark.server
def test_a_mutant_that_cannot_be_imported_is_killed_and_pytest_says_why(tmp_path: Path) -> None:
    killed, *end = tried(tmp_path, ")")
    assert killed.startswith("tests/toys/test_toy.py: pytest ended with ")
    assert any("SyntaxError" in line for line in end)


ENDLESS = "< 3 or any(iter(int, 1)) or 1 <"
HOARDING = "< len([bytes(1 << 26) for _ in iter(int, 1)]) +"


@pytest.mark.slow
@pytest.mark.server
def test_loops_without_end_are_cut_off_by_processor_time_and_memory(tmp_path: Path) -> None:
    assert tried(tmp_path, ENDLESS, HOARDING) == [SECOND, FIRST, ""]


@pytest.mark.server
def test_slow_tests_are_only_run_if_they_were_chosen(tmp_path: Path) -> None:
    slow = TESTS.replace("def", "import pytest\n@pytest.mark.slow\ndef", 1)
    assert tried(tmp_path / "all", ">=", tests=slow) == [SECOND, ""]
    assert tried(tmp_path / "only", ">=", "<=", tests=slow, only=FIRST) == [FIRST, "None", ""]


def test_no_bytecode_of_a_mutant_is_taken_for_the_original(tmp_path: Path) -> None:
    """Python compares sizes, and times in whole seconds."""
    root = checkout(tmp_path / "root")
    trial, path = Trial(root, tmp_path / "copy"), root / "src/gossamer/toy.py"
    copied = tmp_path / "copy/gossamer/toy.py"
    original = copied.stat().st_mtime_ns
    times = {original // 10**9}
    for operator in ("<", ">"):
        with trial._changed(path, TOY.replace("<", operator)):
            times.add(int(copied.stat().st_mtime))
        assert copied.stat().st_mtime_ns == original
    assert len(times) == 3
