"""Connections that end or hang at each stage.

Before a request arrives, no Host header tells the hosts apart, so hosts that misbehave that early
have their own ports (`Server.routes`). On the common port, they do the same after the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import Case, ConnectPort, good_html
from gossamer.fakeweb.hostile.heads import HTML, head, page, raw_act

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask, Reply

FORGED = b"<!DOCTYPE html><title>Forged</title><p>Nobody asked for this."


def _always(act: Act) -> Reply:
    return lambda _: act


def _reset_in_body(ask: Ask) -> Act:
    return raw_act(200, head(HTML, "Content-Length: 100000") + good_html(ask), End.RESET)


def _liar(ask: Ask) -> Act:
    return raw_act(200, page(ask, "Connection: keep-alive", "Keep-Alive: timeout=60, max=100"))


def _second_answer(ask: Ask) -> Act:
    forged = head(HTML, f"Content-Length: {len(FORGED)}") + FORGED
    return raw_act(200, page(ask) + forged, End.KEEP)


_GONE = ("unreachable", "broken")
_CUT = ("broken", "unreachable")

_banner = raw_act(0, b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")

CASES = (
    Case(
        "refuse-connect",
        "refuses the connection",
        ("unreachable",),
        _always(Act(0)),
        connect_port=ConnectPort.SHUT,
    ),
    Case(
        "silent-connect",
        "never accepts: the TCP handshake gets no answer",
        ("unreachable", "timeout"),
        _always(Act(0, end=End.HANG)),
        connect_port=ConnectPort.FULL,
    ),
    Case(
        "reset-accept",
        "resets immediately after accepting",
        _GONE,
        _always(Act(0, end=End.RESET)),
        connect_port=ConnectPort.OPEN,
    ),
    Case(
        "close-accept",
        "closes immediately after accepting",
        _CUT,
        _always(Act(0, end=End.CLOSE)),
        connect_port=ConnectPort.OPEN,
    ),
    Case(
        "silent-accept",
        "accepts and never sends anything",
        ("timeout",),
        _always(Act(0, end=End.HANG)),
        connect_port=ConnectPort.OPEN,
    ),
    Case(
        "talks-first",
        "greets as an SSH server",
        ("broken",),
        _always(_banner),
        connect_port=ConnectPort.OPEN,
    ),
    Case("silent-request", "never answers a request", ("timeout",), _always(Act(0, end=End.HANG))),
    Case("close-request", "closes without an answer", _CUT, _always(Act(0))),
    Case("reset-request", "resets without an answer", _CUT, _always(Act(0, end=End.RESET))),
    Case(
        "reset-head",
        "resets in the middle of its head",
        _CUT,
        _always(raw_act(200, head(HTML)[:-2], End.RESET)),
    ),
    Case(
        "reset-body",
        "resets in the middle of its body",
        ("ok", "broken", "unreachable"),
        _reset_in_body,
    ),
    Case("keep-alive-liar", "promises keep-alive, but closes the connection", ("ok",), _liar),
    Case(
        "second-answer",
        "a page, followed by an answer to a request that was never sent",
        ("ok",),
        _second_answer,
    ),
)
