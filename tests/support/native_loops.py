"""Tests that need the loops in C (gossamer.native)."""

from __future__ import annotations

import pytest

from gossamer.native import LOOPS

compiled_only = pytest.mark.skipif(LOOPS is None, reason="takes minutes without loops in C")
