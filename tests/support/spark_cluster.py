"""An Apache Spark cluster of five processes on loopback, for the tests marked `spark`.

A standalone master, two workers, and a Spark Connect server as their one application: what
`sc://` reaches on a real cluster, only smaller. Executors run `python` (which must have
gossamer, and pyspark-client of the cluster's version). Each worker has an address of its own, as
Spark never runs the second copy of a task (`spark.speculation`) on the host of the first.

Ports are the kernel's choice and are read from what the processes print. Each process is told
to end with the thread that started it (prctl(2), PR_SET_PDEATHSIG), so that a test run that is
killed leaves nothing behind.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import shutil
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import psutil

from gossamer.config.egress import ADDRESSES, GROUPS
from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

LOG = logging.getLogger(__name__)
NONE: Mapping[str, str] = MappingProxyType({})
WORKERS = 2
WORKERS_FROM = 11
"""The last number of the first one's address."""
STARTUP_S = 400
STOP_S = 15
JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Of the time of processes that live for minutes, the second compiler takes more than it saves.

To verify the bytecode of Spark takes a quarter of what a process needs to start.
"""

COMPILING: Mapping[str, str] = MappingProxyType(
    {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
)
"""Spark's defaults."""
FOR_FEW_ROWS: Mapping[str, str] = MappingProxyType(
    {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "2",
    }
)
"""Options of Spark for tests: it would compile Java for each query, and again in each executor."""

EU, US = "127.0.0.2", "127.0.0.3"
FAR_APART: Sequence[Mapping[str, str]] = (
    {GROUPS: "eu", ADDRESSES: EU},
    {GROUPS: "us", ADDRESSES: US},
)
"""The environments of two workers that fetch for different groups, from these addresses."""

