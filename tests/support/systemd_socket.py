"""The socket of systemd to which a service sends its messages (sd_notify(3))."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

LONGEST_S = 120


class Systemd:
    """A socket in a folder; a context manager that closes it."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.settimeout(LONGEST_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def received(self) -> dict[str, str]:
        lines = self._socket.recv(4_096).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def is_silent(self) -> bool:
        self._socket.setblocking(False)
        try:
            self._socket.recv(4_096)
        except BlockingIOError:
            return True
        finally:
            self._socket.settimeout(LONGEST_S)
        return False
