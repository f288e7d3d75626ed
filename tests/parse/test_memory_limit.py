"""How much memory a process that parses pages has, and which amount is too much."""

from __future__ import annotations

import math
import os
import resource
import sys

import psutil
import pytest

from gossamer.parse.process import memory_limit
from gossamer.parse.process.memory_limit import MAX_KEPT_BYTES, MAX_MEMORY_BYTES, KeptMemory


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_resident_memory_is_that_of_the_system(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    known = psutil.Process().memory_info().rss
    monkeypatch.setattr(sys, "platform", platform)
    assert memory_limit.resident_bytes(os.getpid()) == pytest.approx(known, rel=0.1)


def test_a_process_that_is_gone_has_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory_limit.resident_bytes(999_999_999) == 0


@pytest.mark.parametrize(
    ("kept_bytes", "is_worth_ending", "is_too_large"),
    [
        (MAX_KEPT_BYTES, False, False),
        (MAX_KEPT_BYTES + 1, True, False),
        (MAX_KEPT_BYTES + MAX_MEMORY_BYTES, True, False),
        (MAX_KEPT_BYTES + MAX_MEMORY_BYTES + 1, True, True),
    ],
)
def test_a_page_may_add_to_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, kept_bytes: int, is_worth_ending: bool, is_too_large: bool
) -> None:
    monkeypatch.setattr(memory_limit, "resident_bytes", lambda _: kept_bytes)
    assert memory_limit.is_too_large(1) is is_too_large
    monkeypatch.setattr(sys, "platform", "darwin")
    assert KeptMemory(1).is_too_much() is is_worth_ending


def test_what_a_process_keeps_is_looked_at_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptMemory(os.getpid())
    resident = memory_limit.resident_bytes(os.getpid())
    for limit, is_too_much in ((resident // 2, True), (resident * 2, False), (1, True)):
        monkeypatch.setattr(memory_limit, "MAX_KEPT_BYTES", limit)
        assert kept.is_too_much() is is_too_much
    kept.close()


def test_nobody_looks_where_the_kernel_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert memory_limit.look_s() == math.inf
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory_limit.look_s() == memory_limit.LOOK_S


@pytest.mark.parametrize(("hard", "soft"), [(resource.RLIM_INFINITY, 9), (10, 9), (9, 9), (8, 8)])
def test_a_soft_limit_is_at_most_the_hard_one(
    monkeypatch: pytest.MonkeyPatch, hard: int, soft: int
) -> None:
    made: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (0, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda *given: made.append(given))
    memory_limit.limit_resource(resource.RLIMIT_CPU, 9)
    assert made == [(resource.RLIMIT_CPU, (soft, hard))]


def test_only_linux_limits_the_address_space(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []
    monkeypatch.setattr(memory_limit, "limit_resource", lambda *given: made.append(given))
    monkeypatch.setattr(sys, "platform", "darwin")
    memory_limit.limit_own_memory()
    assert made == []
    monkeypatch.setattr(sys, "platform", "linux")
    memory_limit.limit_own_memory()
    ((what, most),) = made
    assert what == resource.RLIMIT_AS
    known = psutil.Process().memory_info().vms
    assert most - MAX_MEMORY_BYTES == pytest.approx(known, rel=0.1)
