"""Connections that end, or do not, at each stage.

What happens before a request cannot be told apart by the Host header: such a host has a port of
its own (`Server.routes`). Asked on the common port, it does the same once the request is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import Case, Door, good_html
from gossamer.fakeweb.hostile.heads import HTML, head, page, said

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask, Reply

FORGED = b"<!DOCTYPE html><title>Forged</title><p>Nobody asked for this."


def _always(act: Act) -> Reply:
    return lambda _: act


def _reset_in_body(ask: Ask) -> Act:
    return said(200, head(HTML, "Content-Length: 100000") + good_html(ask), End.RESET)


def _liar(ask: Ask) -> Act:
    return said(200, page(ask, "Connection: keep-alive", "Keep-Alive: timeout=60, max=100"))


def _second_answer(ask: Ask) -> Act:
    forged = head(HTML, f"Content-Length: {len(FORGED)}") + FORGED
    return said(200, page(ask) + forged, End.KEEP)


_GONE = ("unreachable", "broken")
_CUT = ("broken", "unreachable")

_banner = said(0, b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")

CASES = (
    Case(
        "refuse-connect",
        "refuses the connection",
        ("unreachable",),
        _always(Act(0)),
        door=Door.SHUT,
    ),
    Case(
        "silent-connect",
        "never accepts: the handshake of TCP stays unanswered",
        ("unreachable", "timeout"),
        _always(Act(0, end=End.HANG)),
        door=Door.FULL,
    ),
    Case(
        "reset-accept",
        "resets as soon as it has accepted",
        _GONE,
        _always(Act(0, end=End.RESET)),
        door=Door.OPEN,
    ),
    Case(
        "close-accept",
        "closes as soon as it has accepted",
        _CUT,
        _always(Act(0, end=End.CLOSE)),
        door=Door.OPEN,
    ),
    Case(
        "silent-accept",
        "accepts and says nothing, whatever it is asked",
        ("timeout",),
        _always(Act(0, end=End.HANG)),
        door=Door.OPEN,
    ),
    Case("talks-first", "greets as an SSH server", ("broken",), _always(_banner), door=Door.OPEN),
    Case(
        "silent-request", "says nothing to a request", ("timeout",), _always(Act(0, end=End.HANG))
    ),
    Case("close-request", "closes without an answer", _CUT, _always(Act(0))),
    Case("reset-request", "resets without an answer", _CUT, _always(Act(0, end=End.RESET))),
    Case(
        "reset-head",
        "resets in the middle of its head",
        _CUT,
        _always(said(200, head(HTML)[:-2], End.RESET)),
    ),
    Case(
        "reset-body",
        "resets in the middle of its body",
        ("ok", "broken", "unreachable"),
        _reset_in_body,
    ),
    Case("keep-alive-liar", "promises to keep the connection, and closes it", ("ok",), _liar),
    Case(
        "second-answer",
        "a page, and behind it an answer to a request that nobody sent",
        ("ok",),
        _second_answer,
    ),
)
