"""On other systems than Linux, the numbers of its system calls are other calls."""

from __future__ import annotations

import sys

import pytest

from gossamer.engine import seccomp
from gossamer.parse.process import sandbox


def test_other_systems_have_no_mechanism_and_get_no_call_of_linux(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for module in (sandbox, seccomp):
        monkeypatch.setattr(module, "_libc", None)
    assert not seccomp.is_known("x86_64")
    assert sandbox.supported_mechanisms() == ()
    assert sandbox.enter() == ()
    with pytest.raises(OSError, match="system calls of darwin on"):
        seccomp.install([])
