"""The ways in which TLS fails. All hosts share a port; SNI selects one (RFC 6066 §3)."""

from __future__ import annotations

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import Case, Certificate, Handshake
from gossamer.fakeweb.hostile.heads import head, raw_act

PLAIN = head("Content-Length: 0", "Connection: close", status="HTTP/1.1 400 Bad Request")


def _case(name: str, does: str, handshake: Handshake, *outcomes: str) -> Case:
    return Case(f"tls-{name}", does, outcomes or ("tls",), tls=handshake)


def _certificate(name: str, does: str, certificate: Certificate) -> Case:
    return _case(name, f"a certificate that {does}", Handshake(certificate))


def _instead(name: str, does: str, act: Act, *outcomes: str) -> Case:
    return _case(name, does, Handshake(Certificate.NONE, greeting=act), *outcomes)


CASES = (
    _case("valid", "a page with a valid certificate from the test CA", Handshake(), "ok"),
    _certificate("expired", "is no longer valid", Certificate.EXPIRED),
    _certificate("future", "is not yet valid", Certificate.FUTURE),
    _certificate("self-signed", "is self-signed", Certificate.SELF_SIGNED),
    _certificate("other-name", "belongs to another host", Certificate.OTHER_NAME),
    _certificate("other-ca", "an unknown CA issued", Certificate.OTHER_CA),
    _case("old", "supports TLS 1.1 at most (RFC 8996)", Handshake(old=True)),
    _instead(
        "reset",
        "resets during the handshake",
        Act(0, end=End.RESET),
        "tls",
        "unreachable",
        "broken",
    ),
    _instead(
        "silent",
        "sends nothing in the handshake",
        Act(0, end=End.HANG),
        "tls",
        "unreachable",
        "timeout",
    ),
    _instead("plain", "answers in plain HTTP", raw_act(400, PLAIN)),
    _case(
        "close",
        "closes after the handshake",
        Handshake(greeting=Act(0)),
        "broken",
        "unreachable",
        "tls",
    ),
)
