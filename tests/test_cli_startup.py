"""`gossamer --help` imports nothing heavy: it is the first thing that anybody sees."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"pyspark", "pyarrow", "tantivy", "aiohttp", "uvloop", "selectolax", "msgspec", "pandas"}


def test_help_imports_none_of_the_heavy_libraries() -> None:
    program = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from gossamer.cli import main\n"
        "try: main()\n"
        f"finally: print(sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "fakeweb" in ended.stdout
    assert ended.stderr.strip() == "[]"
