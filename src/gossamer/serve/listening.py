"""The socket that a server listens on: at an address, in a file, or opened by systemd.

A Unix socket is a file that outlives its server. Whether somebody listens there is known by
connecting. A new socket is bound under another name and renamed, so that clients never see one that
may not be used yet, and one that a dead server left is replaced.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.config import ServeConfig

INHERITED = 3
"""The descriptor of the first socket that systemd passes on (sd_listen_fds(3))."""
_SYSTEMD = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


@contextmanager
def open_listener(config: ServeConfig, host: str, port: int) -> Iterator[socket.socket]:
    """Listen as systemd, `serve.socket` or else the address says. Raises UsageError."""
    if (inherited := _inherited_socket()) is not None:
        with inherited:
            yield inherited
    elif config.socket:
        with _unix_socket(Path(config.socket), int(config.socket_mode, 8)) as listener:
            yield listener
    else:
        with open_address(host, port) as listener:
            yield listener


def open_address(host: str, port: int) -> socket.socket:
    """Listen on an address. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:  # a name too long, a port too large
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{host}:{port}", f"cannot listen: {reason}", "choose another --port or --host"
        ) from None


def place_of(listener: socket.socket, config: ServeConfig, host: str) -> str:
    """Where clients find the site: a URL, or the name of a socket."""
    address = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{config.socket or address}"
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{address[1]}{config.path}/"


def _inherited_socket() -> socket.socket | None:
    """The socket that systemd has opened for this process; None without one."""
    process, count, _ = (os.environ.pop(name, "") for name in _SYSTEMD)
    if process != str(os.getpid()):
        return None
    if count != "1":
        raise UsageError(
            "the socket unit", f"passes on {count} sockets", "give it one ListenStream= only"
        )
    os.set_inheritable(INHERITED, False)
    return socket.socket(fileno=INHERITED)


@contextmanager
def _unix_socket(path: Path, mode: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            with _alone_in(path.parent):
                _require_free(path)
                made = _bind(listener, path, mode)
        except OSError as error:
            reason = error.strerror or error  # "AF_UNIX path too long" has no number
            raise UsageError(
                str(path), f"cannot listen: {reason}", "choose another --socket"
            ) from None
        try:
            yield listener
        finally:
            with suppress(OSError):
                if path.lstat().st_ino == made:
                    path.unlink()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Let two servers that start at once look one after the other."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _require_free(path: Path) -> None:
    """Raises UsageError if a server listens at the path, or it is another file than a socket."""
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise UsageError(
            str(path), "exists and is not a socket", "remove it, or choose another --socket"
        )
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client,
        suppress(ConnectionRefusedError),  # its server is dead
    ):
        client.connect(str(path))
        raise UsageError(
            str(path),
            "another server listens there",
            "stop it (`ss -xlp` or `lsof -U` names it), or choose another --socket",
        )


def _bind(listener: socket.socket, path: Path, mode: int) -> int:
    """Make a listening socket appear at the path; returns its inode."""
    made = path.with_name(f"{path.name}.{os.getpid()}")
    listener.bind(str(made))
    try:
        made.chmod(mode)
        listener.listen()
        inode = made.lstat().st_ino
        made.rename(path)
    except BaseException:
        made.unlink()
        raise
    return inode
