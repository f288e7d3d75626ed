"""Loops over the items of arrays, in C if the package was built with a compiler.

What numpy has no function for, such as reading the codes of a graph, is a loop. Each has a
definition in Python, in the module that calls it, and is in C beside this one; `hatch_build.py`
compiles that. Both check their arguments, and give the same results. The definitions take 20 to 200
times as long: 8 µs to write a link, 4 to read it, and 90 to read the n-grams of 500 characters;
those of `rank` use numpy, and take 4 times as long. `tests/native/test_loops.py` compares them.

This module does not import numpy, which would cost each parser 20 MB.

A loop is called with numbers and arrays only, by position. Arrays are contiguous and of the types
that it declares, and it writes its results to those that it is given for them. It runs without the
GIL. A definition gets arrays as memoryviews, flat: their items are Python's numbers, which do not
overflow, and are read in a third of the time.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Function = TypeVar("Function", bound=Callable[..., Any])


def _import_loops() -> ModuleType | None:
    try:
        return import_module("gossamer._loops")
    except ModuleNotFoundError:
        return None


LOOPS = _import_loops()
"""The loops in C; None if they were not compiled."""
DEFINITIONS: dict[str, Callable[..., Any]] = {}
"""The loops in Python, by name."""


def native(function: Function) -> Function:
    """The loop in C that a function defines; without a compiler, the function."""
    name = function.__name__.lstrip("_")

    @wraps(function)
    def define(*arguments: object) -> Any:
        return function(*map(_flat, arguments))

    DEFINITIONS[name] = define
    return define if LOOPS is None else getattr(LOOPS, name)  # type: ignore[return-value]


def _flat(argument: Any) -> object:
    """The items of an array of numpy; other arguments as they are."""
    if isinstance(argument, memoryview) or not getattr(argument, "ndim", 0):
        return argument
    if not argument.flags.c_contiguous:
        raise BufferError("ndarray is not C-contiguous")
    return argument.reshape(-1).data


def are_starts(starts: Any, size: int) -> bool:
    """Whether rows or strings are inside `size` items: each begins where the one before ends."""
    ends = [0, *starts, size]
    return len(starts) > 0 and all(one <= other for one, other in pairwise(ends))


def are_places(places: Any, size: int) -> bool:
    """Whether all are places in an array of `size` items."""
    return all(0 <= place < size for place in places)
