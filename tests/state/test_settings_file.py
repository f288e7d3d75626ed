"""The gossamer.toml of a crawl."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from gossamer.state.settings_file import replace_settings
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
