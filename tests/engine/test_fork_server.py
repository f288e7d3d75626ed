from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from gossamer.engine import fork_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.fork_server import ForkServer

pytestmark = pytest.mark.server

PATIENCE_S = 60


def prepare() -> None:
    prepared.append(os.getpid())


prepared: list[int] = []


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    server = fork_server.start_server(prepare, os.environ | {"GOSSAMER_TRIAL": "server"})
    yield server
    server.end()


def tell(what: str, descriptor: int) -> None:
    known = {
        "arguments": what,
        "parent": os.getppid(),
        "prepared": prepared[0],
        "variable": os.environ.get("GOSSAMER_TRIAL"),
        "group": os.getpgrp(),
    }
    os.write(descriptor, json.dumps(known).encode())


def told(server: ForkServer, environment: dict[str, str] | None) -> dict[str, object]:
    reading, writing = os.pipe()
    child = server.fork(tell, ["words"], [writing], environment)
    assert child.wait() == 0
    known: dict[str, object] = json.loads(os.read(reading, select.PIPE_BUF))
    os.close(reading)
    os.close(writing)
    return known


def test_a_child_has_what_the_server_has_and_is_told(server: ForkServer) -> None:
    assert told(server, None) == {
        "arguments": "words",
        "parent": server.pid,
        "prepared": server.pid,
        "variable": "server",
        "group": os.getpgrp(),
    }
    assert told(server, dict(os.environ))["variable"] is None


def end_with(code: object) -> None:
    sys.exit(code)  # type: ignore[arg-type]


def wait_for_ever() -> None:
    signal.pause()


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (7, 7), ("why", 1)])
def test_the_owner_learns_the_exit_code(server: ForkServer, code: object, status: int) -> None:
    assert server.fork(end_with, [code], [], None).wait() == status


def test_a_child_that_fails_ends_with_an_error(server: ForkServer) -> None:
    assert server.fork(end_with, [], [], None).wait() == 1


def test_a_child_lives_until_it_is_killed(server: ForkServer) -> None:
    child, other = (server.fork(wait_for_ever, [], [], None) for _ in range(2))
    assert child.poll() is None
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert other.poll() is None
    other.kill()
    assert other.wait() == other.poll() == -signal.SIGKILL


def test_the_end_of_a_child_is_known_at_once(server: ForkServer) -> None:
    child = server.fork(wait_for_ever, [], [], None)
    with closing(Descriptor(os.pidfd_open(child.pid))) as ended:
        os.kill(child.pid, signal.SIGKILL)
        await_end(ended)
    assert child.poll() == -signal.SIGKILL


def test_a_child_ends_with_its_owner_and_others_go_on(server: ForkServer) -> None:
    """The owner is forked from us, as workers that share a server are from theirs."""
    other = server.fork(wait_for_ever, [], [], None)
    reading, writing = os.pipe()
    owner = os.fork()
    if not owner:
        with suppress(BaseException):
            child = server.fork(wait_for_ever, [], [], None)
            os.write(writing, b"%d" % child.pid)
            signal.pause()
        os._exit(1)
    os.close(writing)
    try:
        ended = Descriptor(os.pidfd_open(int(os.read(reading, 10))))
    finally:
        os.close(reading)
        os.kill(owner, signal.SIGKILL)
        os.waitpid(owner, 0)
    with closing(ended):
        await_end(ended)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_children_end_with_their_server() -> None:
    mortal = fork_server.start_server(prepare)
    child = mortal.fork(wait_for_ever, [], [], None)
    mortal.end()
    assert child.wait() == -signal.SIGKILL
    with pytest.raises(OSError, match="descriptor"):
        mortal.fork(wait_for_ever, [], [], None)


def test_a_server_that_was_killed_is_an_error() -> None:
    mortal = fork_server.start_server(prepare)
    with closing(Descriptor(os.pidfd_open(mortal.pid))) as ended:
        os.kill(mortal.pid, signal.SIGKILL)
        await_end(ended)
    with pytest.raises((EOFError, ConnectionError)):
        mortal.fork(wait_for_ever, [], [], None)
    mortal.end()


def test_a_process_with_threads_is_not_single() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert not fork_server.is_single()
    over.set()
    thread.join()


def test_a_kernel_without_pidfds_has_no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    assert fork_server.is_possible()
    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert not fork_server.is_possible.__wrapped__()


FORKING = """
import os
from functools import partial
from gossamer.engine import fork_server, worker_start

print("once")
alone = fork_server.is_single()
import numpy, pyarrow, psutil
from gossamer.engine.lean_imports import forgo_pandas as prepare
held = os.dup2(os.open(os.devnull, os.O_RDONLY), 100)
with worker_start.started_ahead(prepare, by_fork=alone):
    from gossamer.engine.pool import Pool
    pool = Pool(1, prepare)
    started = pool._starter.start()  # a worker ends with its connection
    worker = psutil.Process(started.process.pid)
    server = worker.parent()
    print(alone, server.ppid() == os.getpid(), server.cmdline() == psutil.Process().cmdline())
    print(os.path.exists(f"/proc/{worker.pid}/fd/{held}"))
"""


def test_a_program_without_threads_forks_the_server_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("once\nTrue True True\nFalse\n", "")


class Descriptor(int):
    def close(self) -> None:
        os.close(self)


def await_end(pidfd: int) -> None:
    assert select.select([pidfd], [], [], PATIENCE_S)[0]
