"""The metadata of images, byte by byte: TIFF 6.0, Exif 2.32, PNG 3, T.81 and RFC 9649."""

from __future__ import annotations

import struct
import zlib

import pytest

from gossamer.parse.documents import image
from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.document_draft import Broken, Draft
from gossamer.parse.documents.image import MAX_VALUE_BYTES, read_exif
from tests.support.binary_files import exif, png

DESCRIPTION, ARTIST, DATE, TITLE = 0x010E, 0x013B, 0x0132, 0x9C9B
ASCII, BYTE, SHORT, RATIONAL = 2, 1, 3, 5
EXIF_DIRECTORY, LONG = 0x8769, 4


def tiff(order: str, *entries: tuple[int, int, int, bytes], at: int = 8) -> bytes:
    """A TIFF with a directory of entries: tag, type, number of values, value or its offset."""
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", at)
    listed = [struct.pack(f"{order}HHI", *each[:3]) + each[3].ljust(4, b"\0") for each in entries]
    directory = struct.pack(f"{order}H", len(entries)) + b"".join(listed)
    return head.ljust(at, b"\0") + directory


@pytest.mark.parametrize("order", ["<", ">"])
def test_values_of_up_to_four_bytes_are_in_the_entry(order: str) -> None:
    after = struct.pack(f"{order}I", 8 + 2 + 2 * 12)
    entries = (DESCRIPTION, ASCII, 4, b"kelp"), (ARTIST, ASCII, 5, after)
    assert read_exif(tiff(order, *entries) + b"Anna\0") == {"description": "kelp", "author": "Anna"}


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_exif_directory_is_read_as_well(order: str) -> None:
    inner = struct.pack(f"{order}HHHI", 1, ARTIST, ASCII, 3) + b"Ann\0"
    pointer = struct.pack(f"{order}I", 8 + 2 + 2 * 12)
    entries = (EXIF_DIRECTORY, LONG, 1, pointer), (DESCRIPTION, ASCII, 3, b"sea")
    found = {"author": "Ann", "description": "sea"}
    assert read_exif(tiff(order, *entries) + inner) == found
    short = (EXIF_DIRECTORY, SHORT, 1, pointer[-2:]), (DESCRIPTION, ASCII, 3, b"sea")
    assert read_exif(tiff(order, *short) + inner) == {"description": "sea"}


def test_a_value_is_as_long_as_its_type_says() -> None:
    after = struct.pack("<I", 8 + 2 + 12)
    of_shorts = tiff("<", (DESCRIPTION, SHORT, 4, after)) + b"seaweeds and more"
    assert read_exif(of_shorts) == {"description": "seaweeds"}


def test_the_first_value_of_a_tag_counts_and_an_empty_one_does_not() -> None:
    entries = [(ARTIST, ASCII, 1, b"\0"), (ARTIST, ASCII, 3, b"Ann"), (ARTIST, ASCII, 3, b"Bob")]
    assert read_exif(tiff("<", *entries)) == {"author": "Ann"}


def test_a_text_ends_with_its_first_zero_byte() -> None:
    assert read_exif(tiff("<", (ARTIST, ASCII, 4, b"A\0B\0"))) == {"author": "A"}


def test_windows_writes_titles_in_utf_16() -> None:
    text = "Brücke\0".encode("utf-16-le")
    entry = TITLE, BYTE, len(text), struct.pack("<I", 22)
    assert read_exif(tiff("<", entry) + text) == {"title": "Brücke"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"II*\0\x08\0\0",
        b"XX*\0\x08\0\0\0",
        tiff("<", (ARTIST, ASCII, 3, b"Ann"))[:-1],  # the entry is cut off
        tiff("<", (ARTIST, ASCII, 0, b"Ann")),
        tiff("<", (ARTIST, RATIONAL, 1, b"Ann")),
        tiff("<", (0x9999, ASCII, 3, b"Ann")),
    ],
)
def test_what_names_nothing(body: bytes) -> None:
    assert read_exif(body) == {}


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        (b"GIF89a", True),
        (b"GIF12a", False),
        (b"RIFF\0\0\0\0WEBP", True),
        (b"RIFF\0\0\0\0WAVE", False),
        (b"XXXX\0\0\0\0WEBP", False),
        (b"\xff\xd8\xff", True),
        (b"\xff\xd8", False),
        (b"II*\0", True),
        (b"MM\0*", True),
        (b"MM*\0", False),
    ],
)
def test_the_formats_of_images(body: bytes, is_read: bool) -> None:
    draft = Draft(1_000)
    if is_read:
        image.read_image(body, draft)
    else:
        with pytest.raises(Broken):
            image.read_image(body, draft)


@pytest.mark.parametrize("name", [b"A", b"AB", b"ABC"])
def test_short_values_count(name: bytes) -> None:
    entry = (ARTIST, ASCII, len(name), name)
    assert read_exif(tiff("<", entry)) == {"author": name.decode()}