HADOOP = "org.apache.hadoop:hadoop-aws:3.5.0"
"""Of the version of Spark's Hadoop client."""
AWS_VERSION = "2.35.4"
SERVICES = ("s3", "s3-transfer-manager", "sts")
REPOSITORY = "DEFAULT_ARTIFACT_REPOSITORY"
"""The variable by which Spark, too, learns of another repository than Maven Central."""
CENTRAL = "https://repo1.maven.org/maven2/"
ONE_REPOSITORY = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" root={root}/></resolvers>
</ivysettings>
"""
"""Spark would first look into ~/.m2, where Maven leaves POMs without their JARs."""
NOT_FETCHED = (
    "has not given Spark its libraries for S3",
    f"check the network, or set {REPOSITORY} to a mirror, and run this again",
)
UNRESOLVED = re.compile(r"unresolved dependency|download failed")

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_REGISTERED = r"(Successfully registered) with master"


class Cluster:
    """A running cluster; a context manager that ends it. A test may kill some of its processes."""

    def __init__(
        self,
        spark_home: Path,
        folder: Path,
        python: str,
        s3: Mapping[str, str] = NONE,
        *,
        workers: int = WORKERS,
        options: Mapping[str, str] = NONE,
        bound: bool = False,
        environments: Sequence[Mapping[str, str]] = (),
        announce: Callable[[str], object] = LOG.info,
    ) -> None:
        """Start a cluster whose logs and work lie in `folder`.

        `s3`: the environment by which its machines find an object store. `options`: more settings
        of Spark. `bound`: bind each worker to a core. `environments`: more variables for each.
        `announce` is told what the cluster waits for.
        """
        self._home, self._folder, self._bound = spark_home, folder, bound
        self._environments = environments or [NONE] * workers
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
            **s3,
            "SPARK_HOME": str(spark_home),
            "SPARK_LOCAL_IP": "127.0.0.1",  # every port, of the web pages too
            "SPARK_LOCAL_DIRS": str(folder / "scratch"),
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
            "SPARK_DAEMON_MEMORY": "1g",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "PYSPARK_PYTHON": python,
        }
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.cores.max": str(workers),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # no task before all are there
            "spark.driver.extraJavaOptions": JAVA,
            "spark.driver.host": "127.0.0.1",
            "spark.executor.extraJavaOptions": JAVA,
            "spark.executor.memory": "1g",
            "spark.locality.wait": "0s",  # every executor is as near as the other
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
            **(s3a(spark_home, folder, s3) if s3 else {}),
            **options,
        }
        self._deadline = time.monotonic() + STARTUP_S
        with ExitStack() as running:
            self._running = running
            announce("waiting for Spark's master and workers")
            master = self._start(
                "master",
                "spark-class",
                *(_MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
            )
            self._master_url = master.find(
                r"Starting Spark master at (spark://\S+)", self._deadline
            )
            self.workers = [self._start_worker(number) for number in range(workers)]
            for worker in self.workers:
                worker.find(_REGISTERED, self._deadline)
            if s3 and not libraries(spark_home).exists():
                announce(
                    "waiting for Spark Connect, which first downloads 42 MB of libraries for S3"
                )
            else:
                announce("waiting for Spark Connect")
            self.connect = self._start(
                "connect",
                *("spark-submit", "--master", self._master_url),
                *(word for pair in settings.items() for word in ("--conf", "=".join(pair))),
                *("--class", _CONNECT, "spark-internal"),
            )
            try:
                port = self.connect.find(
                    r"Spark Connect server started at: \S*:(\d+)", self._deadline
                )
            except RuntimeError as error:
                if UNRESOLVED.search(str(error)):
                    ivy = libraries(spark_home).parent
                    shutil.rmtree(ivy, ignore_errors=True)  # it remembers what it did not find
                    raise UsageError(repository(), *NOT_FETCHED) from error
                raise
            self.url = f"sc://127.0.0.1:{port}"
            self._running = running.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def executors(self) -> list[psutil.Process]:
        """The processes that run tasks, or that will when they have started."""
        found = []
        for worker in self.workers:
            children: list[psutil.Process] = []
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(worker.pid).children()
            for process in children:
                # The shell that began a worker may leave it a child that is a zombie.
                with suppress(psutil.NoSuchProcess):
                    if any(_EXECUTOR in word for word in process.cmdline()):
                        found.append(process)
        return found

    def kill_worker(self, number: int) -> None:
        """Kill a worker with all that it runs, as if its machine were lost, and start another.

        Call it in a thread that lives as long as the cluster.
        """
        gone = psutil.Process(self.workers[number].pid)
        for process in (gone, *gone.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        gone.wait()
        self.workers[number] = self._start_worker(number)
        self.workers[number].find(_REGISTERED, time.monotonic() + STARTUP_S)

    def _start_worker(self, number: int) -> Daemon:
        address = f"127.0.0.{WORKERS_FROM + number}"
        return self._start(
            f"worker-{number}",
            "spark-class",
            *(_WORKER, "--host", address, "--webui-port", "0", "--cores", "1"),
            *("--memory", "1500m", "--work-dir", str(self._folder / "work"), self._master_url),
            core=number if self._bound else None,
            SPARK_LOCAL_IP=address,
            **self._environments[number],
        )

    def _start(
        self, name: str, program: str, *words: str, core: int | None = None, **environment: str
    ) -> Daemon:
        bound = [] if core is None else ["taskset", "--cpu-list", str(core)]
        command = [*bound, str(self._home / "bin" / program), *words]
        daemon = Daemon(command, self._environment | environment)
        self._running.callback(daemon.stop, self._folder / f"{name}-{daemon.pid}.log")
        return daemon


def repository() -> str:
    return os.environ.get(REPOSITORY, CENTRAL)


def libraries(spark_home: Path) -> Path:
    """Where Spark keeps the JARs that it has fetched."""
    return spark_home / "ivy" / "jars"


def s3a(spark_home: Path, folder: Path, s3: Mapping[str, str]) -> dict[str, str]:
    """Settings by which Spark reads and writes an object store; they need a file in `folder`.

    The libraries come from Maven Central, once. hadoop-aws depends on all of AWS in one file of
    690 MB, of which it needs few services.
    """
    ivy_settings = folder / "ivysettings.xml"
    ivy_settings.write_text(ONE_REPOSITORY.format(root=quoteattr(repository())), encoding="utf-8")
    return {
        "spark.jars.packages": ",".join(
            [HADOOP, *(f"software.amazon.awssdk:{name}:{AWS_VERSION}" for name in SERVICES)]
        ),
        "spark.jars.excludes": "software.amazon.awssdk:bundle",
        "spark.jars.ivy": str(libraries(spark_home).parent),
        "spark.jars.ivySettings": str(ivy_settings),
        "spark.hadoop.fs.s3a.endpoint": s3["AWS_ENDPOINT_URL"],
        "spark.hadoop.fs.s3a.endpoint.region": s3["AWS_REGION"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }


class Daemon:
    """A process and what it has printed."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        # The scripts of Spark replace themselves by java: this process is the one to end.
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],
            env=environment,
            start_new_session=True,  # Ctrl-C reaches only the process that ends this one
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.pid = self._process.pid
        self._printed: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def find(self, pattern: str, deadline: float) -> str:
        """The pattern's group in the next line that has it."""
        while True:
            try:
                line = self._lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise RuntimeError(f"no {pattern!r} in: …{''.join(self._printed)[-4000:]}")
            if found := re.search(pattern, line):
                return found.group(1)

    def count(self, words: str) -> int:
        """How many lines have these words."""
        return sum(words in line for line in self._printed)

    def stop(self, log: Path) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(STOP_S)
        assert self._process.stdout is not None
        self._process.stdout.close()
        log.write_text("".join(self._printed), encoding="utf-8")
