"""From bytes to characters."""

from gossamer.parse.reading.charset.detection import decode

__all__ = ["decode"]