def test_a_directory_may_begin_anywhere_within_the_bytes() -> None:
    assert read_exif(tiff("<", (ARTIST, ASCII, 3, b"Ann"), at=11)) == {"author": "Ann"}
    for start in (14, 15, 16, 17, 2**32 - 1):
        assert read_exif(b"II*\0" + struct.pack("<I", start) + bytes(8)) == {}


@pytest.mark.parametrize(
    ("size", "is_read"), [(MAX_VALUE_BYTES, True), (MAX_VALUE_BYTES + 1, False)]
)
def test_values_have_a_limit(size: int, is_read: bool) -> None:
    body = tiff("<", (ARTIST, ASCII, size, struct.pack("<I", 22))) + b"A" * size
    assert (read_exif(body) == {"author": "A" * size}) == is_read


def test_a_directory_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "MAX_ENTRIES", 2)
    entries = [
        (0x9999, ASCII, 1, b"x"),
        (ARTIST, ASCII, 3, b"Ann"),
        (DESCRIPTION, ASCII, 3, b"sea"),
    ]
    assert read_exif(tiff("<", *entries)) == {"author": "Ann"}


EXIF = b"Exif\0\0" + exif(t013B="Ann Anderson")


def segment(kind: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data


def authors(body: bytes) -> tuple[str, ...]:
    return read_binary("application/octet-stream", body, 1_000).authors


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        ([segment(0xE0, b"JFIF\0"), segment(0xE1, EXIF)], True),
        ([segment(0xE1, b"other"), segment(0xE2, EXIF), segment(0xE1, EXIF)], True),
        ([segment(0xE2, EXIF)], False),  # Exif is in an APP1 segment
        ([segment(0xDA, b""), segment(0xE1, EXIF)], False),  # of image data
        ([segment(0xE0, b""), b"\0", segment(0xE1, EXIF)], False),
        ([segment(0xE0, b""), b"\xff\xe1\0"], False),
        ([segment(0xE0, b"")] * 3 + [segment(0xE1, EXIF)], True),
        ([segment(0xE0, b"")] * 4 + [segment(0xE1, EXIF)], False),  # MAX_BLOCKS
    ],
)
def test_the_segments_of_jpeg(
    monkeypatch: pytest.MonkeyPatch, segments: list[bytes], found: bool
) -> None:
    monkeypatch.setattr(image, "MAX_BLOCKS", 4)
    assert authors(b"\xff\xd8" + b"".join(segments)) == (("Ann Anderson",) if found else ())


def test_exif_ends_with_its_segment() -> None:
    cut = EXIF[:-5]
    body = b"\xff\xd8" + segment(0xE1, cut) + b"XXXXX"
    assert authors(body) == ("Ann Ande",)


def chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


@pytest.mark.parametrize("odd", [b"", b"x", b"xx"])
@pytest.mark.parametrize("prefix", [b"", b"Exif\0\0"])
def test_the_chunks_of_webp_have_even_sizes(odd: bytes, prefix: bytes) -> None:
    data = prefix + EXIF[6:]
    body = b"RIFF\0\0\0\0WEBP" + chunk(b"VP8X", odd) + chunk(b"EXIF", data)
    assert authors(body) == ("Ann Anderson",)
    assert authors(b"RIFF\0\0\0\0WEBP" + chunk(b"VP8X", odd)) == ()


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (b"tEXt", b"Br\xfccke", "Brücke"),
        (b"zTXt", b"\0" + zlib.compress(b"Br\xfccke"), "Brücke"),
        (b"zTXt", b"\0damaged", None),
        (b"zTXt", b"", None),
        (b"iTXt", b"\0\0de\0Titel\0" + "Brücke".encode(), "Brücke"),
        (b"iTXt", b"\1\0de\0Titel\0" + zlib.compress("Brücke".encode()), "Brücke"),
        (b"tEXt", b"  ", None),
        (b"oTHR", b"Br\xfccke", None),
    ],
)
def test_the_texts_of_png(kind: bytes, value: bytes, text: str | None) -> None:
    body = png((b"oTHR", b"x"), (kind, b"Title\0" + value), (b"tEXt", b"Author\0Ann"))
    document = read_binary("image/png", body, 1_000)
    assert (document.title, document.authors) == (text, ("Ann",))


def test_the_first_text_of_png_counts() -> None:
    texts = [(b"tEXt", b"Title\0" + text) for text in (b"", b"One", b"Two")]
    assert read_binary("image/png", png(*texts), 1_000).title == "One"


def test_the_texts_of_png_are_unpacked_up_to_a_limit() -> None:
    packed = zlib.compress(b"a" * (2 * MAX_VALUE_BYTES))
    body = png((b"zTXt", b"Description\0\0" + packed))
    assert read_binary("image/png", body, 10**6).text == "a" * MAX_VALUE_BYTES
