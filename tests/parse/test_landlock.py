"""What the kernel is asked for: rules of Landlock, and the filter of system calls."""

from __future__ import annotations

import os
import struct
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.engine import seccomp
from gossamer.parse.process import sandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")


@pytest.mark.parametrize(("answer", "version"), [(-1, 0), (0, 0), (1, 1), (7, 7)])
def test_a_kernel_may_lack_it(monkeypatch: pytest.MonkeyPatch, answer: int, version: int) -> None:
    monkeypatch.setattr(sandbox, "_libc", SimpleNamespace(syscall=lambda *_: answer))
    assert sandbox._landlock_version() == version


class Kernel:
    """Answers system calls, and remembers them."""

    def __init__(self, *answers: int) -> None:
        self._answers = iter(answers)
        self.calls: list[tuple[Any, ...]] = []

    def syscall(self, *arguments: Any) -> int:
        self.calls.append(arguments)
        return next(self._answers)


@pytest.mark.parametrize(
    ("version", "files", "tcp", "scopes"),
    [
        *((1, 13, 0, 0), (2, 14, 0, 0), (3, 15, 0, 0), (4, 15, 3, 0), (5, 16, 3, 0)),
        *((6, 16, 3, 3), (7, 16, 3, 3)),
    ],
)
@pytest.mark.parametrize("refused", [0, -1])
def test_all_rights_that_a_version_knows_are_given_up(
    monkeypatch: pytest.MonkeyPatch, version: int, files: int, tcp: int, scopes: int, refused: int
) -> None:
    rules = os.open(os.devnull, os.O_RDONLY)
    kernel = Kernel(rules, refused)
    monkeypatch.setattr(sandbox, "_libc", kernel)
    monkeypatch.setattr(sandbox, "_readable", set)
    assert sandbox._landlock(version) is (refused == 0)
    (create, attributes, size, flags), restrict = kernel.calls
    assert (create, flags) == (444, 0)
    assert struct.unpack("=QQQ", attributes) == ((1 << files) - 1, tcp, scopes)
    assert size.value == 8 * (1 + bool(tcp) + bool(scopes))
    assert restrict == (446, rules, 0)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(rules)


def test_without_rules_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_libc", Kernel(-1))
    assert not sandbox._landlock(1)


def test_files_and_folders_may_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    rights = []
    for path in (tmp_path, file):
        kernel = Kernel(0)
        monkeypatch.setattr(sandbox, "_libc", kernel)
        sandbox._allow(9, str(path))
        ((call, rules, kind, rule, flags),) = kernel.calls
        assert (call, rules, kind, flags) == (445, 9, 1, 0)
        right, descriptor = struct.unpack("=Qi", rule)
        rights.append(right)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
    assert rights == [0b1101, 0b0101]


def test_the_present_folder_may_not_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An empty entry of sys.path stands for it."""
    missing = str(tmp_path / "missing")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), missing])
    found = sandbox._readable()
    assert str(tmp_path) in found
    assert not {"", missing} & found
    assert os.path.dirname(os.__file__) in found  # noqa: PTH120


X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)
DENIED, UNKNOWN = seccomp.ERRNO | 1, seccomp.ERRNO | 38


@pytest.mark.parametrize(
    ("machine", "number", "argument", "expected"),
    [
        (X86, 0, 0, seccomp.ALLOW),  # read
        (X86, 41, 0, DENIED),  # socket
        (X86, 59, 0, DENIED),  # execve
        (X86, 58, 0, DENIED),  # vfork, the last one
        (X86, 56, 0, DENIED),  # clone makes a process
        (X86, 56, 0x10000, seccomp.ALLOW),  # or a thread
        (X86, 56, 0x50F00, seccomp.ALLOW),
        (X86, 56, 0x20000, DENIED),
        (X86, 435, 0, UNKNOWN),  # clone3
        (X86, 0x3FFFFFFF, 0, seccomp.ALLOW),
        (X86, 0x40000000, 0, DENIED),  # x32
        (X86, 0x40000001, 0, DENIED),
        (ARM, 41, 0, DENIED),  # pivot_root
        (ARM, 59, 0, seccomp.ALLOW),  # pipe2
        (ARM, 198, 0, DENIED),  # socket
        (ARM, 220, 0, DENIED),
        (ARM, 220, 0x10000, seccomp.ALLOW),
        (ARM, 438, 0, DENIED),
        (("x86_64", ARM[1]), 0, 0, seccomp.KILL),
        (("aarch64", X86[1]), 0, 0, seccomp.KILL),
    ],
)
def test_the_filter_of_system_calls(
    machine: tuple[str, int], number: int, argument: int, expected: int
) -> None:
    """As the kernel runs it: a program of classic BPF."""
    data = {
        seccomp.ARCHITECTURE: machine[1],
        seccomp.NUMBER: number,
        seccomp.FIRST_ARGUMENT: argument,
    }
    code, at, held = sandbox._program(machine[0]), 0, -1
    while code[at][0] != seccomp.RETURN:
        operation, yes, no, operand = code[at]
        at += 1
        if operation == seccomp.LOAD:
            held = data[operand]
        elif operation == seccomp.JUMP_EQUAL:
            at += yes if held == operand else no
        elif operation == seccomp.JUMP_ABOVE:
            at += yes if held >= operand else no
        else:
            assert operation == seccomp.JUMP_SET
            at += yes if held & operand else no
    assert code[at][1:] == (0, 0, expected)
