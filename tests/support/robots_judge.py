"""What a robots.txt forbids, by another reading of the standard: our parser is not used.

Written from RFC 9309 and from Google's "How Google interprets the robots.txt specification": each
pattern becomes a regular expression, all of them are tried, and the longest that matches decides.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
AS_WRITTEN = ":/?#[]@!$&'()*+,;=%"
"""Reserved characters (RFC 3986 §2.2), which are not the same as their encoded forms."""


class Verdict(NamedTuple):
    octets: int
    allows: bool


class RobotsJudge:
    """Judges requests of an agent to an origin with this robots.txt."""

    def __init__(self, text: str, agent: str = "gossamer") -> None:
        groups: dict[str, list[tuple[bool, str]]] = {}
        agents: list[str] = []
        in_rules = False
        for line in text.splitlines():
            field, _, value = line.partition("#")[0].partition(":")
            field, value = field.strip().lower(), value.strip()
            if field == "user-agent":
                agents = [] if in_rules else agents
                agents.append(value.lower())
                groups.setdefault(value.lower(), [])
                in_rules = False
            elif field in {"allow", "disallow"}:
                in_rules = True
                for name in agents if value else ():
                    groups[name].append((field == "allow", value))
        self._rules = [
            (Verdict(len(one_spelling(pattern)), allows), _expression(pattern))
            for allows, pattern in groups.get(agent, groups.get("*", []))
        ]

    def forbids(self, target: str) -> bool:
        """Whether a path with its query, as it is written, must not be requested."""
        if target == "/robots.txt":
            return False
        plain = one_spelling(target.partition("#")[0])
        matching = [verdict for verdict, pattern in self._rules if pattern.match(plain)]
        return bool(matching) and not max(matching).allows


def one_spelling(text: str) -> str:
    """§2.2.2: octets outside of ASCII are encoded, encoded unreserved characters are decoded."""

    def decoded(escape: re.Match[str]) -> str:
        character = unquote_to_bytes(escape[0]).decode("latin-1")
        return character if character in UNRESERVED else escape[0].upper()

    return re.sub("%[0-9A-Fa-f]{2}", decoded, quote(text, safe=UNRESERVED + AS_WRITTEN))


def _expression(pattern: str) -> re.Pattern[str]:
    """§2.2.3: `*` stands for any characters, and a `$` at the end for the end."""
    end = r"\Z" if pattern.endswith("$") else ""
    parts = one_spelling(pattern.removesuffix("$")).split("*")
    return re.compile(".*".join(map(re.escape, parts)) + end)
