"""Where this repository and its pages are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES_OF_DOCS = sorted(ROOT.glob("docs/**/*.md"))
