from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.errors import ConfigError
from gossamer.state.last_valid import LastValid

if TYPE_CHECKING:
    from collections.abc import Callable


def broken(why: str) -> Callable[[], str]:
    def read() -> str:
        raise ConfigError("file", why, "mend it")

    return read


def test_the_last_valid_content_counts_and_each_reason_is_told_once() -> None:
    reasons: list[str] = []
    valid = LastValid(lambda error: reasons.append(error.what))
    assert valid.read("a", lambda: "one") == "one"
    assert valid.read("a", broken("is empty")) == "one"
    assert valid.read("a", broken("is empty")) == "one"
    assert valid.read("a", broken("is long")) == "one"
    assert reasons == ["is empty", "is long"]
    assert valid.read("a", lambda: "two") == "two"
    assert valid.read("a", broken("is long")) == "two"
    assert reasons == ["is empty", "is long", "is long"]


def test_a_file_that_was_never_valid_is_an_error() -> None:
    reasons: list[ConfigError] = []
    valid = LastValid(reasons.append)
    valid.read("a", lambda: "one")
    with pytest.raises(ConfigError, match="is empty"):
        valid.read("b", broken("is empty"))
    assert reasons == []
