"""Functions that read all texts or nodes of a page, in C if the package was built with a compiler.

Unlike loops over arrays (`loops.py`), they get and return objects of Python, and hold the GIL. Each
has a definition in Python, in the module that calls it, and is in C in `texts/` beside this module;
one is a class, as it keeps something from text to text. `tests/native/test_text_functions.py` and
`tests/parse/test_walk.py` compare both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Function = TypeVar("Function", bound=Callable[..., Any])


def _import_texts() -> ModuleType | None:
    try:
        return import_module("gossamer._texts")
    except ModuleNotFoundError:
        return None


TEXTS = _import_texts()
"""The functions in C; None if they were not compiled."""
TEXT_DEFINITIONS: dict[str, Callable[..., Any]] = {}
"""The functions in Python, by name."""


def native_text(function: Function) -> Function:
    """The function in C that another one defines; without a compiler, that."""
    TEXT_DEFINITIONS[function.__name__] = function
    return function if TEXTS is None else getattr(TEXTS, function.__name__)
