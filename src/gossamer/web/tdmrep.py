"""/.well-known/tdmrep.json: what a host reserves of text and data mining, by paths.

TDMRep, final report of the W3C community group (10 May 2024), "TDM File on the Origin Server": an
array of rules with `location`, `tdm-reservation` and maybe `tdm-policy`. Locations match as paths
of robots.txt do, and the first one that matches a page decides.

Where an author errs, the restrictive reading holds. A single rule needs no array, a reservation
needs no location, and a file that is no JSON but has a reservation reserves everything. Nothing
here raises.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from gossamer.web.own_locations import EVERYTHING, own_location
from gossamer.web.publisher_wishes import TDMREP, statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.web.robots_rules import Rules

PATH: Final = "/.well-known/tdmrep.json"
MAX_RULES: Final = 1_000
"""Rules that are told apart: a reservation in later ones is for all pages."""
CACHE_FILES: Final = 128
_RESERVED = re.compile(r"""tdm-reservation["']?\s*+:\s*+["']?(?:1|true)(?![\w.])""", re.IGNORECASE)
_RESERVATIONS: Final = {
    "1": True,
    "1.0": True,
    "true": True,
    "0": False,
    "0.0": False,
    "false": False,
}
_RESERVE_ALL: Final = {"location": EVERYTHING, "tdm-reservation": 1}


class TdmRule(NamedTuple):
    location: Rules
    reserved: bool
    policy: str | None


class TdmRep(NamedTuple):
    """The rules of a file, in its order."""

    rules: Sequence[TdmRule]

    def statements(self, url: str) -> list[str]:
        """Return what the file says about a page at an absolute URL of its host."""
        for rule in self.rules:
            if rule.location.rank(url) is not None:
                found = [statement(TDMREP, "TDM-Reservation", str(int(rule.reserved)))]
                if rule.reserved and rule.policy:
                    found.append(statement(TDMREP, "TDM-Policy", rule.policy))
                return found
        return []


@lru_cache(maxsize=CACHE_FILES)
def parse_tdmrep(body: bytes, host: str) -> TdmRep:
    """Parse the tdmrep.json of a host, with its port if there is one. Never raises."""
    text = body.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xfe\xff").decode("utf-8", "replace")
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        if not _RESERVED.search(text):
            return TdmRep(())
        found = _RESERVE_ALL
    listed = found if isinstance(found, list) else [found]
    rules = list(filter(None, (_tdm_rule(each, host) for each in listed[:MAX_RULES])))
    rest = (_tdm_rule(each, host) for each in listed[MAX_RULES:])
    if any(rule is not None and rule.reserved for rule in rest):
        rules += filter(None, (_tdm_rule(_RESERVE_ALL, host),))
    return TdmRep(tuple(rules))


def _tdm_rule(found: Any, host: str) -> TdmRule | None:
    if not isinstance(found, dict):
        return None
    reserved = _reservation(found.get("tdm-reservation"))
    location = found.get("location")
    if not isinstance(location, str):  # it is mandatory; but a reservation is one
        location = EVERYTHING if reserved else None
    matching = None if location is None else own_location(location, host)
    if matching is None or reserved is None:
        return None
    policy = found.get("tdm-policy")
    return TdmRule(matching, reserved, policy if isinstance(policy, str) else None)


def _reservation(value: Any) -> bool | None:
    """Read 1 or 0, also as text or a Boolean; other values are protocol errors."""
    return _RESERVATIONS.get(str(value).strip().lower())
