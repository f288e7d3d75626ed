"""Children die with their parent by the kernel's word, whatever they are doing."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading

import pytest

from gossamer.engine.processes import start_python
from tests.support.small_index import crawl, put_index

pytestmark = pytest.mark.server

PATIENCE_S = 60

WORKER = """
import os
import pyarrow as pa
from gossamer.engine.pool import Pool

def work(batches):
    yield pa.record_batch({"pid": [os.getpid()]})
    import re
    re.match("(a*)*b", "a" * 60)  # holds the interpreter's lock, and lets no signal be handled

batches = Pool(1).wrap(work)(iter([]))
pids = [next(batches).column(0)[0].as_py()]
"""
PARSER = """
from gossamer.parse.process.guarded_parser import GuardedParser
from gossamer.parse.parsed_page import Page, Rules

parser = GuardedParser(Rules())
parser.parse(Page("http://a.example/", {}, b"<p>text"))
pids = [parser._process.pid]
"""
SEARCH = """
from gossamer.serve.cluster.children import Children
from gossamer.state.workspace import Workspace

children = Children(Workspace.open({crawl!r}), 2)
children.__enter__()
pids = children.pids
"""
FAKEWEB = """
from gossamer.fakeweb import FakeWeb

web = FakeWeb().start()
pids = [web.pid]
"""
IN_A_THREAD = """
import threading
from gossamer.engine.processes import start_python

def start():
    global child
    child = start_python("import signal; signal.pause()")

thread = threading.Thread(target=start)
thread.start()
thread.join()
pids = [child.pid]
"""
TELL = "\nprint(*pids, flush=True)\nimport signal\nsignal.pause()\n"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> str:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, [{"url": "http://a.example/", "text": "text"}], shards=1)
    return work.root


@pytest.mark.parametrize(
    "program",
    [WORKER, PARSER, SEARCH, FAKEWEB, IN_A_THREAD],
    ids=["worker", "parser", "search", "fakeweb", "thread that ended"],
)
def test_no_child_outlives_a_parent_that_is_killed(program: str, searched: str) -> None:
    script = program.replace("{crawl!r}", repr(searched)) + TELL
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert pids
        children = [os.pidfd_open(pid) for pid in pids]
        parent.kill()
    for child in children:
        assert ended(child)


def test_a_child_outlives_the_thread_that_started_it() -> None:
    children = []
    thread = threading.Thread(
        target=lambda: children.append(start_python(PAUSE, stdout=subprocess.PIPE))
    )
    thread.start()
    thread.join()
    (child,) = children
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        assert child.poll() is None
        child.kill()


PAUSE = "import signal; print('ready', flush=True); signal.pause()"


def test_a_child_whose_parent_died_before_it_asked_ends_itself() -> None:
    """Our own parent stands for it: the child is started by somebody else than it was told."""
    code = (
        f"from gossamer.engine.processes import end_with_parent; end_with_parent({os.getppid()}, 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1


def test_a_program_that_cannot_start_is_an_error_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(FileNotFoundError, match="/nowhere/python"):
        start_python("pass")


def test_a_fork_of_this_process_starts_children_of_its_own() -> None:
    start_python("pass").wait()
    pid = os.fork()
    if not pid:
        os._exit(start_python("import sys; sys.exit(7)").wait())
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_a_child_that_tidies_up_gets_the_signal_that_it_handles() -> None:
    script = """
import signal, subprocess
from gossamer.engine.processes import start_python
child = start_python(
    "import os, signal, sys\\n"
    "signal.signal(signal.SIGTERM, lambda *_: sys.exit(os.write(1, b'tidy')))\\n"
    "os.write(1, b'ready'); signal.pause()", end=signal.SIGTERM)
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.read(5) == b"ready"  # unbuffered: print would not be reentrant
        parent.kill()
        assert parent.stdout.read() == b"tidy"


def ended(pidfd: int) -> bool:
    try:
        return bool(select.select([pidfd], [], [], PATIENCE_S)[0])
    finally:
        os.close(pidfd)
