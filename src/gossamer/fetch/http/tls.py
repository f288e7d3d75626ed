"""TLS as browsers speak it, and without verification for hosts of which the settings say so.

Where Python and OpenSSL are stricter than all browsers, a context follows the browsers:
  * Their cipher suites, among them AES in CBC mode and RSA key exchange. Python's default has
    neither. Security level 1 permits RSA keys of 1,024 bits, as Chromium does.
  * Servers without secure renegotiation (RFC 5746): we never renegotiate.
  * Certificates with the small flaws that VERIFY_X509_STRICT refuses, a default since Python 3.13.
  * `_` in a name that a wildcard matches. OpenSSL lets `*` match letters, digits and hyphens only.

TLS 1.0 and 1.1 are refused, and certificates that are expired, of another name or of an unknown
authority. Unlike browsers, we do not download intermediate certificates that a server forgot.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""OpenSSL's environment variables for where authorities are."""
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:ECDHE+AES:DHE+AES:RSA+AESGCM:RSA+AES"
"""Suites up to TLS 1.2, the best first; those of Chromium and Firefox are among them."""
LEGACY_SERVER_CONNECT = getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)  # named in Python 3.12
X509_STRICT = getattr(ssl, "VERIFY_X509_STRICT", 0x20)


def tls_context(host: str, *, verify: bool) -> ssl.SSLContext:
    """A context for a host that verifies with the system's authorities, or $SSL_CERT_FILE's.

    Without verification it also accepts the oldest protocols and ciphers that OpenSSL supports. The
    authorities are read once per process, not for each task, unless the environment changes.
    """
    is_odd_name = verify and "_" in host.partition(".")[0]
    return _tls_context(verify, is_odd_name, *map(os.environ.get, AUTHORITIES))


@lru_cache(4)
def _tls_context(verify: bool, is_odd_name: bool, *_: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    context.set_ciphers(f"{CIPHERS}:!aNULL:!eNULL:!aDSS:!AESCCM:!ARIA:!CAMELLIA:@SECLEVEL=1")
    context.options |= LEGACY_SERVER_CONNECT
    context.verify_flags &= ~X509_STRICT
    if is_odd_name:
        context.check_hostname = False
        context.sslobject_class = _WildcardChecked
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("ALL:@SECLEVEL=0")
    return context


class _WildcardChecked(ssl.SSLObject):
    """A connection that compares the certificate's names with the host's itself."""

    def do_handshake(self) -> None:
        """Raises SSLCertVerificationError if the certificate is not for the host."""
        super().do_handshake()
        host = self.server_hostname or ""
        certificate = self.getpeercert() or {}
        names = [str(each[1]) for each in certificate.get("subjectAltName", ()) if each[0] == "DNS"]
        if not any(matches(host, name) for name in names):
            error = ssl.SSLCertVerificationError(f"certificate is not valid for {host!r}")
            error.verify_message = f"Hostname mismatch, certificate is not valid for {host!r}."
            raise error


def matches(host: str, name: str) -> bool:
    """Whether a certificate's name is that of a host; `*` is a whole label (RFC 9525 §6.3)."""
    host, name = host.lower().rstrip("."), name.lower().rstrip(".")
    if host == name:
        return True
    label, dot, rest = name.partition(".")
    return label == "*" and "." in rest and bool(dot) and host.partition(".")[2] == rest
