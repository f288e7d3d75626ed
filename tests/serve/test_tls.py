"""A server and its nodes know each other by certificates of one authority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trustme

from gossamer import config
from gossamer.config import ServeConfig
from gossamer.errors import ConfigError
from gossamer.serve.cluster import tls
from tests.support.command_line import gossamer
from tests.support.node_clusters import answers, work

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

__all__ = ["work"]
HERE = "127.0.0.1"


@pytest.fixture(scope="module")
def ours() -> trustme.CA:
    return trustme.CA()


def certified(folder: Path, authority: trustme.CA, *names: str) -> ServeConfig:
    """The settings of a process whose certificate and authority are in a folder."""
    folder.mkdir()
    certificate = authority.issue_cert(*names)
    certificate.cert_chain_pems[0].write_to_path(folder / "node.pem")
    certificate.private_key_pem.write_to_path(folder / "node.key")
    (folder / "node.key").chmod(0o600)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    pem, key, trusted = (str(folder / name) for name in ("node.pem", "node.key", "ca.pem"))
    return ServeConfig(node_certificate=pem, node_key=key, node_authority=trusted)


@pytest.mark.server
def test_a_server_and_a_node_with_certificates_of_one_authority_talk(
    work: Workspace, ours: trustme.CA, tmp_path: Path
) -> None:
    of_node = certified(tmp_path / "node", ours, HERE)
    of_server = certified(tmp_path / "server", ours, "search.example")
    assert answers(work, of_node, of_server)


@pytest.mark.server
def test_a_node_answers_nobody_else(work: Workspace, ours: trustme.CA, tmp_path: Path) -> None:
    of_node = certified(tmp_path / "node", ours, HERE)
    stranger = certified(tmp_path / "stranger", trustme.CA(), "search.example")
    (tmp_path / "stranger" / "ca.pem").write_bytes((tmp_path / "node" / "ca.pem").read_bytes())
    assert not answers(work, of_node, stranger)
    assert not answers(work, of_node, ServeConfig())


@pytest.mark.server
def test_a_server_believes_no_other_node(work: Workspace, ours: trustme.CA, tmp_path: Path) -> None:
    of_server = certified(tmp_path / "server", ours, "search.example")
    other = certified(tmp_path / "other", trustme.CA(), HERE)
    (tmp_path / "other" / "ca.pem").write_bytes((tmp_path / "server" / "ca.pem").read_bytes())
    assert not answers(work, other, of_server)
    elsewhere = certified(tmp_path / "elsewhere", ours, "127.0.0.9")
    assert not answers(work, elsewhere, of_server)
    assert not answers(work, ServeConfig(), of_server)


def test_files_that_cannot_be_used_are_named(ours: trustme.CA, tmp_path: Path) -> None:
    settings = certified(tmp_path / "node", ours, HERE)
    assert tls.node_context(ServeConfig(), "") is None
    key = tmp_path / "node" / "node.key"
    key.chmod(0o644)
    with pytest.raises(ConfigError, match=r"node\.key: contains a secret, but its mode 0644"):
        tls.node_context(settings, "")
    ours.issue_cert(HERE).private_key_pem.write_to_path(key)
    key.chmod(0o600)
    with pytest.raises(ConfigError, match=r"node\.pem: is not the certificate of the key"):
        tls.node_context(settings, "")
    for name in ("ca.pem", "node.pem"):
        whole = (tmp_path / "node" / name).read_bytes()
        certified(tmp_path / f"without-{name}", ours, HERE)
        (tmp_path / "node" / name).unlink()
        with pytest.raises(ConfigError, match=f"{name}: cannot be read"):
            tls.node_context(settings, "")
        (tmp_path / "node" / name).write_bytes(whole)
    whole_again = certified(tmp_path / "again", ours, HERE)
    (tmp_path / "again" / "ca.pem").write_text("none")
    with pytest.raises(ConfigError, match=r"ca\.pem: holds no certificate"):
        tls.server_context(whole_again, "")


def test_a_key_with_a_password_is_not_asked_for_on_the_terminal(
    ours: trustme.CA, tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives import serialization as forms

    settings = certified(tmp_path / "node", ours, HERE)
    path = tmp_path / "node" / "node.key"
    key = forms.load_pem_private_key(path.read_bytes(), None)
    kept = forms.BestAvailableEncryption(b"secret")
    form = forms.Encoding.PEM, forms.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(*form, kept))
    with pytest.raises(ConfigError, match=r"node\.pem: is not the certificate of the key"):
        tls.node_context(settings, "")


def test_settings_that_belong_together() -> None:
    with pytest.raises(ConfigError, match="node_key and node_authority belong together"):
        config.loads('serve.node_certificate = "a.pem"', "gossamer.toml")
    named = 'node_certificate = "a"\nnode_key = "b"\nnode_authority = "c"'
    found = config.loads(f"[serve]\n{named}", "gossamer.toml")
    assert {"a", "b", "c"} <= set(config.files_beside(found))


@pytest.mark.server
def test_beyond_loopback_a_node_needs_certificates(work: Workspace) -> None:
    said = gossamer("node", work.root, "--host", "0.0.0.0", "--port", "0", code=1)
    assert "is not on loopback, and without certificates everybody there could" in said.stderr
    assert "→ set serve.node_certificate, node_key and node_authority" in said.stderr
