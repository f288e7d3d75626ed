"""A plugin of pytest that records which places each test executes, in the copy of `marks.py`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.mutation.marks import MODULE
from tests.mutation.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Generator

    Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]

FOLDER = "GOSSAMER_RECORDING"
"""The variable that names the folder of the recording."""
WAITING = ("engine", "server", "browser", "spark", "azure", "slow", "long")


class Recorder:
    """The plugin.

    What a shared fixture or shared rounds execute counts for each test that uses them.
    """

    def __init__(self) -> None:
        self._recording = Recording(Path(os.environ[FOLDER]))
        self._marks = np.frombuffer(import_module(MODULE).marks, bool)
        self._shared: dict[object, Marks] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._take()
        try:
            return (yield)
        finally:
            self._shared[fixturedef] = self._take()
            self._marks |= before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Function) -> Generator[None, object, object]:
        self._take()
        started, used = perf_counter(), process_time()
        result = yield
        waits = any(item.get_closest_marker(name) for name in WAITING)
        # A busy machine takes longer, and the processor time of other processes is not known.
        seconds = perf_counter() - started if waits else process_time() - used
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for each in definitions:
                self._marks |= self._shared.get(each, False)
        if (rounds := getattr(item.function, "rounds", None)) is not None:
            self._marks |= self._shared.setdefault(rounds, self._marks.copy())
        self._recording.add(item.nodeid, seconds, waits, self._take())
        return result

    def _take(self) -> Marks:
        taken = self._marks.copy()
        self._marks[:] = False
        return taken


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())
