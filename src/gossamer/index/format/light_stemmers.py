"""Light stemmers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIGHT_STEMMERS: Mapping[str, Callable[[str], str]] = {}
