"""What the kernel says about Landlock."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from gossamer.parse.process import sandbox


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
@pytest.mark.parametrize(("answer", "version"), [(-1, 0), (0, 0), (1, 1), (7, 7)])
def test_a_kernel_may_lack_it(monkeypatch: pytest.MonkeyPatch, answer: int, version: int) -> None:
    monkeypatch.setattr(sandbox, "_libc", SimpleNamespace(syscall=lambda *_: answer))
    assert sandbox._landlock_version() == version
