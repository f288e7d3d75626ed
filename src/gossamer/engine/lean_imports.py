"""Imports without garbage collection, and without packages that a library can do without.

Fact (Python 3.11): hundreds of thousands of objects are created while modules are imported, and
hardly any of them die. The collector looks at them again and again, which takes 11 % of the time
until a crawl starts, and later whenever it looks at all objects.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


@contextmanager
def pause_collections() -> Iterator[None]:
    """Do not collect garbage in the block, and never look again at what exists at its end.

    For programs: garbage of a caller would stay for ever.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class _Refusing(MetaPathFinder):
    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname == self._package:
            raise ModuleNotFoundError(name=fullname)
        return None


@contextmanager
def hide_package(package: str) -> Iterator[None]:
    """In the block, a package is not found, unless it was imported before."""
    refusing = _Refusing(package)
    sys.meta_path.insert(0, refusing)
    try:
        yield
    finally:
        sys.meta_path.remove(refusing)


def forgo_pandas() -> None:
    """Let pyarrow find no pandas when it looks for it, once per process.

    Fact (pyarrow 26): its first array or scalar imports pandas, if it is installed, to recognise
    its objects. Spark Connect's client requires pandas, but tasks have no use for it, and importing
    it in each worker takes time and memory that a small crawl notices. Code that imports pandas
    later gets it, and pyarrow then converts its objects where it is asked to.
    """
    import pyarrow as pa

    with hide_package("pandas"):
        pa.array([0])
