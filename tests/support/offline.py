"""Programs on a machine that has no network but loopback, and how often they tried to leave it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ALONE = ["unshare", "--net", *(() if os.geteuid() == 0 else ("--user", "--map-root-user"))]
_SCRIPT = 'ip link set lo up && "$@"; code=$?; cat /proc/self/net/snmp* >"$0"; exit $code'


def refused_packets(command: Sequence[str], counters: Path) -> int:
    """Run a command, which must succeed, and count the packets and connections to other hosts.

    The kernel counts them, as it has no route for any. `counters` is a file for its figures.
    """
    subprocess.run([*_ALONE, "sh", "-c", _SCRIPT, str(counters), *command], check=True)
    lines = [line.split() for line in counters.read_text().splitlines()]
    names, figures = (line for line in lines if line[0] == "Ip:")
    four = dict(zip(names, figures, strict=True))["OutNoRoutes"]
    return int(four) + sum(int(line[1]) for line in lines if line[0] == "Ip6OutNoRoutes")
