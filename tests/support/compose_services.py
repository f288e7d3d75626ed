"""The services of deploy/compose without Docker: each a process on a host of its own.

A host is a network namespace that knows the others by name. A folder stands for each volume: what
is in a command, the environment or the settings below its mount point is in that folder. Images are
programs of this machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, Any

from tests.support.network_namespaces import PROGRAM
from tests.support.object_store import weed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.support.network_namespaces import Host

PATIENCE_S = 90
ENTRY = {"gossamer": PROGRAM, "chrislusf/seaweedfs": (str(weed()),)}
"""The entry point of each image."""
SHARED = ("PATH", "PYTHONPATH", "LANG", "XDG_CACHE_HOME")


class Compose:
    """Services of a compose file, to be started in the order of `depends_on`."""

    def __init__(
        self, project: Mapping[str, Any], folder: Path, beside: Path, given: Mapping[str, str]
    ) -> None:
        """`beside`: the folder of the compose file; `given`: the variables of .env."""
        self._services: Mapping[str, Any] = project["services"]
        self._folder, self._beside, self._given = folder, beside, given
        self._hosts: dict[str, Host] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def place(self, name: str, host: Host) -> None:
        self._hosts[name] = host

    def start(self, name: str) -> None:
        """Start a service once what it depends on is as it demands."""
        if name in self._running:
            return
        service = self._services[name]
        for other, demand in service.get("depends_on", {}).items():
            self.start(other)
            self._await(other, demand["condition"])
        self._running[name] = self._run(name, [*self._command(service)])

    def fetched(self, name: str, url: str) -> str:
        """What `curl` on the host of a service gets from a URL; empty if it fails."""
        command = ["curl", "--silent", "--fail", "--max-time", "5", url]
        return subprocess.run(
            self._on(name, command), capture_output=True, text=True, check=False
        ).stdout

    def alive(self, name: str) -> bool:
        return self._running[name].poll() is None

    def stop(self, name: str) -> int:
        """Ask a service to end, as `docker compose stop` does; returns its exit code."""
        self._running[name].terminate()
        return self._running[name].wait(PATIENCE_S)

    def close(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")[-3000:]

    def _command(self, service: Mapping[str, Any]) -> Sequence[str]:
        image = re.sub(r"[:$].*", "", service["image"])
        entry = service.get("entrypoint", ENTRY[image])
        words = [*service["command"]]
        if image != "gossamer":
            words.insert(1, "-dir=/data")  # as the entry point of the image does
        return [self._inside(service, word) for word in (*entry, *words)]

    def _inside(self, service: Mapping[str, Any], text: str) -> str:
        """A text with paths on this machine in place of those in the container."""
        for variable, value in self._given.items():
            text = re.sub(rf"\$\{{{variable}:\?[^}}]*\}}", value, text)
        for volume in service.get("volumes", ()):
            source, target, *_ = volume.split(":")
            text = text.replace(target, str(self.volume(source)))
        return text

    def volume(self, source: str) -> Path:
        """The folder that stands for a volume, or the file that is mounted."""
        if not source.startswith("."):
            made = self._folder / "volumes" / source
            made.mkdir(parents=True, exist_ok=True)
            return made
        changed = self._folder / "files" / source.rpartition("/")[2]
        return changed if changed.exists() else (self._beside / source).resolve()

    def _run(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        service = self._services[name]
        environment = {key: os.environ[key] for key in SHARED if key in os.environ}
        for key, value in service.get("environment", {}).items():
            environment[key] = self._inside(service, value)
        cache = self.volume(f"{name}-cache")
        environment |= {"TMPDIR": str(cache), "XDG_CACHE_HOME": str(cache)}
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                self._on(name, command), stdout=log, stderr=log, env=environment, cwd=cache
            )

    def _on(self, name: str, command: Sequence[str]) -> list[str]:
        hostname = self._services[name].get("hostname", name)
        named = 'hostname "$0" && exec "$@"'
        within = ["ip", "netns", "exec", self._hosts[name].name, "unshare", "--uts"]
        return [*within, "setpriv", "--pdeathsig", "KILL", "sh", "-c", named, hostname, *command]

    def _await(self, name: str, condition: str) -> None:
        if condition == "service_completed_successfully":
            assert self._running[name].wait(PATIENCE_S) == 0, self.log(name)
            return
        assert condition == "service_healthy"
        kind, *check = self._services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        until_s = time.monotonic() + PATIENCE_S
        while subprocess.run(self._on(name, check), capture_output=True, check=False).returncode:
            assert self.alive(name), self.log(name)
            assert time.monotonic() < until_s, self.log(name)
