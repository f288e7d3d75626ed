"""All cases by name. Tests and the tables in docs/fakeweb.md are generated from this catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile import (
    bodies,
    busy,
    codings,
    connections,
    disguises,
    handshakes,
    heads,
    redirects,
    robots_files,
    traps,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.fakeweb.hostile.case import Case

GROUPS: Mapping[str, tuple[Case, ...]] = {
    "Connections": connections.CASES,
    "TLS": handshakes.CASES,
    "Heads": heads.CASES,
    "Bodies": bodies.CASES,
    "Content codings": codings.CASES,
    "Redirects": redirects.CASES,
    "Busy servers": busy.CASES,
    "robots.txt": robots_files.CASES,
    "Types and charsets": disguises.CASES,
    "Traps": traps.CASES,
}
CATALOGUE: Mapping[str, Case] = {case.name: case for cases in GROUPS.values() for case in cases}


def markdown() -> str:
    """Return the catalogue as the Markdown tables in docs/fakeweb.md."""
    lines = []
    for group, cases in GROUPS.items():
        lines += ["", f"### {group}", "", "| host | does | outcomes |", "|---|---|---|"]
        for case in cases:
            best, *others = (f"`{outcome}`" for outcome in case.outcomes)
            outcomes = f"{best}, {', '.join(others)}" if others else best
            lines.append(f"| `{case.name}` | {case.does} | {outcomes} |")
    return "\n".join(lines[1:]) + "\n"
