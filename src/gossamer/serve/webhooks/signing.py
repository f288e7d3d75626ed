"""Secrets and signatures of Standard Webhooks 1.0: HMAC-SHA256 of id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "whsec_"
MIN_BYTES, MAX_BYTES, NEW_BYTES = 24, 64, 32
"""Of a secret: 192 to 512 bits."""
REMEDY = "make one: gossamer follow --new-secret"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(NEW_BYTES)).decode()


def read_secrets(text: str, where: str) -> list[bytes]:
    """The secrets in a file, one per line; lines that begin with # are none. Raises UsageError.

    All sign, so that a receiver can change from one to the next.
    """
    lines = (line.strip() for line in text.splitlines())
    found = [_secret(line, where) for line in lines if line and not line.startswith("#")]
    if not found:
        raise UsageError(where, "has no secret", REMEDY)
    return found


def signed_headers(keys: Sequence[bytes], name: str, time_s: int, body: bytes) -> dict[str, str]:
    """The headers of an attempt at `time_s` to deliver the message of this name."""
    content = f"{name}.{time_s}.".encode() + body
    signatures = (
        base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode() for key in keys
    )
    return {
        "webhook-id": name,
        "webhook-timestamp": str(time_s),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _secret(line: str, where: str) -> bytes:
    try:
        key = base64.b64decode(line.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not line.startswith(PREFIX) or not MIN_BYTES <= len(key) <= MAX_BYTES:
        what = f"has a line that is not a secret: {PREFIX} and {MIN_BYTES} to {MAX_BYTES} bytes"
        raise UsageError(where, f"{what} in base64", REMEDY)
    return key
