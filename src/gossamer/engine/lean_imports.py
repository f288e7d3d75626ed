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
