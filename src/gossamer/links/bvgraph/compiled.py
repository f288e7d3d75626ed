"""Compiled functions: numba, with the machine code kept where the user may write.

numba writes the code beside the source or, if that is read-only, to the user's cache folder. On a
machine where neither can be written, functions are compiled in each process that calls them.

Fact (numba 0.68): where scipy is installed, numba imports it for products of matrices, which none
of our functions has. That takes 0.2 s, a quarter of what it takes to load all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from gossamer.engine.lean_imports import hide_package

with hide_package("scipy"):
    import numba
    import numba.np.arraymath
    from numba import types
    from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a function of numbers and arrays at its first call. It runs without the GIL."""
    return _compile(function, fastmath=False)


def summing(function: Function) -> Function:
    """As `compiled`, for sums of any order: a processor adds up several at once."""
    return _compile(function, fastmath={"reassoc", "nsz"})


def _compile(function: Function, **options: Any) -> Function:
    try:
        made = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder for the cache can be written
        made = numba.njit(nogil=True, **options)(function)
    return cast("Function", made)


def _leading_zeros(_typing: Any, _word: Any) -> Any:
    """The number of zero bits before the first one: 64 for zero."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        defined = context.get_constant(types.boolean, False)  # for zero, too
        return builder.ctlz(arguments[0], defined)

    return types.int64(types.uint64), generate


def _swap_bytes(_typing: Any, _word: Any) -> Any:
    """The word with its bytes in reverse order."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


def _count_ones(_typing: Any, _word: Any) -> Any:
    """The number of one bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


leading_zeros = cast("Callable[[np.uint64], int]", intrinsic(_leading_zeros))
swap_bytes = cast("Callable[[np.uint64], np.uint64]", intrinsic(_swap_bytes))
count_ones = cast("Callable[[np.uint64], int]", intrinsic(_count_ones))
