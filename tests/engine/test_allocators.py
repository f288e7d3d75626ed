from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from gossamer.engine.allocators import ARENAS, own_bytes
from tests.support.repository import ROOT

THREADS = """
import ctypes, threading
from gossamer.engine.allocators import return_freed_memory
return_freed_memory()
import pyarrow as pa
print(pa.default_memory_pool().backend_name)
libc, together = ctypes.CDLL(None), threading.Barrier(12)
def allocate():
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(12)]
for each in threads:
    each.start()
for each in threads:
    each.join()
if hasattr(libc, "malloc_info"):
    import sys
    sys.stdout.flush()
    libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
    libc.fflush(None)
"""
pytestmark = pytest.mark.server
HAS_ARENAS = platform.libc_ver()[0] == "glibc"


def run(**variables: str) -> str:
    """Run THREADS in an environment without settings of allocators but these."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith("MALLOC_")}
    kept.pop("ARROW_DEFAULT_MEMORY_POOL", None)
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        cwd=ROOT,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_arrow_uses_malloc_whose_threads_share_a_few_arenas() -> None:
    said = run()
    assert said.startswith("system\n")
    if HAS_ARENAS:
        assert 1 <= said.count("<heap nr=") <= ARENAS


def test_what_the_user_has_set_counts() -> None:
    said = run(ARROW_DEFAULT_MEMORY_POOL="mimalloc", MALLOC_ARENA_MAX="5")
    assert said.startswith("mimalloc\n")
    if HAS_ARENAS:
        assert said.count("<heap nr=") > ARENAS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has statm")
def test_the_memory_of_a_process_counts_without_its_files() -> None:
    before = own_bytes(os.getpid())
    more = bytearray(64 << 20)
    more[::4096] = bytes(len(more[::4096])).replace(b"\0", b"\1")
    assert own_bytes(os.getpid()) - before >= len(more) * 0.9


def test_a_process_that_has_ended_has_no_memory() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert own_bytes(ended.pid) == 0
