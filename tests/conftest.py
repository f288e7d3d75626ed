from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import uuid
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings
from obstore.store import MemoryStore

from gossamer.config import Config, EngineConfig
from gossamer.engine.engine import Engine
from gossamer.engine.lean_imports import pause_collections
from gossamer.state.settings_file import DEFAULTS
from gossamer.state.workspace import Workspace
from gossamer.storage import places
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.objects import bucket
from gossamer.storage.objects.backend import ObjectBackend
from gossamer.storage.objects.bucket import Bucket
from gossamer.storage.store import Store
from tests.support.azure_emulator import CONTAINER, azurite
from tests.support.command_line import lent, standing_parsers
from tests.support.lone_process import alone_in_this_process
from tests.support.loopback import Loopback, loopback
from tests.support.memory_backend import MemoryBackend
from tests.support.object_store import BUCKET, forget_stores, object_store
from tests.support.spark_cluster import COMPILING, FAR_APART, FOR_FEW_ROWS, Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from gossamer.storage.backends import Backend


# The same examples in each run: what passes here passes there. Deadlines would measure the machine.
settings.register_profile(
    "gossamer", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("gossamer"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("gossamer"), max_examples=500)
# A mutant is killed by the first example that fails; to shrink that may take minutes.
settings.register_profile(
    "mutants", settings.get_profile("gossamer"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gossamer"))

# The clients of tests, httpx and urllib, would ask a proxy of the environment for our own loopback.
for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[name]


MARKS = {
    "engine": {"engine", "s3_engine", "spark_engine"},
    "server": {"server", "s3_server", "az_server", "small_disk", "fake", "client"},
    "browser": {"browser"},
}
"""Marks, and the fixtures that give them, also to tests whose other fixtures need these.

`fake` and `client` are fixtures of test files: a fake web, and a client of a search server.
"""
STARTING = (
    "engine",
    "server",
    "browser",
    "spark",
    "image",
    "wheels",
    "debian",
    "azure",
    "fuzz",
    "slow",
    "long",
)


IN_MEMORY, ENOUGH_BYTES = Path("/dev/shm"), 4 << 30  # noqa: S108  # pytest makes folders of its own


def pytest_configure() -> None:
    """Keep the folders of tests in memory, if there is enough for files.

    Crawls make, sync and delete hundreds of small files, for each of which one waits for a disk.
    """
    if IN_MEMORY.is_dir():
        found = os.statvfs(IN_MEMORY)
        if found.f_bavail * found.f_frsize >= ENOUGH_BYTES and not found.f_flag & os.ST_NOEXEC:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with pause_collections():
        return (yield)


@pytest.hookimpl(tryfirst=True)  # before marks are selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests get the marks of their fixtures.

    Those that need the engine come first, with the other tests of their files: they are the
    longest, and a process that got the last of them would keep the others waiting.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        for mark, needing in MARKS.items():
            if fixtures & needing:
                item.add_marker(mark)
    if config.getoption("objects") or config.getoption("spark"):
        items[:] = [item for item in items if "new_work" in getattr(item, "fixturenames", ())]
    for option, mark in (("objects", "folder"), ("spark", "embedded")):
        if config.getoption(option):
            items[:] = [item for item in items if item.get_closest_marker(mark) is None]
    long = {item.path for item in items if item.get_closest_marker("engine")}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test without a mark starts no process and no server: `make check` would wait for them."""
    alone = not any(item.get_closest_marker(mark) for mark in STARTING)
    with alone_in_this_process() if alone else nullcontext():
        return (yield)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds", type=int, default=1, help="how often tests of random kills run, each time others"
    )
    parser.addoption(
        "--objects", action="store_true", help="crawls of the fixture work are on an object store"
    )
    parser.addoption(
        "--spark", action="store_true", help="the fixture engine is an Apache Spark cluster"
    )


@pytest.fixture(scope="session")
def new_backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Backend]:
    """Makes empty storages: folders, or with --objects, those of an object store."""
    if not request.config.getoption("objects"):
        return lambda: LocalBackend(tmp_path_factory.mktemp("crawl"))
    server = request.getfixturevalue("s3_server")
    os.environ.update(server | bucket.variables_of_engine(server))
    return lambda: ObjectBackend(Bucket(f"s3://{BUCKET}/{uuid.uuid4().hex}"))


@pytest.fixture(scope="session")
def engine(
    request: pytest.FixtureRequest,
    new_backend: Callable[[], Backend],  # noqa: ARG001  # sets the environment
) -> Iterator[Engine]:
    """One embedded engine for all tests, which takes a second to start; with --spark, a cluster."""
    if request.config.getoption("spark"):
        yield request.getfixturevalue("spark_engine")
        return
    with Engine(EngineConfig(workers=2)) as started:
        yield started


@pytest.fixture(scope="session", autouse=True)
def exempt_tests_from_collection() -> Iterator[None]:
    """Objects that were exempt from garbage collection stay so when a server opens an index.

    In this process, they are all tests and modules: a look at each of them takes half a second.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "unfreeze", lambda: None)
        yield


@pytest.fixture(scope="module")
def shared_engine(engine: Engine) -> Iterator[None]:
    """Lets the commands of a module use the engine of all tests."""
    with lent(engine):
        yield


@pytest.fixture(scope="module")
def shared_parsers() -> Iterator[None]:
    """Lets the commands of a module use standing processes to parse pages."""
    with standing_parsers():
        yield


@pytest.fixture(scope="session")
def new_cluster(
    tmp_path_factory: pytest.TempPathFactory, s3_server: dict[str, str]
) -> Callable[..., Cluster]:
    """Starts an Apache Spark cluster of this machine, which takes half a minute."""
    home = os.environ.get("SPARK_HOME")
    if home is None or shutil.which("java") is None:
        pytest.fail("needs SPARK_HOME and java: run `make test-spark`")
    folder = tmp_path_factory.mktemp("spark")
    return partial(Cluster, Path(home).resolve(), folder, sys.executable, s3_server)


@pytest.fixture(scope="session")
def cluster(new_cluster: Callable[..., Cluster]) -> Iterator[Cluster]:
    """One cluster for all tests.

    Each of its workers fetches for a group, from an address of its own.
    """
    with new_cluster(options=FOR_FEW_ROWS, environments=FAR_APART) as started:
        yield started


def spark_only(engine: Engine) -> None:
    """Have a cluster run all queries, also those that this process would run as they are small.

    Tests compare the embedded engine with Spark, and their crawls are small.
    """
    engine.spark = engine._cluster


@pytest.fixture(scope="session")
def spark_engine(cluster: Cluster) -> Iterator[Engine]:
    """One engine on that cluster, which runs small queries, too: see `spark_only`."""
    with Engine(EngineConfig(url=cluster.url, workers=len(FAR_APART))) as started:
        spark_only(started)
        yield started


@pytest.fixture(scope="session")
def compiling_engine(cluster: Cluster) -> Iterator[Engine]:
    """As `spark_engine`, but Spark compiles Java, as it does on clusters of users."""
    with Engine(EngineConfig(url=cluster.url, workers=len(FAR_APART))) as started:
        spark_only(started)
        for name, value in COMPILING.items():
            started.spark.conf.set(name, value)
        yield started


@pytest.fixture(scope="session")
def new_work(engine: Engine, new_backend: Callable[[], Backend]) -> Callable[[], Workspace]:
    """Makes empty crawls, whose clocks stand still."""

    def make() -> Workspace:
        store = Store.create(new_backend())
        store.backend.create(CONFIG_NAME, DEFAULTS.encode())
        return Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=engine)

    return make


@pytest.fixture
def work(new_work: Callable[[], Workspace]) -> Workspace:
    return new_work()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment for clients of one object store for all tests: it takes 4 s to start."""
    folder = tmp_path_factory.mktemp("s3")
    with object_store(folder / "server") as environment:
        yield environment | {places.CACHE: str(folder / "cache")}


@pytest.fixture
def s3(s3_server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a folder that no other test uses."""
    for name, value in (s3_server | bucket.variables_of_engine(s3_server)).items():
        monkeypatch.setenv(name, value)
    forget_stores()
    yield f"s3://{BUCKET}/{uuid.uuid4().hex}"
    forget_stores()


@pytest.fixture
def s3_engine(s3: str) -> Iterator[Engine]:  # noqa: ARG001  # it sets the environment
    """An embedded engine of its own: its processes know of the server and the cache."""
    with Engine(EngineConfig(workers=2)) as started:
        yield started


@pytest.fixture(scope="session")
def az_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment for clients of one emulator of Azure's storage."""
    with azurite(tmp_path_factory.mktemp("az") / "server") as environment:
        yield environment


@pytest.fixture
def az(az_server: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The URL of a folder that no other test uses."""
    for name, value in (az_server | {places.CACHE: str(tmp_path / "cache")}).items():
        monkeypatch.setenv(name, value)
    forget_stores()
    yield f"az://{CONTAINER}/{uuid.uuid4().hex}"
    forget_stores()


@pytest.fixture(
    params=[
        "local",
        "memory",
        "objects",
        pytest.param("s3", marks=pytest.mark.server),
        pytest.param("az", marks=pytest.mark.azure),
    ]
)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """An empty storage: a folder, memory, obstore's objects in memory, and real servers."""
    if request.param == "local":
        return LocalBackend(tmp_path / "crawl")
    if request.param == "memory":
        return MemoryBackend()
    if request.param == "objects":
        return ObjectBackend(Bucket("memory://crawl", MemoryStore()))
    return ObjectBackend(Bucket(request.getfixturevalue(request.param)))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted")
    yield folder
    # The engine closes the files of a failed query a moment later.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server of this test alone: what another test left on its way is not asked of it."""
    with loopback() as opened:
        yield opened
