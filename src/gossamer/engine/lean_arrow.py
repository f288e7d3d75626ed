"""pyarrow without pandas.

Fact (pyarrow 26): its first array or scalar imports pandas, if it is installed, to recognise its
objects. Spark Connect's client requires pandas, but the tasks of a crawl have no use for it, and
importing it in each worker takes time and memory that a small crawl notices.
"""

from __future__ import annotations

import pyarrow as pa

from gossamer.engine.lean_imports import hide_package


def forgo_pandas() -> None:
    """Let pyarrow find no pandas when it looks for it, once per process.

    Whoever imports pandas later gets it, and pyarrow converts its objects where it is asked to.
    """
    with hide_package("pandas"):
        pa.array([0])
