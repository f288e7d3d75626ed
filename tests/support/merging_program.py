"""The command line as a program that compacts and prunes as soon as there are two layers."""

from __future__ import annotations

import sys

MERGING = """
from gossamer.upkeep import compaction, prune
compaction.step.FEW = prune.step.FEW = 2
"""
GOSSAMER = [sys.executable, "-c", f"{MERGING}\nfrom gossamer.cli import main; main()"]
"""The command, which merges layers and prunes the archive in every round."""
