"""Children die with their parent, whatever they are doing: by the kernel's word, or a watcher's."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading

import pytest

from gossamer.engine.processes import start_python
from tests.support.another_system import environment_without_linux
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
SERVER = """
from gossamer.parse.process import guarded_parser, parser_start
parser_start.start_ahead(guarded_parser.prepare)
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


SYSTEMS = {"Linux": dict(os.environ), "another system": environment_without_linux()}


PROGRAMS = {
    "worker": WORKER,
    "parser": PARSER,
    "forked parser": SERVER + PARSER,
    "search": SEARCH,
    "fakeweb": FAKEWEB,
    "thread that ended": IN_A_THREAD,
}


@pytest.mark.parametrize(
    ("name", "system"), [*((name, "Linux") for name in PROGRAMS), ("worker", "another system")]
)
def test_no_child_outlives_a_parent_that_is_killed(name: str, system: str, searched: str) -> None:
    script = PROGRAMS[name].replace("{crawl!r}", repr(searched)) + TELL
    with subprocess.Popen(
        [sys.executable, "-c", script], env=SYSTEMS[system], stdout=subprocess.PIPE
    ) as parent:
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


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_child_that_tidies_up_gets_the_signal_that_it_handles(system: str) -> None:
    script = """
import signal, subprocess
from gossamer.engine.processes import start_python
child = start_python(
    "import os, signal, sys\\n"
    "signal.signal(signal.SIGTERM, lambda *_: sys.exit(os.write(1, b'tidy')))\\n"
    "os.write(1, b'ready'); signal.pause()", end=signal.SIGTERM)
signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], env=SYSTEMS[system], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.read(5) == b"ready"  # unbuffered: print would not be reentrant
        parent.kill()
        assert parent.stdout.read() == b"tidy"


def test_a_watcher_ends_with_its_child_and_leaves_others_alone() -> None:
    """Else its number would be that of another process, some day."""
    script = """
import os, psutil
from gossamer.engine.processes import start_python
child = start_python("import signal, os; os.write(1, b'.'); signal.pause()", stdout=-1)
child.stdout.read(1)
(watcher,) = psutil.Process(child.pid).children()
child.kill()
child.wait()
watcher.wait(10)
"""
    environment = environment_without_linux()
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=PATIENCE_S)


def ended(pidfd: int) -> bool:
    try:
        return bool(select.select([pidfd], [], [], PATIENCE_S)[0])
    finally:
        os.close(pidfd)
