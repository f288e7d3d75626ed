"""Azurite, Microsoft's emulator of Azure's blob storage: `make test-azure` installs it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress
from email.utils import formatdate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTAINER = "gossamer-tests"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of all emulators, and no secret. Clients know it."""
VERSION = "2021-08-06"
START_S = 60


@contextmanager
def azurite(folder: Path) -> Iterator[dict[str, str]]:
    """Start an emulator with an empty folder; the value is the environment of its clients."""
    program = shutil.which("azurite-blob")
    assert program, "Azurite is not installed: make test-azure"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir()
    command = [
        program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder),
        "--skipApiVersionCheck", "--silent",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            _wait(port, server)
            url = f"http://127.0.0.1:{port}"
            _create_container(url)
            yield {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": url}
        finally:
            server.terminate()


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    ends_s = time.monotonic() + START_S
    while time.monotonic() < ends_s and server.poll() is None:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        with suppress(subprocess.TimeoutExpired):
            server.wait(0.1)
    raise AssertionError("Azurite did not start")


def _create_container(url: str) -> None:
    """Source: "Authorize with Shared Key" in Microsoft's reference of the blob service."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION}
    named = "".join(f"{name}:{value}\n" for name, value in headers.items())
    path = f"/{ACCOUNT}/{CONTAINER}"
    signed = "PUT" + "\n" * 12 + f"{named}/{ACCOUNT}{path}\nrestype:container"
    mac = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(mac).decode()}"
    request = urllib.request.Request(  # noqa: S310  # loopback
        f"{url}{path}?restype=container", method="PUT", headers=headers
    )
    urllib.request.urlopen(request).close()  # noqa: S310
