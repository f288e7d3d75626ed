"""Runs tests on a mutant.

The sources are copied, without compiled modules, and one file of the copy is changed. The copy
comes first on the path of the tests and of all processes that these start.

Facts
  * Between fork and exec (Popen's `preexec_fn`) gRPC's handlers run, and in a process that has an
    engine they end one child in a hundred by SIGABRT. So `prlimit` sets the limits.
  * Python takes bytecode for that of a source if the source's size and its time in whole seconds
    are the same: within a second, a mutant could be taken for the original.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

CPU_S = 120
"""Processor time of the test files of one mutant, and of a process: endless loops are cut off."""
WALL_S = 1800
STARTED = re.compile(r"^(\S+\.py::.+?)(?: (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL).*)?$", re.MULTILINE)
LIMITED = ["prlimit", f"--cpu={CPU_S}", "--core=0"]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-vv", "--tb=line", "-p", "no:cacheprovider"]
END_CHARS = 1_000


class Failure(NamedTuple):
    """A test that failed, or its file if pytest ended twice before its first test."""

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
        self.seconds: dict[Path, float] = {}
        """What test files take that passed."""
        self.writes = 0
        shutil.copytree(
            root / "src", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
        )

    def killer(self, path: Path, source: str, tests: list[Path]) -> Failure | None:
        """The first test that fails on a mutant of a file and passes without the mutation."""
        started = _children_s()
        for file in sorted(tests, key=lambda file: self._cost(file, tests.index(file))):
            while _children_s() - started < CPU_S:
                with self._changed(path, source):
                    failed = self._failed(file)
                if failed is None:
                    break
                if self._is_sound(failed.test):
                    return failed
                if failed.end:
                    break
        return None

    def _cost(self, file: Path, rank: int) -> float:
        """Near files come first, but not a slow one before many fast ones."""
        return (rank + 2) * (2 + self.seconds.get(file, 5))

    def _is_sound(self, test: str) -> bool:
        if test not in self.sound:
            failed = self._failed(test)
            if failed is None:
                self.sound.add(test)
            else:
                self.broken[test] = failed
        return test in self.sound

    def _failed(self, test: Path | str) -> Failure | None:
        """The test that failed, or None if all passed.

        Pytest may end before its first test because of the mutation, or because of something that
        happens once. Only the former happens again.
        """
        failed = self._run(test)
        return self._run(test) if failed and failed.end else failed

    def _run(self, test: Path | str) -> Failure | None:
        started = _children_s()
        command = [*LIMITED, *PYTEST, *(f"--deselect={each}" for each in self.broken)]
        process = subprocess.Popen(
            [*command, str(test)],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": f"{self.copy}{os.pathsep}{self.root}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=WALL_S)
        except subprocess.TimeoutExpired:
            output = f"it took more than {WALL_S} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.wait() in {0, 5}:  # 5: there was no test to run
            if isinstance(test, Path):
                self.seconds[test] = _children_s() - started
            return None
        for named in STARTED.findall(output)[::-1]:
            return Failure(named, "")
        return Failure(str(test), f"pytest ended with {process.returncode}: {output[-END_CHARS:]}")

    @contextmanager
    def _changed(self, path: Path, source: str) -> Iterator[None]:
        copied = self.copy / path.relative_to(self.root / "src")
        original = copied.read_text()
        self._write(copied, source)
        try:
            yield
        finally:
            self._write(copied, original)

    def _write(self, copied: Path, source: str) -> None:
        """Write a file at another time, in whole seconds, than ever before."""
        copied.write_text(source)
        self.writes += 1
        os.utime(copied, (self.writes, self.writes))
        if "compiled" in source:
            self._forget_machine_code()

    def _forget_machine_code(self) -> None:
        """Remove what numba keeps: it looks for changes of a function, not of those it calls."""
        for kept in self.copy.rglob("*.nb[ci]"):
            kept.unlink()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
