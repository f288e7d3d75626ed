"""TLS between a server and its nodes: both show a certificate, signed by an authority of their own.

That authority should sign nothing else: whoever has one of its certificates can search every node.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.config.settings_files import closed_to_others, read_text
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.config import ServeConfig

HANDSHAKE_S = 10.0
REMEDY = "docs/operating.md, many machines, says how certificates are made"


def server_context(config: ServeConfig, folder: str) -> ssl.SSLContext | None:
    """What connects a server to its nodes; None without certificates. Raises ConfigError.

    It checks that the certificate of a node is for the name or address by which the node is known.
    """
    return _tls_context(ssl.PROTOCOL_TLS_CLIENT, config, folder)


def node_context(config: ServeConfig, folder: str) -> ssl.SSLContext | None:
    """What lets only servers with a certificate connect to a node. As `server_context`."""
    return _tls_context(ssl.PROTOCOL_TLS_SERVER, config, folder)


def _tls_context(protocol: int, config: ServeConfig, folder: str) -> ssl.SSLContext | None:
    if not any(config.node_files):
        return None
    certificate, key, authority = (Path(folder, name).expanduser() for name in config.node_files)
    for path in (certificate, authority):
        read_text(path, REMEDY)
    _, state = read_text(key, REMEDY)
    closed_to_others(key, state)
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        # Without a password, OpenSSL would ask for that of an encrypted key on the terminal.
        context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        what = f"is not the certificate of the key {key}: {error.reason or error}"
        raise ConfigError(certificate, what, REMEDY) from None
    try:
        context.load_verify_locations(authority)
    except ssl.SSLError as error:
        what = f"holds no certificate: {error.reason or error}"
        raise ConfigError(authority, what, REMEDY) from None
    return context
