"""Runs tests on a mutant.

The sources are copied, without compiled modules, and one file of the copy is changed. The copy
comes first on the path of the tests and of all processes that these start.
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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CPU_S = 120
"""Processor time of the test files of one mutant, and of a process: endless loops are cut off."""
WALL_S = 1800
STARTED = re.compile(r"^(\S+\.py::.+?)(?: (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL).*)?$", re.MULTILINE)


class Trial:
    """A copy of the sources of a checkout, in which one file at a time is changed."""

    def __init__(self, root: Path, copy: Path) -> None:
        self.root, self.copy = root, copy
        self.sound: set[str] = set()
        self.broken: set[str] = set()
        """Tests that pass and that fail without a mutation."""
        self.seconds: dict[Path, float] = {}
        """What test files take that passed."""
        shutil.copytree(
            root / "src", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
        )

    def killer(self, path: Path, source: str, tests: list[Path]) -> str | None:
        """The first test that fails on a mutant of a file and passes without the mutation."""
        started = _children_s()
        for file in sorted(tests, key=lambda file: self._cost(file, tests.index(file))):
            while _children_s() - started < CPU_S:
                with self._changed(path, source):
                    failed = self._failed(file)
                if failed is None:
                    break
                if self._is_sound(failed):
                    return failed
                self.broken.add(failed)
                if "::" not in failed:
                    break
        return None

    def _cost(self, file: Path, rank: int) -> float:
        """Near files come first, but not a slow one before many fast ones."""
        return (rank + 2) * (2 + self.seconds.get(file, 5))

    def _is_sound(self, test: str) -> bool:
        if test not in self.sound and self._failed(test) is None:
            self.sound.add(test)
        return test in self.sound

    def _failed(self, test: Path | str) -> str | None:
        """The test that failed, or its file if that cannot be imported, or None if all passed."""
        started = _children_s()
        command = [sys.executable, "-m", "pytest", "-x", "-vv", "--tb=no", "-p", "no:cacheprovider"]
        command += [f"--deselect={each}" for each in self.broken]
        process = subprocess.Popen(
            [*command, str(test)],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": f"{self.copy}{os.pathsep}{self.root}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            preexec_fn=_limit,  # noqa: PLW1509  # there are no threads
        )
        try:
            output, _ = process.communicate(timeout=WALL_S)
        except subprocess.TimeoutExpired:
            output = ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.wait() in {0, 5}:  # 5: there was no test to run
            if isinstance(test, Path):
                self.seconds[test] = _children_s() - started
            return None
        return next(iter(STARTED.findall(output)[::-1]), str(test))

    @contextmanager
    def _changed(self, path: Path, source: str) -> Iterator[None]:
        copied = self.copy / path.relative_to(self.root / "src")
        original = copied.read_text()
        copied.write_text(source)
        if "compiled" in original:
            self._forget_machine_code()
        try:
            yield
        finally:
            copied.write_text(original)
            if "compiled" in original:
                self._forget_machine_code()

    def _forget_machine_code(self) -> None:
        """Remove what numba keeps: it looks for changes of a function, not of those it calls."""
        for kept in self.copy.rglob("*.nb[ci]"):
            kept.unlink()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
