"""A page of a PDF and its text, as PDFium has loaded them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import pypdfium2 as pdfium
import pypdfium2.raw as c

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_END_OF_UNICODE = 0x110000
Buffer = ctypes.c_ushort * (1 << 14)
"""Room for the text of a page, in UTF-16: a type of its own for each length takes time."""


class TextPage:
    """The handles of a page and its text.

    pypdfium2's objects for them, which close themselves, take a tenth of the time of a small page.
    """

    def __init__(self, document: pdfium.PdfDocument, number: int) -> None:
        """Load a page. Raises PdfiumError if it cannot be read."""
        self.page: Any = c.FPDF_LoadPage(document, number)
        if not self.page:
            raise pdfium.PdfiumError("no such page")
        self.raw: Any = c.FPDFText_LoadPage(self.page)
        if not self.raw:
            c.FPDF_ClosePage(self.page)
            raise pdfium.PdfiumError("no text of a page")

    def close(self) -> None:
        c.FPDFText_ClosePage(self.raw)
        c.FPDF_ClosePage(self.page)

    def count_chars(self) -> int:
        return int(c.FPDFText_CountChars(self.raw))

    def text(self) -> str:
        """Return the text that is shown on the page."""
        box = c.FS_RECTF()
        c.FPDF_GetPageBoundingBox(self.page, box)
        return self.text_within(box.left, box.bottom, box.right, box.top)

    def text_within(self, left: float, bottom: float, right: float, top: float) -> str:
        """Return the text in a part of the page."""
        sides, buffer = (left, top, right, bottom), Buffer()
        count = c.FPDFText_GetBoundedText(self.raw, *sides, buffer, len(buffer))
        if count < len(buffer):
            return _decoded(memoryview(buffer)[: max(count - 1, 0)])  # NUL
        size = c.FPDFText_GetBoundedText(self.raw, *sides, None, 0)
        whole = (ctypes.c_ushort * size)()
        c.FPDFText_GetBoundedText(self.raw, *sides, whole, size)
        return _decoded(memoryview(whole))

    def characters(self, places: Iterable[int]) -> str:
        """Return the characters at places: PDFium's texts omit NULs, so they have other places.

        Names of glyphs may have codes that are none ("u110000").
        """
        raw, code_at = self.raw, c.FPDFText_GetUnicode
        codes = [code_at(raw, place) for place in places]
        return "".join([chr(code) if code < _END_OF_UNICODE else "\ufffd" for code in codes])


def _decoded(units: memoryview) -> str:
    return bytes(units).decode("utf-16-le", "ignore")
