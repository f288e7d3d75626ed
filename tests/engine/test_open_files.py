from __future__ import annotations

import errno
import resource
from typing import TYPE_CHECKING

import pytest

from gossamer.engine.open_files import OPEN_MAX, raise_file_limit

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    """Low limits of this process: the soft and the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 500), hard))
    yield resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_soft_limit_is_raised_to_the_hard_one(limits: tuple[int, int]) -> None:
    _, hard = limits
    assert raise_file_limit() == hard
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


@pytest.mark.parametrize(("soft", "raised"), [(256, OPEN_MAX), (OPEN_MAX + 1, OPEN_MAX + 1)])
def test_a_system_that_refuses_the_hard_limit_that_it_reports(
    soft: int, raised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As macOS does."""
    kept = soft, resource.RLIM_INFINITY

    def refuse_more(_: int, most: tuple[int, int]) -> None:
        nonlocal kept
        if not 0 <= most[0] <= OPEN_MAX:
            raise ValueError(errno.EINVAL, "current limit exceeds maximum limit")
        kept = most

    monkeypatch.setattr(resource, "getrlimit", lambda _: kept)
    monkeypatch.setattr(resource, "setrlimit", refuse_more)
    assert raise_file_limit() == raised
