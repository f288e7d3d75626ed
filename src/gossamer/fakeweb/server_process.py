"""The web in its own process, for synchronous tests, demos and benchmarks."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from gossamer.engine.processes import start_python
from gossamer.errors import GossamerError
from gossamer.fakeweb.http_server import loopback_addresses
from gossamer.fakeweb.request_log import LogEntry, parse_log
from gossamer.fakeweb.web import Web

if TYPE_CHECKING:
    from types import TracebackType

STOP_S = 10.0  # the time the process has to exit before it is killed


class FakeWeb:
    """A context manager: the web runs while the context is open.

    `address` is "127.0.0.1:PORT"; `addresses` lists all addresses without the port. `routes` is
    the value of the setting fetch.host_overrides with which a crawl reaches every host; hosts with
    their own ports come first. `ca_file` is the CA certificate that clients of the https hosts must
    trust, None without such hosts. `log()` returns the requests so far, even after the end. With
    `log_path`, the log file is written there and kept.
    """

    def __init__(
        self,
        web: Web | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        addresses: int = 1,
        log_path: Path | str | None = None,
        warm: int = 0,
    ) -> None:
        self.web = web or Web()
        self.addresses = loopback_addresses(host, addresses)
        self.port = port
        self.routes: dict[str, str] = {}
        self.ca_file: str | None = None
        self._warm = warm
        self._log_path = Path(log_path) if log_path is not None else None
        self._kept = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{self.addresses[0]}:{self.port}"

    @property
    def pid(self) -> int:
        """The server's process id, 0 if it is not running."""
        return self._child.pid if self._child else 0

    def start(self) -> Self:
        if self._log_path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="fakeweb-")
        self._child = start_python(
            "from gossamer.fakeweb.server_child import main; main()",
            end=signal.SIGTERM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the parent handles Ctrl-C
        )
        settings = {
            "web": self.web.settings(),
            "host": self.addresses[0],
            "addresses": len(self.addresses),
            "port": self.port,
            "log": str(self._log_file()),
            "warm": self._warm,
        }
        try:
            answer = self._ask(msgspec.json.encode(settings))
        except GossamerError:
            self.stop()
            raise
        ports = msgspec.json.decode(answer)
        self.port, self.routes, self.ca_file = ports["port"], ports["routes"], ports["ca_file"]
        return self

    def stop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        assert child.stdin is not None  # noqa: S101 - both are pipes
        assert child.stdout is not None  # noqa: S101
        child.stdin.close()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
        if self._log_file().exists():
            self._kept = self._log_file().read_text("latin-1")
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def log(self) -> list[LogEntry]:
        """Return the requests so far, as the server saw them."""
        if self._child is not None:
            self._ask(b"flush")
            return parse_log(self._log_file().read_text("latin-1"))
        return parse_log(self._kept) if self._kept else []

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _log_file(self) -> Path:
        if self._log_path is not None:
            return self._log_path
        return Path(self._folder.name if self._folder else "", "requests.tsv")

    def _ask(self, line: bytes) -> bytes:
        child = self._child
        assert child is not None  # noqa: S101 - the callers have started it
        assert child.stdin is not None  # noqa: S101 - both are pipes
        assert child.stdout is not None  # noqa: S101
        try:
            child.stdin.write(line + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            pass  # the process has ended, so `readline` below returns nothing
        answer = child.stdout.readline().strip()
        if not answer or answer.startswith(b"error"):
            reason = answer.removeprefix(b"error ").decode() or "its process ended"
            raise GossamerError(self.address, f"fakeweb is not running: {reason}")
        return answer
