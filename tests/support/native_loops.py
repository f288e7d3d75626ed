"""Tests that need the loops in C (gossamer.links.native)."""

from __future__ import annotations

import pytest

from gossamer.links.native import LOOPS

compiled_only = pytest.mark.skipif(LOOPS is None, reason="takes minutes without loops in C")
