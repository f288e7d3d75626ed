"""Commands whose standard descriptors are closed, or whose address space is limited (ulimit -v)."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from pyspark import cloudpickle

from gossamer import cli
from gossamer.cli import inspected_sources
from gossamer.cli.terminal import echo_json
from gossamer.config import EngineConfig
from gossamer.engine.address_space import COMMAND_BYTES, require_address_space
from gossamer.engine.engine import Engine
from gossamer.engine.worker import _portable_error
from gossamer.errors import EngineError, StoreError, UsageError
from tests.support.command_line import gossamer

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9


def run_with_shell(
    redirections: str, program: str, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python program as a shell does with these redirections, or limits."""
    command = ["sh", "-c", f'{redirections} exec "$@"', "sh", sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


COMMAND = "from gossamer.cli import main; main()"


@pytest.mark.server
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_gets_the_number_of_a_closed_standard_descriptor(
    closed: str, tmp_path: Path
) -> None:
    program = (
        "import os, subprocess, sys, typer\n"
        "from gossamer import cli\n"
        "def command(**_):\n"
        "    out = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        "    child = subprocess.run([sys.executable, '-c', 'import os; print(os.fstat(0))'])\n"
        "    print('a message', file=sys.stderr)\n"
        "    os.write(out, b'%d %d' % (out > 2, child.returncode))\n"
        "cli.app = command\n"
        "cli.main()\n"
    )
    ended = run_with_shell(f"exec {closed};", program, str(tmp_path / "out"))
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out").read_bytes() == b"1 0"


def test_json_without_a_standard_output_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    echo_json(b"{}")


def test_a_page_from_a_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input: is closed"):
        inspected_sources._read_limited("-", 9)


@pytest.mark.server
@pytest.mark.parametrize("kilobytes", [300_000, 1_000_000])
def test_a_limit_of_address_space_is_an_error_with_a_remedy(kilobytes: int, tmp_path: Path) -> None:
    limit = f"ulimit -v {kilobytes};"
    ended = run_with_shell(limit, COMMAND, "status", str(tmp_path / "crawl"))
    assert ended.returncode == 1
    assert ended.stderr.startswith("gossamer: ulimit -v: allows ")
    assert "\n  → lift it (ulimit -v unlimited)" in ended.stderr


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4 * GB, 4 * GB))


@pytest.mark.usefixtures("limited")
def test_the_embedded_engine_needs_more_address_space_than_other_commands() -> None:
    require_address_space(COMMAND_BYTES)
    with pytest.raises(EngineError, match=r"allows 4\.0 GB of address space, and 7 GB are needed"):
        Engine(EngineConfig(memory_gb=1))


def test_a_command_that_is_out_of_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "app", exhausted)
    told = gossamer("status", "crawl", code=1).stderr
    assert told.startswith("gossamer: this process: cannot allocate memory\n  → end some processes")


def test_a_task_that_is_out_of_memory_says_so() -> None:
    error = cloudpickle.loads(_portable_error(MemoryError()))
    assert isinstance(error, StoreError)
    assert "ulimit -v" in error.remedy
