"""Text that a PDF shows on its pages without being part of their content.

These are the values of form fields (AcroForm, ISO 32000-1 §12.7.4) and comments that are written on
the page (FreeText, §12.5.6.6). Left out are buttons, passwords, hidden annotations, and comments
that only a pop-up window shows.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as c

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pypdfium2 as pdfium

MAX_ANNOTATIONS = 1_000
"""Annotations read per page."""
MAX_OPTIONS = 300
"""Options read per list."""
MAX_TEXT_BYTES = 1 << 16
"""Length of a text in UTF-16; longer ones are ignored."""

_UNSEEN = c.FPDF_ANNOT_FLAG_HIDDEN | c.FPDF_ANNOT_FLAG_NOVIEW
_CHOICES = (c.FPDF_FORMFIELD_COMBOBOX, c.FPDF_FORMFIELD_LISTBOX)


@contextmanager
def opened_form(document: pdfium.PdfDocument) -> Iterator[Any]:
    """Yield PDFium's handle of the form of a document; None if it has none."""
    if c.FPDF_GetFormType(document) == c.FORMTYPE_NONE:
        yield None
        return
    callbacks = c.FPDF_FORMFILLINFO(version=2)
    form = c.FPDFDOC_InitFormFillEnvironment(document, callbacks)
    try:
        yield form or None
    finally:
        if form:
            c.FPDFDOC_ExitFormFillEnvironment(form)


def texts(page: Any, form: Any) -> Iterator[str]:
    """Yield the texts of a page's annotations. A field with several widgets occurs as often."""
    for index in range(min(c.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = c.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if c.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                continue
            kind = c.FPDFAnnot_GetSubtype(annotation)
            if kind == c.FPDF_ANNOT_FREETEXT:
                yield read_string(c.FPDFAnnot_GetStringValue, annotation, b"Contents")
            elif kind == c.FPDF_ANNOT_WIDGET and form is not None:
                yield from _values(form, annotation)
        finally:
            c.FPDFPage_CloseAnnot(annotation)


def _values(form: Any, widget: Any) -> Iterator[str]:
    """Yield the text of a text field, or the selected options of a list."""
    kind = c.FPDFAnnot_GetFormFieldType(form, widget)
    if kind in _CHOICES:
        options = range(min(c.FPDFAnnot_GetOptionCount(form, widget), MAX_OPTIONS))
        selected = [n for n in options if c.FPDFAnnot_IsOptionSelected(form, widget, n)]
        yield from (read_string(c.FPDFAnnot_GetOptionLabel, form, widget, n) for n in selected)
        if selected:
            return
    elif kind != c.FPDF_FORMFIELD_TEXTFIELD or (
        c.FPDFAnnot_GetFormFieldFlags(form, widget) & c.FPDF_FORMFLAG_TEXT_PASSWORD
    ):
        return
    yield read_string(c.FPDFAnnot_GetFormFieldValue, form, widget)


def read_string(read: Callable[..., int], *what: Any) -> str:
    """Return the string that a function of PDFium writes into a buffer of UTF-16."""
    size = read(*what, None, 0)
    if not 0 < size <= MAX_TEXT_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    read(*what, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
