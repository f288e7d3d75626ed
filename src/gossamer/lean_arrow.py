"""pyarrow without pandas.

Fact (pyarrow 26): its first array or scalar imports pandas, if it is installed, to recognise its
objects. Spark Connect's client requires pandas, but the tasks of a crawl have no use for it, and
importing it in each worker takes time and memory that a small crawl notices.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _NoPandas(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
        return None


def forgo_pandas() -> None:
    """Let pyarrow find no pandas when it looks for it, once per process.

    Whoever imports pandas later gets it, and pyarrow converts its objects where it is asked to.
    """
    refusing = _NoPandas()
    sys.meta_path.insert(0, refusing)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(refusing)
