"""Imports without garbage collection, and without packages that libraries can do without.

Fact (Python 3.11): hundreds of thousands of objects are created while modules are imported, and
hardly any of them die. The collector looks at them again and again, which takes 11 % of the time
until a crawl starts, and later whenever it looks at all objects.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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


def postpone_pandas() -> None:
    """Let everybody import pandas when they use it, instead of when they import it.

    Facts (pyspark 4.2, Sail 0.7.2): Spark Connect's client imports pandas, which is 300 modules and
    40 MB, for `toPandas`, and to recognise a `DataFrame` that it is given; Sail does so before it
    runs a function in Python. There can be no `DataFrame` before somebody has used pandas.
    """
    if "pandas" not in sys.modules:
        forgo_pandas()
        found = version("pandas")
        sys.modules.update({name: _StandIn(name, found) for name in _POSTPONED})
        sys.meta_path.insert(0, _PostponedFinder())


_POSTPONED = ("pandas", "pandas.api", "pandas.api.types")


class _StandIn(ModuleType):
    """A module that is imported when it is used, but for its version and its class."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(name)
        self.__version__ = found
        self.__path__: list[str] = []  # its modules are found by `_PostponedFinder`
        self.DataFrame = _Frame()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("is_"):  # a function that is imported by its name

            def call(*given: object) -> Any:
                return getattr(_real(self.__name__), name)(*given)

            return call
        if name.startswith("__"):  # what the import system looks for
            raise AttributeError(name)
        return getattr(_real(self.__name__), name)


class _Frame:
    """Stands for `pandas.DataFrame`."""

    def __instancecheck__(self, instance: object) -> bool:
        pandas: Any = sys.modules.get("pandas")
        return not isinstance(pandas, _StandIn | None) and isinstance(instance, pandas.DataFrame)

    def __call__(self, *given: object, **named: object) -> Any:
        return _real("pandas").DataFrame(*given, **named)

    def __mro_entries__(self, _: tuple[object, ...]) -> tuple[type, ...]:
        return (_real("pandas").DataFrame,)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real("pandas").DataFrame, name)


class _PostponedFinder(MetaPathFinder):
    """Finds modules of pandas for those who import them from a stand-in."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if path or not fullname.startswith("pandas."):
            return None
        parent = _real(fullname.rpartition(".")[0])
        if (module := sys.modules.get(fullname)) is not None:
            # The import system prefers the module's specification to ours.
            module.__spec__ = ModuleSpec(fullname, _Imported(module.__spec__))
            return module.__spec__
        return PathFinder.find_spec(fullname, parent.__path__, target)


class _Imported(Loader):
    """Loads a module that has been imported meanwhile, and gives its specification back to it."""

    def __init__(self, spec: ModuleSpec | None) -> None:
        self._spec = spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def _real(name: str) -> Any:
    for postponed in _POSTPONED:
        if isinstance(sys.modules.get(postponed), _StandIn):
            del sys.modules[postponed]
    return import_module(name)
