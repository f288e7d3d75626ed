"""Blocks of code in Markdown."""

from __future__ import annotations

import re

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return [block for name, block in BLOCK.findall(text) if name == language]
