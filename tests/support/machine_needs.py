"""What a test needs of the machine."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lacking(words: str) -> NoReturn:
    """Skip the test. In CI it fails, because nobody would notice that it is skipped."""
    if os.environ.get("CI") == "true":
        pytest.fail(words)
    pytest.skip(words)
