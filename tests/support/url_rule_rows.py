"""Rows of `url_rules` about parameters, and rounds that teach rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.shared_rounds import Found, Site

NUMBERS = ("supports", "contradictions", "forward", "backward", "rewritten", "sampled")

Contents = dict[str, int | None]
"""The hash of the text of each page; None: the page is missing."""


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


def round_of(
    site: Site,
    contents: Mapping[str, int | None],
    links: Iterable[str] = (),
    rewritten: Iterable[dict[str, Any]] = (),
    answers: Iterable[dict[str, Any]] = (),
    fetched_ms: int | None = None,
    pages: Iterable[dict[str, Any]] = (),
) -> Found:
    """A round that fetches pages with these contents. `pages` are known before."""
    at = {} if fetched_ms is None else {"fetched_ms": fetched_ms}
    statuses = {False: ("ok", 200), True: ("not_found", 404)}
    responses = [
        dict(zip(("outcome", "http_status"), statuses[text is None], strict=True)) | {"url": url}
        for url, text in contents.items()
    ]
    documents = [
        {"url": url, "outcome": "parsed", "text_hash": text, "truncated": False}
        for url, text in contents.items()
        if text is not None
    ]
    return {
        "pages": pages,
        "responses": [at | row for row in (*responses, *answers)],
        "documents": [at | row for row in documents],
        "links": [{"src": site.url("/"), "dst": dst, "depth": 1, "hops": 0} for dst in links],
        "rewritten": rewritten,
    }


def alias(name: str, target: str, *rules: str) -> dict[str, Any]:
    """A row of `rewritten`."""
    return {"url": name, "target": target, "rules": list(rules), "depth": 3, "hops": 0}
