"""When the process of a crawl without end is replaced."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from multiprocessing import Pipe

import pyarrow as pa
import pytest

from gossamer.cli.forever_process import has_grown
from gossamer.cli.supervisor import Start

MB = 10**6
NEXT = """
import sys
from gossamer.cli.supervisor import hold_supervisor_line
line = hold_supervisor_line({})
from gossamer.engine.allocators import return_freed_memory
return_freed_memory()
assert "pyarrow" not in sys.modules
print(line.kept, sys.modules["pyarrow"].default_memory_pool().backend_name)
"""


@pytest.mark.parametrize(
    ("first_mb", "now_mb", "is_replaced"),
    [
        (476, 590, False),
        (476, 600, True),  # by a quarter
        (6_000, 6_990, False),
        (6_000, 7_010, True),  # by an eighth of 8 GB
        (6_000, 5_000, False),
    ],
)
def test_a_process_is_replaced_that_has_grown_by_a_quarter_or_by_a_part_of_the_setting(
    first_mb: int, now_mb: int, is_replaced: bool
) -> None:
    assert has_grown(first_mb * MB, now_mb * MB, memory_gb=8.0) == is_replaced


@pytest.mark.server
def test_the_next_process_chooses_its_allocators_before_it_loads_what_uses_them() -> None:
    """Arrow keeps the allocator that it began with, and what is kept for it loads Arrow."""
    kept = pickle.dumps(pa.int64())
    ours, theirs = Pipe()
    with ours, theirs:
        ours.send(Start("gossamer", 0.0, kept, must_reload=False))
        said = subprocess.run(
            [sys.executable, "-c", NEXT.format(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={name: each for name, each in os.environ.items() if "MEMORY_POOL" not in name},
            capture_output=True,
            text=True,
            check=True,
        )
    assert said.stdout == "int64 system\n"
