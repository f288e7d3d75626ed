"""How does a loop over the items of arrays, or over texts, run in C, and without a compiler?"""

from gossamer.native.loops import DEFINITIONS, LOOPS, are_places, are_starts, native
from gossamer.native.text_functions import TEXT_DEFINITIONS, TEXTS, native_text

__all__ = [
    "DEFINITIONS",
    "LOOPS",
    "TEXTS",
    "TEXT_DEFINITIONS",
    "are_places",
    "are_starts",
    "native",
    "native_text",
]
