"""How does a loop over the items of arrays run in C, and without a compiler?"""

from gossamer.native.loops import DEFINITIONS, LOOPS, are_places, are_starts, native

__all__ = ["DEFINITIONS", "LOOPS", "are_places", "are_starts", "native"]
