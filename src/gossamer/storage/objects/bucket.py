"""Folders of an object store: s3://, gs:// and az://, through obstore (Rust's object_store).

Credentials, endpoint, region and addressing come from the environment, as for other tools of these
clouds, or from the files of AWS's tools (aws_profiles.py). They are never part of a URL.

Facts (obstore 0.12, SeaweedFS 4.48)
  * A put with mode "create" is a PUT with `If-None-Match: *`, which the store answers with 412 if
    the object exists. Lists, reads and puts are strongly consistent.
  * Requests that fail are repeated by obstore, with back-off, if that is safe. Of a `create` whose
    answer was lost, nobody knows whether it has succeeded. So each one has a number of its own
    (WRITER), by which a repetition recognises the object of the first try.
  * `If-Match` is never used: some stores refuse a right ETag, others take a stale one.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from contextlib import suppress
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import xxhash

from gossamer import __version__
from gossamer.errors import StoreError, Unanswered, UsageError
from gossamer.storage.objects import aws_profiles
from gossamer.storage.objects.errors import bucket_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from obstore import GetResult, ObjectMeta, WritableFile
    from obstore.store import BackoffConfig, ClientConfig, ObjectStore, RetryConfig, S3Config

Answer = TypeVar("Answer")

SCHEMES = ("s3", "gs", "az")
_URL = re.compile(r"(s3|gs|az)://([a-zA-Z0-9][a-zA-Z0-9._-]{1,254})(?:/(.*))?")
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
"""Variables that name the server of s3:// URLs; the first that is set counts."""
WRITER = "writer"
"""Metadata of an object: the number of the call that created it."""
RETRIES = 100
RETRY_S = 120
"""Requests are repeated for two minutes: a store that is restarted comes back by then."""
BACKOFF: BackoffConfig = {
    "init_backoff": timedelta(seconds=0.1),
    "max_backoff": timedelta(seconds=10),
    "base": 4,
}
"""A pause is a random time up to `base` times the last one, so it doubles on average. With 2,
obstore's default, it hardly grows, and a dozen repetitions are over in seconds."""
FIRST_RETRIES = 3
FIRST_RETRY_S = 5
"""The first request of a command fails soon, because its URL or endpoint may be wrong."""
CHUNK_BYTES = 8 << 20
"""Of a large object, so many bytes are in memory at a time."""
SILENCE_S = 30
"""A request ends if nothing of its answer arrives for so long."""
READ_S = 86_400
"""An answer may take so long as a whole: a large object, and a slow network."""
UPLOAD_S = 100
"""A part of an upload may take so long, that is 84 KB/s, until its answer comes."""
PAUSE_S = 0.5
MAX_PAUSE_S = 15.0
"""The first and the longest pause before a request is repeated whose answer was lost."""


class Found(NamedTuple):
    """An object of a list. `path` is relative to the folder of its `Bucket`."""

    path: str
    bytes: int
    modified: datetime
    """By the clock of the store."""


def is_object_url(path: str) -> bool:
    """Whether a path is a URL of an object store."""
    return path.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def split_url(url: str) -> tuple[str, str, str]:
    """The scheme, bucket and key of a URL. Raises UsageError."""
    found = _URL.fullmatch(url)
    key = (found[3] or "").strip("/") if found else ""
    if found is None or any(part in ("", ".", "..") for part in key.split("/") if key):
        scheme = url.partition("://")[0]
        # The URL is not quoted: it may hold a password.
        raise UsageError(
            f"{scheme}://…",
            "is not a URL of a folder in a bucket",
            f"use {scheme}://bucket/folder; keys and endpoint belong into the environment",
        )
    return found[1], found[2], key


