"""Which steps of a running crawl use the processor? Processes are looked at, step by step.

Steps of a crawl without end run beside each other in the same processes, so the kernel does not
count their CPU time apart. What is known:

  * A parser, and the worker that it belongs to, parse. A worker with many open sockets fetches.
  * The other workers, and the process that crawls, with its engine, do what the running steps ask
    for, except fetch and parse, whose tasks are those above. If several run, each is charged with
    an equal part. If none other runs, it is the part of fetch or parse outside its tasks.
  * All processes of the search page search.

What a process takes between the last look at it and its end is not counted.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LOOK_S = 0.5
MEMORY_S = 15.0
"""To add up the memory of a process takes the kernel milliseconds."""
FETCHING = 16
"""Sockets of a worker that fetches, at least; the others have one, and those of parsers."""
COMMAND, CRAWL, SEARCH, WORKER, PARSER, OTHER = (
    "the command", "the process that crawls", "search", "workers", "parsers", "others",
)  # fmt: skip
FETCH_WORKER, PARSE_WORKER = "workers that fetch", "workers that parse"
KINDS = {
    "gossamer.cli.renewal import hold": CRAWL,
    "gossamer.pool import work": WORKER,
    "gossamer.parse.guard import main": PARSER,
}
OWNERS = {
    SEARCH: "search",
    FETCH_WORKER: "fetch",
    PARSE_WORKER: "parse",
    PARSER: "parse",
    COMMAND: "the command",
    OTHER: "others",
}
"""What the processes of one purpose do. The others do what steps ask for."""
OF_TASKS = {"fetch", "parse"}


class Look(NamedTuple):
    at_s: float
    """Unix time."""
    cpu_s: Counter[str]
    """CPU seconds since the look before, by the kind of process."""
    machine_s: float
    """CPU seconds that the machine has spent on anything so far."""
    sent: int
    """The value of a counter."""
    load: float


class Found(NamedTuple):
    process: psutil.Process
    kind: str
    parent: int


class Step(NamedTuple):
    name: str
    began_s: float
    ended_s: float


class Watch(threading.Thread):
    """Looks at the processes of a crawl, and at some others, until it is told to end."""

    def __init__(self, command: int, others: Mapping[str, int], counter: object) -> None:
        super().__init__(daemon=True)
        self.others = dict(others)
        """The ids of further processes, by their kind."""
        self.looks: list[Look] = []
        self.memory: list[tuple[float, Counter[str]]] = []
        """Proportional set sizes in bytes, by kind."""
        self._command, self._counter = command, counter
        self._used_s: dict[tuple[int, float], float] = {}
        self._over = threading.Event()

    def run(self) -> None:
        memory_s = 0.0
        while not self._over.wait(LOOK_S):
            with suppress(psutil.NoSuchProcess):  # the command has ended
                found = self._kinds()
                self.looks.append(self._look(found))
                if (now_s := time.time()) >= memory_s + MEMORY_S:
                    self.memory.append((now_s, _memory(found)))
                    memory_s = now_s

    def end(self) -> None:
        self._over.set()
        self.join()

    def _kinds(self) -> list[Found]:
        """The processes of the command, each with what it is."""
        command = psutil.Process(self._command)
        found = {command.pid: Found(command, COMMAND, 0)}
        for process in command.children(recursive=True):  # parents come first
            with suppress(psutil.NoSuchProcess):
                parent = found.get(process.ppid())
                kind = _kind(process, parent.kind if parent else OTHER)
                found[process.pid] = Found(process, kind, parent.process.pid if parent else 0)
        return list(found.values())

    def _look(self, found: Sequence[Found]) -> Look:
        spent: list[tuple[Found, float]] = []
        used_s: dict[tuple[int, float], float] = {}
        for each in (*found, *self._further()):
            with suppress(psutil.NoSuchProcess):
                times = each.process.cpu_times()
                key = each.process.pid, each.process.create_time()
                used_s[key] = times.user + times.system
                spent.append((each, used_s[key] - self._used_s.get(key, 0.0)))
        self._used_s = used_s
        parsing = {each.parent for each, seconds in spent if each.kind == PARSER and seconds}
        cpu_s: Counter[str] = Counter()
        for each, seconds in spent:
            is_worker = each.kind == WORKER
            cpu_s[_task_of(each.process.pid, parsing) if is_worker else each.kind] += seconds
        machine = psutil.cpu_times()
        busy_s = sum(machine[:8]) - machine.idle - machine.iowait
        sent = self._counter.value  # type: ignore[attr-defined]
        return Look(time.time(), cpu_s, busy_s, sent, os.getloadavg()[0])

    def _further(self) -> Iterable[Found]:
        for kind, pid in list(self.others.items()):  # more may come meanwhile
            with suppress(psutil.NoSuchProcess):
                yield Found(psutil.Process(pid), kind, 0)


def _kind(process: psutil.Process, parent: str) -> str:
    """What a process is, whose parent's kind is known."""
    if parent == SEARCH:
        return SEARCH
    words = process.cmdline()
    for code, kind in KINDS.items():
        if any(code in word for word in words):
            return kind
    return SEARCH if parent == COMMAND and "serve" in words else OTHER


def _task_of(worker: int, parsing: set[int]) -> str:
    if worker in parsing:
        return PARSE_WORKER
    sockets = 0
    with suppress(OSError):
        for descriptor in Path("/proc", str(worker), "fd").iterdir():
            with suppress(OSError):
                sockets += str(descriptor.readlink()).startswith("socket:")
    return FETCH_WORKER if sockets >= FETCHING else WORKER


def _memory(found: Iterable[Found]) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for each in found:
        with suppress(psutil.Error):
            sizes[each.kind] += each.process.memory_full_info().pss
    return sizes


def charged(looks: Sequence[Look], steps: Sequence[Step]) -> Counter[str]:
    """CPU seconds of each step, and of what is no step, in the time of these looks.

    The first one only says when the time begins.
    """
    costs: Counter[str] = Counter()
    for before, look in pairwise(looks):
        middle_s = (before.at_s + look.at_s) / 2
        running = {step.name for step in steps if step.began_s <= middle_s < step.ended_s}
        asking = (running - OF_TASKS) or running or {"between steps"}
        for kind, seconds in look.cpu_s.items():
            if kind in (CRAWL, WORKER):
                for name in asking:
                    costs[name] += seconds / len(asking)
            else:
                costs[OWNERS.get(kind, kind)] += seconds
    return costs
