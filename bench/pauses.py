"""How long does an event loop stand still while a thread computes, or garbage is collected?

    python bench/pauses.py

The interpreter runs one thread at a time, and changes threads only between two of its instructions.
A thread rewrites a stored copy of 12 MB (`serve/cached_copy.py`), with the regular expressions over
the whole text and in pieces, while another one wakes every 0.2 ms as an event loop would; the pause
is its longest delay. The garbage collector's full pass is timed with the modules of the server
loaded, before and after they are exempt from it (`serve/gc_pauses.py`). The longest of five.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import TYPE_CHECKING

from gossamer.serve import SWITCH_S, cached_copy, web
from gossamer.serve.gc_pauses import exempt_present_objects

if TYPE_CHECKING:
    from collections.abc import Callable

COPY_BYTES = 12_000_000
LINE = "<p>A paragraph of <a href='/x'>some</a> words, number {}.</p>\n"
WAKE_S = 0.000_2
RUNS = 5


def longest_delay_s(work: Callable[[], object]) -> float:
    """How late the main thread wakes at most, while another one does the work."""
    thread = threading.Thread(target=work)
    longest, last_s = 0.0, time.perf_counter()
    thread.start()
    while thread.is_alive():
        time.sleep(WAKE_S)
        now_s = time.perf_counter()
        longest, last_s = max(longest, now_s - last_s), now_s
    return longest - WAKE_S


def seconds(work: Callable[[], object]) -> float:
    begun_s = time.perf_counter()
    work()
    return time.perf_counter() - begun_s


def main() -> None:
    sys.setswitchinterval(SWITCH_S)
    assert web.server
    markup = "".join(map(LINE.format, range(COPY_BYTES // len(LINE))))

    def rewritten(chars: int) -> Callable[[], object]:
        def rewrite() -> None:
            cached_copy.PIECE_CHARS = chars
            "".join(map(cached_copy.without_connections, cached_copy.pieces(markup)))

        return rewrite

    pieces = cached_copy.PIECE_CHARS
    for name, chars in (("whole", len(markup)), ("in pieces", pieces)):
        delay_s = max(longest_delay_s(rewritten(chars)) for _ in range(RUNS))
        print(f"a copy of {COPY_BYTES / 1e6:.0f} MB, {name:10} {delay_s * 1000:6.1f} ms")
    for name, prepare in (("before", gc.collect), ("after", exempt_present_objects)):
        prepare()
        pass_s = max(seconds(gc.collect) for _ in range(RUNS))
        print(f"full pass of the collector, {name:6} {pass_s * 1000:4.1f} ms")


if __name__ == "__main__":
    main()
