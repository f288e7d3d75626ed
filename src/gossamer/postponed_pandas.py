"""pandas, imported when something of it is used.

Fact (pyspark 4.2, Sail 0.7): the client and the engine import pandas, and use it only for data of
pandas. A crawl has none, and importing pandas takes 0.13 s of the time until its first page.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module, metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Later(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        for stand_in in [each for each in sys.modules.values() if isinstance(each, _Later)]:
            del sys.modules[stand_in.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def postponed_pandas() -> Iterator[None]:
    """Postpone pandas for the rest of the process, and import pyspark's client in the block.

    In the block, its stand-ins hold what pyspark looks at: the version, a class for an annotation,
    and two functions. For programs: a caller may have reasons to import pandas at a certain time.
    """
    if "pandas" in sys.modules:
        yield
        return
    pandas, api, types = map(_Later, ("pandas", "pandas.api", "pandas.api.types"))
    known: dict[str, Any] = {"__version__": metadata.version("pandas"), "DataFrame": object}
    vars(pandas).update(known)
    vars(types)["__path__"] = []  # `from` looks for it
    for name in ("is_datetime64_dtype", "is_timedelta64_dtype"):
        vars(types)[name] = _function(types.__name__, name)
    sys.modules.update({each.__name__: each for each in (pandas, api, types)})
    try:
        yield
    finally:
        for name in known:
            vars(pandas).pop(name)


def _function(module: str, name: str) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    return function
