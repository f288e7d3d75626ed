"""A gossamer.toml that cannot be read is an error, and never counts as an empty one; secrets."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from gossamer import config
from gossamer.api.crawl import Crawl
from gossamer.config import FetchConfig, Secret, SiteConfig
from gossamer.config.settings_files import closed_to_others, read_text
from gossamer.errors import ConfigError
from gossamer.state.workspace import Workspace
from gossamer.storage.names import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

PASSWORD = "correct-horse"  # noqa: S105
SITE = '[[fetch.sites]]\nhosts = "a.test"\n'
SECRETS = {
    "password": f'{SITE}user = "me"\npassword = "{PASSWORD}"\n',
    "headers": f'{SITE}headers = {{ "X-Key" = "{PASSWORD}" }}\n',
    "proxy": f'{SITE}proxy = "http://me:{PASSWORD}@127.0.0.1:3128"\n',
}
HARMLESS = [
    f'{SITE}user = "me"\npassword = {{ env = "X" }}\n',
    f'{SITE}headers = {{ User-Agent = "x", "X-Key" = {{ file = "key" }} }}\n',
    f'{SITE}proxy = "http://127.0.0.1:3128"\n',
]


def dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to("elsewhere.toml")


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def a_loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (Path.unlink, "no such file"),
        (dangling, "a link to elsewhere.toml, which does not exist"),
        (a_loop, "too many levels of symbolic links"),
        (a_folder, "not a regular file"),
        (a_pipe, "not a regular file"),
        (lambda file: file.write_bytes(b"\xff\xfe"), "not UTF-8: byte 0 is 0xff"),
        (lambda file: file.write_bytes(b""), "is empty"),
        (lambda file: file.write_bytes(b" \n\n"), "is empty"),
        (lambda file: file.write_bytes(b"#" * 5_000_000), "longer than"),
    ],
)
def test_lost_settings_are_an_error_and_not_the_defaults(
    tmp_path: Path, spoil: Callable[[Path], object], what: str
) -> None:
    Crawl.create(str(tmp_path), 'filter.deny = ["/private"]').close()
    spoil(tmp_path / CONFIG_NAME)
    with pytest.raises(ConfigError) as raised:
        Workspace.open(str(tmp_path))
    assert raised.value.subject == str(tmp_path / CONFIG_NAME)
    assert what in raised.value.what
    assert "put it back from a copy" in raised.value.remedy


def test_unreadable_settings_are_an_error(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path)).close()
    (tmp_path / CONFIG_NAME).chmod(0)
    if os.access(tmp_path / CONFIG_NAME, os.R_OK):
        pytest.skip("root reads all files")
    with pytest.raises(ConfigError, match="permission denied"):
        Workspace.open(str(tmp_path))


def test_a_byte_order_mark_is_no_part_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text("[fetch]\ndelay_s = 7\n", "utf-8-sig")
    assert read_text(file, "")[0] == "[fetch]\ndelay_s = 7\n"


def test_a_crawl_with_default_settings_has_a_file_that_says_so(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path)).close()
    assert (tmp_path / CONFIG_NAME).read_text().startswith("#")
    assert Workspace.open(str(tmp_path)).config == config.Config()


def test_the_remedy_for_lost_settings_works(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path)).close()
    (tmp_path / CONFIG_NAME).unlink()
    with pytest.raises(ConfigError) as raised:
        Workspace.open(str(tmp_path))
    assert raised.value.remedy.endswith(f"echo '# defaults' > {tmp_path / CONFIG_NAME}")
    (tmp_path / CONFIG_NAME).write_text("# defaults\n")
    assert Workspace.open(str(tmp_path)).config == config.Config()


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_settings_with_a_secret_are_readable_only_by_their_owner(tmp_path: Path, text: str) -> None:
    Crawl.create(str(tmp_path), text).close()
    file = tmp_path / CONFIG_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for mode in (0o604, 0o644, 0o620, 0o666):
        file.chmod(mode)
        with pytest.raises(ConfigError) as raised:
            Workspace.open(str(tmp_path))
        assert raised.value.remedy == f"chmod 600 {file}"
        assert PASSWORD not in str(raised.value)
    for mode in (0o600, 0o400):
        file.chmod(mode)
        assert PASSWORD not in repr(Workspace.open(str(tmp_path)).config)


@pytest.mark.parametrize(
    ("mode", "owner", "admits"),
    [
        (0o400, 1000, False),
        (0o600, 0, False),
        (0o440, 0, False),  # as Kubernetes mounts secrets for a group
        (0o640, 0, False),
        (0o640, 1000, True),
        (0o440, 1000, True),
        (0o660, 0, True),
        (0o444, 0, True),
    ],
)
def test_only_a_file_of_root_may_be_read_by_its_group(mode: int, owner: int, admits: bool) -> None:
    state = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, 0, 1, 0, 0, 0))
    if not admits:
        closed_to_others(Path("key"), state)
        return
    with pytest.raises(ConfigError, match=f"{mode:04o} lets other users read it"):
        closed_to_others(Path("key"), state)


@pytest.mark.parametrize("text", HARMLESS)
def test_settings_without_a_secret_may_be_read_by_others(tmp_path: Path, text: str) -> None:
    Crawl.create(str(tmp_path), text).close()
    (tmp_path / CONFIG_NAME).chmod(0o644)
    assert Workspace.open(str(tmp_path)).config.fetch.sites


def test_errors_in_settings_do_not_repeat_secrets() -> None:
    for text in SECRETS.values():
        for broken in (text.replace("hosts", "host"), text + "delay_s = -1\n", text + "x = [\n"):
            with pytest.raises(ConfigError) as raised:
                config.loads(broken, CONFIG_NAME)
            assert PASSWORD not in str(raised.value)


def sited(**secret: str) -> FetchConfig:
    site = SiteConfig(hosts="a.test", user="me", password=Secret(**secret))
    return FetchConfig(sites=(site,))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_secret_comes_from_a_file_beside_the_settings(tmp_path: Path, end: str) -> None:
    file = tmp_path / "password"
    file.write_bytes((PASSWORD + end).encode())
    file.chmod(0o600)
    found = config.reveal_secrets(sited(file="password"), str(tmp_path))
    assert found == structs.replace(
        found, sites=(SiteConfig(hosts="a.test", user="me", password=PASSWORD),)
    )
    assert config.reveal_secrets(sited(file=str(file)), "/elsewhere") == found


def test_a_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTRA_PASSWORD", PASSWORD)
    (site,) = config.reveal_secrets(sited(env="INTRA_PASSWORD"), "").sites
    assert site.password == PASSWORD


def test_headers_and_proxies_are_secrets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY", "http://me:x@127.0.0.1:1")
    monkeypatch.setenv("KEY", "k")
    text = f'{SITE}proxy = {{ env = "PROXY" }}\nheaders = {{ X-Key = {{ env = "KEY" }} }}'
    (site,) = config.reveal_secrets(config.loads(text, CONFIG_NAME).fetch, "").sites
    assert (site.proxy, site.headers) == ("http://me:x@127.0.0.1:1", {"X-Key": "k"})


@pytest.mark.parametrize(
    ("content", "mode", "what"),
    [
        (None, 0, "no such file"),
        (b"", 0o600, "is empty"),
        (b"\n", 0o600, "is empty"),
        (b"\xff", 0o600, "not UTF-8"),
        (b"x", 0o644, "lets other users read it"),
    ],
)
def test_a_secret_file_that_cannot_be_used_is_named(
    tmp_path: Path, content: bytes | None, mode: int, what: str
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    with pytest.raises(ConfigError) as raised:
        config.reveal_secrets(sited(file="password"), str(tmp_path))
    assert raised.value.subject == str(file)
    assert what in raised.value.what
    assert raised.value.remedy


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTRA_PASSWORD", raising=False)
    with pytest.raises(ConfigError, match=r"'a\.test': password: .*INTRA_PASSWORD is not set"):
        config.reveal_secrets(sited(env="INTRA_PASSWORD"), "")


@pytest.mark.parametrize("secret", ["{}", '{ file = "a", env = "b" }', '{ fil = "a" }', "5"])
def test_a_secret_is_one_of_a_text_a_file_and_a_variable(secret: str) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.sites\[0\]\.password|unknown key `fil`"):
        config.loads(f"{SITE}password = {secret}", CONFIG_NAME)
