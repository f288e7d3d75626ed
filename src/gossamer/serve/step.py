"""The commands `serve` and `node`: what their processes set up, and the socket they listen on."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

from gossamer.engine.open_files import raise_file_limit
from gossamer.errors import UsageError
from gossamer.serve import listening
from gossamer.serve.cluster.children import Children
from gossamer.serve.process_setup import exempt_present_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.config import ServeConfig
    from gossamer.state.workspace import Workspace

MAX_PROCESSES = 8
"""Search processes if `serve.processes` is 0 and the machine has more cores than this."""
SWITCH_S = 0.000_5
GARBAGE = 20_000
"""Net new objects after which Python looks for cycles among them. Those of waiting requests live
until they are answered; with the default, 700, the search takes a tenth of the server's time."""
OTHER_FILES = 256
"""File descriptors reserved for the index and the search processes; connections get the rest."""
_say = partial(print, flush=True)


def serve(work: Workspace, host: str, port: int, announce: Callable[[str], object] = _say) -> None:
    """Serve until SIGINT or SIGTERM, then finish the open requests and return.

    Port 0 selects a free port; a socket of systemd or `serve.socket` is used instead of an address.
    `announce` is called with the URL or the name of the socket. Raises UsageError if the server
    cannot listen there.
    """
    from gossamer.serve.web import server
    from gossamer.serve.web.connections import MAX_CONNECTIONS

    # How long a computing thread may keep the interpreter from the event loop. A search has to
    # wait for it several times; the default is five milliseconds.
    sys.setswitchinterval(SWITCH_S)
    connections = min(MAX_CONNECTIONS, raise_file_limit() - OTHER_FILES)
    config = work.config.serve
    processes = search_processes(config)
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        stack.enter_context(_orderly_end())
        # Before any process is started.
        listener = stack.enter_context(listening.open_listener(config, host, port))
        children = stack.enter_context(Children(work, processes)) if processes > 1 else None
        addresses = children.addresses if children else ()
        made = server(work, addresses, connections=connections)
        exempt_present_objects()
        gc.set_threshold(GARBAGE)
        announce(listening.place_of(listener, config, host))
        made.run([listener])


def serve_node(
    work: Workspace, host: str, port: int, announce: Callable[[str], object] = _say
) -> None:
    """Answer the servers of other machines from a part of the index until SIGINT or SIGTERM.

    The other nodes know this one by the address that it listens on; if that is any, by the name of
    this machine. Raises UsageError if the node cannot listen on the address, or everybody who
    reaches it could search: beyond loopback, it needs certificates. Raises ConfigError if they
    cannot be used.
    """
    from gossamer.serve.cluster import tls
    from gossamer.serve.cluster.server import listen

    secured = tls.node_context(work.config.serve, work.root)
    with listening.open_address(host, port) as listener:
        at, number = listener.getsockname()[:2]
        if secured is None and not ip_address(at).is_loopback:
            raise UsageError(
                f"{host}:{number}",
                "is not on loopback, and without certificates everybody there could search",
                "set serve.node_certificate, node_key and node_authority: docs/operating.md",
            )
        announce(f"{host}:{number}")
        name = socket.gethostname() if ip_address(at).is_unspecified else at
        listen(work, f"[{name}]:{number}" if ":" in name else f"{name}:{number}", listener, secured)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Let the clean-up run after SIGTERM, although uvicorn raises the signal again when it ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def search_processes(config: ServeConfig) -> int:
    """The number of search processes on this machine; 0 if other machines search."""
    if config.nodes:
        return 0
    return config.processes or min(os.cpu_count() or 1, MAX_PROCESSES)