class Bucket:
    """A folder of an object store. Paths are relative to it.

    Methods raise FileNotFoundError, and StoreError if the store cannot be used.
    """

    def __init__(
        self, url: str, store: ObjectStore | None = None, *, is_patient: bool = False
    ) -> None:
        """Make no request yet. `store`: used instead of the one that the URL names."""
        self.url, self._key, self._store = url, "", store
        self._is_patient = is_patient or store is not None
        if store is None:
            scheme, name, self._key = split_url(url)
            self.url = "/".join(filter(None, (f"{scheme}://{name}", self._key)))
            self._root = f"{scheme}://{name}"

    def get(self, path: str) -> bytes:
        return self._request(path, lambda store, key: bytes(store.get(key).bytes()))

    def get_range(self, path: str, start: int, end: int) -> bytes:
        return self._request(
            path, lambda store, key: bytes(store.get_range(key, start=start, end=end))
        )

    def get_tail(self, path: str, size: int) -> tuple[bytes, int]:
        """The last bytes of an object that is not empty, and its size. Azure needs two requests."""
        if self.url.startswith("az://"):  # it has no ranges from the end
            whole = self.size(path)
            return self.get_range(path, max(whole - size, 0), whole), whole

        def tail(store: ObjectStore, key: str) -> tuple[bytes, int]:
            found = store.get(key, options={"range": {"suffix": size}})
            return bytes(found.bytes()), found.meta["size"]

        return self._request(path, tail)

    def size(self, path: str) -> int:
        return self._request(path, lambda store, key: store.head(key)["size"])

    def modified(self, path: str) -> datetime:
        return self._request(path, lambda store, key: store.head(key)["last_modified"])

    def writer(self, path: str, part_bytes: int, parts_at_once: int) -> WritableFile:
        """Write an object piece by piece. It exists when the writer is closed by `complete`."""
        from obstore import open_writer

        store = self._store_for(uploads=True)
        key = self._key_of(path)
        return open_writer(store, key, buffer_size=part_bytes, max_concurrency=parts_at_once)

    def complete(self, path: str, writer: WritableFile, size: int) -> None:
        """Close a writer, of an object that nobody else writes, to which so much was written.

        If the answer was lost, the object may be there all the same.
        """
        try:
            with bucket_errors(f"{self.url}/{path}"):
                writer.close()
        except StoreError:
            with suppress(FileNotFoundError):
                if self.size(path) == size:
                    return
            raise

    def stream(self, path: str) -> tuple[int, Iterator[bytes]]:
        """The size of an object, and its bytes piece by piece, which need not be read."""
        found = self._request(path, lambda store, key: store.get(key))
        return found.meta["size"], self._pieces(path, found)

    def _pieces(self, path: str, found: GetResult) -> Iterator[bytes]:
        with bucket_errors(f"{self.url}/{path}"):
            yield from map(bytes, found.stream(min_chunk_size=CHUNK_BYTES))

    def checksum(self, path: str) -> str:
        """The xxh3 of an object's bytes."""
        hasher = xxhash.xxh3_64()
        for piece in self.stream(path)[1]:
            hasher.update(piece)
        return hasher.hexdigest()

    def copy(self, path: str, target: str) -> None:
        """Copy an object within the store, which moves no bytes over the network."""
        self._request(path, lambda store, key: store.copy(key, self._key_of(target)))

    def put(self, path: str, data: bytes) -> None:
        """Write an object, or replace one."""
        self._request(path, lambda store, key: store.put(key, data, use_multipart=False))

    def create(self, path: str, data: bytes) -> None:
        """Write an object that does not exist yet, atomically. Raises FileExistsError."""
        writer = {WRITER: uuid.uuid4().hex}
        try:
            self._request(
                path,
                lambda store, key: store.put(
                    key, data, mode="create", attributes=writer, use_multipart=False
                ),
            )
        except FileExistsError:
            found = self._request(path, lambda store, key: store.get(key).attributes.get(WRITER))
            if found != writer[WRITER]:  # or else the answer to an earlier try was lost
                raise

    def list(self, folder: str = "") -> Iterator[Found]:
        """Yield the objects below a folder, by one request for each thousand."""
        last: str | None = None
        pages: Iterator[Sequence[ObjectMeta]] | None = None

        def page(store: ObjectStore, key: str) -> Sequence[ObjectMeta]:
            nonlocal pages
            if pages is None:
                pages = store.list(key or None, offset=last, chunk_size=1000)
            try:
                return next(pages, ())
            except Exception:
                pages = None
                raise

        while some := self._request(folder, page):
            for each in some:
                path = each["path"][len(self._key) :].lstrip("/")
                yield Found(path, each["size"], each["last_modified"])
            last = some[-1]["path"]

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects; those that are already gone are ignored."""
        if not (gone := list(paths)):
            return
        try:
            self._request("", lambda store, _: store.delete(list(map(self._key_of, gone))))
        except FileNotFoundError:  # S3 ignores them; Azure and Google end here
            for path in gone:
                with suppress(FileNotFoundError):
                    self._request(path, lambda store, key: store.delete(key))

    def _key_of(self, path: str) -> str:
        return "/".join(filter(None, (self._key, path)))

    def _store_for(self, *, uploads: bool = False) -> ObjectStore:
        if self._store is not None:
            return self._store
        return open_bucket(self._root, is_patient=self._is_patient, uploads=uploads)

    def _request(self, path: str, request: Callable[[ObjectStore, str], Answer]) -> Answer:
        """What the store answers to a request for a path, which is repeated if that was lost.

        obstore repeats requests itself, but not those of whose answer a part has arrived.
        """
        store, key = self._store_for(), self._key_of(path)
        until_s = time.monotonic() + (RETRY_S if self._is_patient else FIRST_RETRY_S)
        pause_s = PAUSE_S
        while True:
            try:
                with bucket_errors("/".join(filter(None, (self.url, path)))):
                    answer = request(store, key)
            except Unanswered:
                if time.monotonic() + pause_s > until_s:
                    raise
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
            else:
                self._is_patient = True
                return answer


def locate_object(url: str) -> tuple[Bucket, str]:
    """The bucket and the key of an object."""
    scheme, name, key = split_url(url)
    return _whole(f"{scheme}://{name}"), key


@cache
def _whole(root: str) -> Bucket:
    """A bucket for tasks, which begin when the store of the crawl has been reached."""
    return Bucket(root, is_patient=True)


@cache
def open_bucket(root: str, *, is_patient: bool, uploads: bool) -> ObjectStore:
    """The store of a bucket, by the environment of this process. Raises UsageError."""
    from obstore.store import AzureStore, GCSStore, S3Store

    scheme, name, _ = split_url(root)
    retry: RetryConfig = {
        "backoff": BACKOFF,
        "max_retries": RETRIES if is_patient else FIRST_RETRIES,
        "retry_timeout": timedelta(seconds=RETRY_S if is_patient else FIRST_RETRY_S),
    }
    client: ClientConfig = {
        "user_agent": f"gossamer/{__version__}",
        "timeout": timedelta(seconds=UPLOAD_S if uploads else READ_S),
        **({} if uploads else {"read_timeout": timedelta(seconds=SILENCE_S)}),
    }
    if scheme == "gs":
        return GCSStore(name, client_options=client, retry_config=retry)
    if scheme == "az":
        return AzureStore(name, client_options=client, retry_config=retry)
    more = aws_profiles.variables(os.environ)
    if _endpoint(os.environ | more).startswith("http://"):
        client["allow_http"] = True
    config = cast("S3Config", {name.lower(): value for name, value in more.items()})
    return S3Store(name, config=config, client_options=client, retry_config=retry)


def variables_of_engine(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which the embedded engine finds the server and the keys of s3:// URLs.

    Fact (Sail 0.7.2): it reads AWS_ENDPOINT, not AWS_ENDPOINT_URL, and no files of AWS's tools.
    """
    more = aws_profiles.variables(environment)
    known = {"AWS_REGION": "us-east-1"} | dict(environment) | more
    if endpoint := _endpoint(known):
        more["AWS_ENDPOINT"] = endpoint
        more["AWS_ALLOW_HTTP"] = str(endpoint.startswith("http://")).lower()
    return {"AWS_REGION": known["AWS_REGION"]} | more


def _endpoint(environment: Mapping[str, str]) -> str:
    """The server of s3:// URLs; empty: AWS."""
    return next((environment[name] for name in ENDPOINTS if name in environment), "")
