"""Which document is in a zip file."""

from __future__ import annotations

import pytest

from gossamer.parse.documents import zip_archive
from gossamer.parse.documents.document_draft import Broken, Draft, Unsupported
from gossamer.parse.documents.zip_archive import opened
from gossamer.parse.documents.zip_documents import read_zip, type_of
from tests.support.binary_files import DOCX, EPUB, ODT, PPTX, XLSX, zipped


def content_types(kind: str) -> dict[str, str]:
    part = f'<Override PartName="/x" ContentType="application/{kind}+xml"/>'
    return {"[Content_Types].xml": f"<Types>{part}</Types>"}


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"mimetype": EPUB}, EPUB),
        ({"mimetype": f" {ODT}\n"}, ODT),
        ({"mimetype": f"{ODT}-template"}, ODT),
        ({"mimetype": ODT.upper()}, ODT),
        ({"mimetype": "é", "xl/workbook.xml": ""}, XLSX),
        (content_types("vnd.openxmlformats-officedocument.wordprocessingml.document.main"), DOCX),
        (content_types("vnd.openxmlformats-officedocument.spreadsheetml.template.main"), XLSX),
        (content_types("vnd.ms-excel.sheet.macroEnabled.main"), XLSX),
        ({"mimetype": EPUB, "word/document.xml": ""}, EPUB),
        ({"word/document.xml": ""}, DOCX),
        ({"ppt/presentation.xml": ""}, PPTX),
        ({"xl/workbook.xml": ""}, XLSX),
        ({"META-INF/container.xml": ""}, EPUB),
        ({"a.txt": "x"}, None),
    ],
)
def test_the_type_of_a_zip_file(files: dict[str, str], kind: str | None) -> None:
    with opened(zipped(files)) as archive:
        assert type_of(archive) == kind


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.txt": "x"}, "a zip file of no known format"),
        ({"mimetype": "image/openraster"}, "image/openraster"),
    ],
)
def test_other_zip_files_are_named(files: dict[str, str], why: str) -> None:
    with pytest.raises(Unsupported, match=f"^{why}$"):
        read_zip(zipped(files), Draft(100))


@pytest.mark.parametrize(("most", "is_read"), [(11, False), (12, True)])
def test_all_files_together_may_have_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch, most: int, is_read: bool
) -> None:
    monkeypatch.setattr(zip_archive, "MAX_UNPACKED_BYTES", most)
    with opened(zipped({"a": "x" * 6, "b": "y" * 6, "c": ""})) as archive:
        assert archive.read("a") == b"x" * 6
        if is_read:
            assert (archive.read("b"), archive.find("c"), archive.find("d")) == (b"y" * 6, b"", b"")
        else:
            with pytest.raises(Broken, match="unpacked"):
                archive.read("b")
