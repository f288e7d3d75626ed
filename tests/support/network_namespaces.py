"""Hosts of their own on this machine: network namespaces, joined by a bridge.

Their files are those of this machine, except /etc/hosts. `ip netns` needs root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trustme

from gossamer.storage.names import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PORT = 9400
NODES = "nodes"
"""The name that stands for all nodes in /etc/hosts."""
PROGRAM = (sys.executable, "-c", "from gossamer.cli import main; main()")
_HOSTS = Path("/etc/netns")


class Host(NamedTuple):
    name: str
    address: str

    @property
    def node(self) -> str:
        return f"{self.address}:{PORT}"

    def start(
        self, *words: str, environment: dict[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start a command of Gossamer on this host."""
        command = ["ip", "netns", "exec", self.name, *PROGRAM, *words]
        given = os.environ | (environment or {})
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)

    def stored_bytes(self) -> int:
        """What has come over its network for storage."""
        counter = "/sys/class/net/eth1/statistics/rx_bytes"
        return int(_said("ip", "netns", "exec", self.name, "cat", counter))

    def knows(self, nodes: Sequence[Host]) -> None:
        """Let the name of all nodes have their addresses here."""
        self._write_hosts([(each.address, NODES) for each in nodes])

    def names(self, others: Mapping[str, str]) -> None:
        """Let names have these addresses here."""
        self._write_hosts([(address, name) for name, address in others.items()])

    def _write_hosts(self, known: Sequence[tuple[str, str]]) -> None:
        lines = [f"{address} {name}\n" for address, name in (("127.0.0.1", "localhost"), *known)]
        # In place: the file is mounted in processes that run already.
        (_HOSTS / self.name / "hosts").write_text("".join(lines))


class Network(NamedTuple):
    """`store`: the address of this machine in a network of its own, for storage."""

    store: str
    hosts: list[Host]


def unavailable() -> str:
    """Why there can be no namespaces; empty if there can."""
    if shutil.which("ip") is None:
        return "needs `ip`: apt-get install iproute2"
    if os.geteuid() != 0:
        return "needs root for network namespaces"
    probe = f"gossamer-{os.getpid()}-probe"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode:
        return "network namespaces cannot be made here"
    _said("ip", "netns", "del", probe)
    return ""


@contextmanager
def network(count: int) -> Iterator[Network]:
    """Hosts in two networks: one for searches, which tests ask from here, and one for storage."""
    number = os.getpid() % 60_000
    with ExitStack() as stack:
        hosts = []
        for each in range(count):
            host = Host(f"gossamer{number}-{each}", _address(number, 0, each + 2))
            stack.callback(shutil.rmtree, _HOSTS / host.name)
            (_HOSTS / host.name).mkdir(parents=True)
            host.knows([])
            _said("ip", "netns", "add", host.name)
            stack.callback(_said, "ip", "netns", "del", host.name)
            _said("ip", "-n", host.name, "link", "set", "lo", "up")
            hosts.append(host)
        for which, device in enumerate(("eth0", "eth1")):
            bridge = f"gsm{number}-{which}"
            _said("ip", "link", "add", bridge, "type", "bridge")
            stack.callback(_said, "ip", "link", "del", bridge)
            _said("ip", "address", "add", f"{_address(number, which, 1)}/24", "dev", bridge)
            _said("ip", "link", "set", bridge, "up")
            for each, host in enumerate(hosts):
                here, at = f"gsm{number}-{which}{each}", _address(number, which, each + 2)
                there = ["type", "veth", "peer", "name", device, "netns", host.name]
                _said("ip", "link", "add", here, *there)
                _said("ip", "link", "set", here, "master", bridge, "up")
                _said("ip", "-n", host.name, "address", "add", f"{at}/24", "dev", device)
                _said("ip", "-n", host.name, "link", "set", device, "up")
        yield Network(_address(number, 1, 1), hosts)


def _address(number: int, which: int, host: int) -> str:
    return f"10.{number // 250 % 100 + 10 + 100 * which}.{number % 250}.{host}"


def settings(folder: Path, hosts: Sequence[Host], groups: int) -> str:
    """Settings of a crawl for nodes on these hosts, with certificates in a folder."""
    authority = trustme.CA()
    certificate = authority.issue_cert(NODES, *(host.address for host in hosts))
    folder.mkdir()
    certificate.cert_chain_pems[0].write_to_path(folder / "node.pem")
    certificate.private_key_pem.write_to_path(folder / "node.key")
    (folder / "node.key").chmod(0o600)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return f"""
[serve]
nodes = ["{NODES}:{PORT}"]
groups = {groups}
cache_mb = 0
node_certificate = "{folder}/node.pem"
node_key = "{folder}/node.key"
node_authority = "{folder}/ca.pem"
"""


def add_settings(root: str, text: str) -> None:
    with Path(root, CONFIG_NAME).open("a") as file:
        file.write(text)


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
