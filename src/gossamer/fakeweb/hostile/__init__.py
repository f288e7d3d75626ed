"""The hostile web: hosts that misbehave, each named after how it does.

    http://slow-head.hostile.test/       one of the hosts in CATALOGUE, the table of all
    http://hostile.test/                 links to all of them

A request becomes an `Ask`, which its host's `Case` answers: with an `Answer`, or, where a
well-formed HTTP response is not enough, with an `Act` (`act.py`), which the connection plays.
Hosts that misbehave before a request arrives have their own ports (`connect_ports.py`) or fail in
TLS (`tls.py`).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import DOMAIN, Ask, Case, good_page, no_robots
from gossamer.fakeweb.hostile.catalogue import CATALOGUE, markdown
from gossamer.fakeweb.http_answer import Answer, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CATALOGUE", "DOMAIN", "Act", "Case", "End", "HostileWeb", "markdown"]


class HostileWeb:
    """The hostile hosts. Slow ones pause for `drip_s` after each byte; `tls` adds https hosts."""

    def __init__(self, seed: int, drip_s: float, *, tls: bool) -> None:
        self._seed = seed
        self._drip_s = drip_s
        self._tls = tls

    @property
    def seed_url(self) -> str:
        return f"http://{DOMAIN}/"

    def cases(self) -> Iterator[Case]:
        return (case for case in CATALOGUE.values() if self._tls or case.tls is None)

    def reply(self, name: str, target: str, headers: Mapping[str, str]) -> Answer | Act | None:
        """Return the answer of host `name` (in lower case); None if it is not a hostile host."""
        if not f".{name}".endswith(f".{DOMAIN}"):
            return None
        ask = Ask(self._seed, self._drip_s, name, target, headers)
        if name == DOMAIN:
            return no_robots(ask) if target == "/robots.txt" else self._index(ask)
        label = name.removesuffix(f".{DOMAIN}").rpartition(".")[2]
        case = CATALOGUE.get(label)
        if case is None:
            return refusal(HTTPStatus.NOT_FOUND, f"{name}: no such hostile host")
        reply = case.robots if target.partition("?")[0] == "/robots.txt" else case.reply
        return reply(ask)

    def _index(self, ask: Ask) -> Answer:
        return good_page(ask, *(case.url for case in self.cases()))
