from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from gossamer.storage import file_modes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[0o022, 0o077, 0o027, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    mask: int = request.param
    before = os.umask(mask)
    yield mask
    os.umask(before)


@pytest.mark.parametrize("has_proc", [True, False])
def test_the_umask_is_known_with_and_without_proc(
    umask: int, has_proc: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if not has_proc:
        monkeypatch.setattr(file_modes, "STATUS", tmp_path / "status")
    assert file_modes.current_umask() == umask
    assert not any(tmp_path.iterdir())
