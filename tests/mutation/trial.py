"""Runs tests on a mutant.

The sources are copied, without compiled modules, and one file of the copy is changed. The copy
comes first on the path of the tests and of all processes that these start. Each run is a fork of
this process, which has imported the libraries, but nothing of the sources.

Fact: Python takes bytecode for that of a source if the source's size and its time in whole seconds
are the same: within a second, a mutant could be taken for the original.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import os
import re
import resource
import select
import shutil
import signal
import sys
import traceback
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CPU_S = 120
"""Processor time of a process, which cuts off endless loops."""
WALL_S = 300
DATA_BYTES = 6 << 30
"""Memory of a process (RLIMIT_DATA), for loops that collect something. One that runs many crawls,
with all its threads, allocates 4 GB."""
STARTED = re.compile(
    r"^(\S+\.py::.+?)(?: +(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL).*)? *$", re.MULTILINE
)
OPTIONS = ["-x", "-vv", "--tb=line", "-p", "no:cacheprovider"]
END_CHARS = 1_000
OURS = {"gossamer", "tests"}
PR_SET_PDEATHSIG = 1
"""Of prctl(2): a run ends with this process."""


class Run(NamedTuple):
    """Test files without some of their tests, or only some, which may be slow ones."""

    files: list[str]
    left_out: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    cpu_s: int = CPU_S

    @property
    def options(self) -> list[str]:
        return [*OPTIONS, "-m", ""] if self.only else OPTIONS

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item
            for item in items
            if item.nodeid not in self.left_out and (not self.only or item.nodeid in self.only)
        ]


class Failure(NamedTuple):
    """A test that failed, or the first file if pytest ended twice before its first test."""

    test: str
    end: str
    """How pytest ended in that case: its status and the last of what it wrote."""

    def __str__(self) -> str:
        return f"{self.test}: {self.end}" if self.end else self.test


class Trial:
    """A copy of the sources of a checkout, in which one file at a time is changed."""

    def __init__(self, root: Path, copy: Path) -> None:
        self.root, self.copy = root, copy
        self.sound: set[str] = set()
        self.broken: dict[str, Failure] = {}
        """Tests that pass and that fail without a mutation."""
        self.writes = 0
        copy_sources(root, copy)
        import_libraries(root)
        gc.freeze()

    def killer(self, path: Path, source: str, run: Run) -> Failure | None:
        """The first test that fails on a mutant of a file and passes without the mutation."""
        while True:
            run = run._replace(left_out=run.left_out | self.broken.keys())
            with self._changed(path, source):
                failed = self._failed(run)
            if failed is None or self._is_sound(failed, run):
                return failed
            if failed.end or failed.test in run.left_out:
                return None

    def _is_sound(self, failed: Failure, run: Run) -> bool:
        if failed.test not in self.sound:
            failure = self._failed(run if failed.end else _alone(failed.test))
            if failure is None:
                self.sound.add(failed.test)
            else:
                self.broken[failed.test] = failure
        return failed.test in self.sound

    def _failed(self, run: Run) -> Failure | None:
        """The test that failed, or None if all passed.

        Pytest may end before its first test because of the mutation, or because of something that
        happens once. Only the former happens again.
        """
        failed = self._run(run)
        return self._run(run) if failed and failed.end else failed

    def _run(self, run: Run) -> Failure | None:
        output = self.copy.with_suffix(".txt")
        if (child := os.fork()) == 0:
            try:
                os._exit(self._run_here(run, output))
            finally:
                traceback.print_exc()
                os._exit(pytest.ExitCode.INTERNAL_ERROR)
        ended = os.pidfd_open(child)
        in_time = select.select([ended], [], [], WALL_S)[0]
        os.close(ended)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if in_time and code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            return None
        text = output.read_text(errors="replace")
        for named in STARTED.findall(text)[::-1]:
            return Failure(named, "")
        ending = f"ended with {code}" if in_time else f"took more than {WALL_S} s"
        return Failure(run.files[0], f"pytest {ending}: {text[-END_CHARS:]}")

    def _run_here(self, run: Run, output: Path) -> int:
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CPU, (run.cpu_s, run.cpu_s))
        resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.path[:0] = [str(self.copy), str(self.root)]
        os.chdir(self.root)
        os.environ["PYTHONPATH"] = f"{self.copy}{os.pathsep}{self.root}"
        os.environ["HYPOTHESIS_PROFILE"] = "mutants"
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they are imported already
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        with output.open("w") as opened:
            sys.stdout = sys.stderr = opened
            for descriptor in (1, 2):
                os.dup2(opened.fileno(), descriptor)
            return pytest.main([*run.options, *run.files], [run])

    @contextmanager
    def _changed(self, path: Path, source: str) -> Iterator[None]:
        """Write a changed file, at another time, in whole seconds, than ever before."""
        copied = self.copy / path.relative_to(self.root / "src")
        original, time_ns = copied.read_text(), copied.stat().st_mtime_ns
        self.writes += 1
        copied.write_text(source)
        os.utime(copied, (self.writes, self.writes))
        try:
            yield
        finally:
            copied.write_text(original)
            os.utime(copied, ns=(time_ns, time_ns))


def _alone(test: str) -> Run:
    return Run([test.partition("::")[0]], only=frozenset([test]))


def copy_sources(root: Path, copy: Path) -> None:
    unwanted = shutil.ignore_patterns("*.so", "*.pyc", "*.egg-info")
    shutil.copytree(root / "src", copy, ignore=unwanted)


def import_libraries(root: Path) -> None:
    """Import what the sources and the tests' helpers import from elsewhere."""
    for path in (*root.glob("src/**/*.py"), *root.glob("tests/support/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.partition(".")[0] not in {*OURS, "__future__", ""}:
                    with suppress(ImportError):
                        import_module(name)
