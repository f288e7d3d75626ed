"""The gossamer.toml of a crawl."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from gossamer.config import Config
from gossamer.errors import ConfigError
from gossamer.state import settings_file
from gossamer.state.settings_file import DEFAULTS, read_settings, replace_settings
from gossamer.storage import opening
from gossamer.storage.names import CONFIG_NAME

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("before", "options", "after"),
    [(0o644, {}, 0o644), (0o600, {}, 0o600), (0o664, {"private": True}, 0o600)],
)
def test_new_settings_keep_the_mode_of_their_file_unless_they_become_private(
    before: int, options: dict[str, bool], after: int, tmp_path: Path
) -> None:
    file = tmp_path / CONFIG_NAME
    file.write_text("# defaults\n")
    file.chmod(before)
    replace_settings(str(tmp_path), "[fetch]\n", **options)
    assert file.read_text() == "[fetch]\n"
    assert stat.S_IMODE(file.stat().st_mode) == after
    assert list(tmp_path.iterdir()) == [file]


ROOT = "s3://bucket/crawl"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b" \n", "is empty"),
        (b"[rank]\ntrusted_file = 'beside.txt'\n", "names beside.txt, which is not read from"),
        (b"\xff", "UTF-8"),
        (None, "no such object"),
    ],
)
def test_settings_of_a_bucket_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, data: bytes | None, what: str
) -> None:
    def read(path: str) -> bytes:
        assert path == f"{ROOT}/{CONFIG_NAME}"
        if data is None:
            raise FileNotFoundError
        return data

    monkeypatch.setattr(opening, "read", read)
    with pytest.raises(ConfigError, match=what):
        read_settings(ROOT)


def test_settings_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    objects: dict[str, bytes] = {}
    monkeypatch.setattr(opening, "replace", objects.__setitem__)
    monkeypatch.setattr(opening, "read", objects.__getitem__)
    replace_settings(ROOT, "[rank]\ntrusted_file = '/lists/trusted.txt'\n")
    assert read_settings(ROOT).rank.trusted_file == "/lists/trusted.txt"
    replace_settings(ROOT, " ")
    assert objects == {f"{ROOT}/{CONFIG_NAME}": DEFAULTS.encode()}
    assert settings_file.read_settings(ROOT) == Config()
