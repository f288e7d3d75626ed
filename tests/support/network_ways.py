"""Ways to a server that can be disturbed: networks that are cut, lose all packets, or are slow."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Self

Trouble = Literal["cut", "stalled", "slow"]
SLOW_BYTES_S = 4_000
SLOW_STEPS = 10
"""A slow way carries so many pieces a second."""


class Way:
    """A relay to a server, at an address of its own.

    While it is cut, connections break, and new ones are closed at once. While it is stalled, all
    are accepted, and nothing arrives; what was sent arrives later, unless the sender gave up.
    """

    def __init__(
        self,
        server: tuple[str, int],
        at: tuple[str, int] = ("127.0.0.1", 0),
    ) -> None:
        self._server = server
        self._bytes_s = SLOW_BYTES_S
        self._listener = socket.create_server(at)
        self.port: int = self._listener.getsockname()[1]
        self.address = f"{at[0]}:{self.port}"
        self.url = f"http://{self.address}"
        self._open: list[socket.socket] = []
        self._lost: set[socket.socket] = set()
        self._trouble: Trouble | None = None
        self._flows = threading.Event()
        self._flows.set()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing alone does not end an `accept` of another thread, which holds the port.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._break()
        self._flows.set()

    def disturb(self, trouble: Trouble, seconds: float, bytes_s: int = SLOW_BYTES_S) -> None:
        """Return when the trouble is over.

        `bytes_s`: how fast each connection of a slow way is, in each direction.
        """
        self._trouble, self._bytes_s = trouble, bytes_s
        if trouble == "cut":
            self._break()
        elif trouble == "stalled":
            self._flows.clear()
        threading.Event().wait(seconds)
        self._trouble = None
        self._flows.set()

    def lose(self) -> None:
        """Let nothing arrive on the connections of now, for ever, as a firewall that forgot them.

        No end of them hears of it, and new ones are as before.
        """
        self._lost.update(self._open)

    def _break(self) -> None:
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._trouble == "cut":
                    client.close()
                else:
                    threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._flows.wait()
        try:
            server = socket.create_connection(self._server)
        except OSError:
            client.close()
            return
        self._open += [client, server]
        back = threading.Thread(target=self._carry, args=(server, client), daemon=True)
        back.start()
        self._carry(client, server)
        back.join()
        for end in (client, server):
            with suppress(ValueError):
                self._open.remove(end)
            end.close()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := self._received(source):
                if source not in self._lost:
                    target.sendall(data)
            if source not in self._lost:
                target.shutdown(socket.SHUT_WR)

    def _received(self, source: socket.socket) -> bytes:
        is_slow = self._trouble == "slow"
        data = source.recv(self._bytes_s // SLOW_STEPS if is_slow else 1 << 16)
        if is_slow:
            threading.Event().wait(len(data) / self._bytes_s)
        if not self._flows.is_set():
            self._flows.wait()
            with suppress(BlockingIOError):
                if not source.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                    return b""
        return data
