"""Rows of `url_rules` about parameters."""

from __future__ import annotations

from typing import Any

NUMBERS = ("supports", "contradictions", "forward", "backward", "rewritten", "sampled")


def url_rule(
    rule: str, host: str, section: str, parameter: str, state: str, **more: Any
) -> dict[str, Any]:
    """A rule with this identifier, about which nothing else is known."""
    return {
        "rule": rule,
        "host": host,
        "section": section,
        "kind": "parameter",
        "name": parameter,
        "target": "",
        "state": state,
        "settled": True,
        "first_round": 1,
        "last_round": 2,
        "examples": [],
        "counterexamples": [],
        "contents": b"",
        "sections": [],
        **dict.fromkeys(NUMBERS, 0),
        **more,
    }
