"""Programs that start often, or that users see first, import no heavy libraries needlessly."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"pyspark", "pyarrow", "numpy", "tantivy", "aiohttp", "uvloop", "pandas"}


@pytest.mark.parametrize(
    ("statement", "heavy", "says"),
    [
        # The first command that users run.
        ("main()", HEAVY | {"selectolax", "msgspec"}, "fakeweb"),
        # The process that stays while others crawl, without end.
        ("import gossamer.cli.renewal", HEAVY, ""),
        # The parser's process, of each task and each `gossamer parse`.
        ("import gossamer.parse.guard", HEAVY, ""),
    ],
)
def test_none_of_the_heavy_libraries_is_imported(
    statement: str, heavy: set[str], says: str
) -> None:
    program = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from gossamer.cli import main\n"
        f"try: {statement}\n"
        f"finally: print(sorted({heavy!r} & sys.modules.keys()), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert says in ended.stdout
    assert ended.stderr.strip() == "[]"
