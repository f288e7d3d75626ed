"""The prescan for a declared encoding, beside the steps of HTML, §13.2.3.2, byte by byte."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.charset.detection import PRESCAN_BYTES, declared_in_meta
from gossamer.web.encodings import encoding_of

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "
KOI8 = "<meta charset=koi8-r>"
BLANKS = b"\t\n\f\r "


def test_an_unknown_meta_charset_does_not_end_the_prescan() -> None:
    html = f"<meta charset=none><meta charset='x-none'>{KOI8}{RUSSIAN}"
    assert decode(html.encode("koi8-r"), None) == (html, "koi8-r")


@pytest.mark.parametrize(
    "declared",
    [
        KOI8,
        "<meta/charset=koi8-r>",
        "<META\nCHARSET\n=\n' KOI8-R '/>",
        "<meta name=x charset=koi8-r content='text/html; charset=utf-8'>",
        "<meta http-equiv=CONTENT-TYPE content='text/html; charset = koi8-r; x'>",
        "<meta content=\"charset; charset='koi8-r'\" http-equiv=content-type>",
        "<meta http-equiv=content-type content='charset=none'>" + KOI8,
        "<meta http-equiv=content-type content='text/html'>" + KOI8,
        "<meta charset=koi8-r charset=utf-8>",
        '<meta charset="koi8-r>',
        "<title>a < b</title>" + KOI8,
        "<a title='>'" + KOI8 + ">" + KOI8,
        "<!-->" + KOI8,
        "<!--->" + KOI8,
        "<?x ?>" + KOI8,
        "</p a='" + "<meta charset=utf-8>" + "'>" + KOI8,
        "<!-- <meta charset=utf-8> -- > -->" + KOI8,
    ],
)
def test_a_declaration_that_counts(declared: str) -> None:
    assert declared_in_meta(declared.encode()) == "koi8-r"


@pytest.mark.parametrize(
    "undeclared",
    [
        "<meta charset=none>",
        "<meta charset=none http-equiv=content-type content='charset=koi8-r'>",
        "<meta name=description content='charset=koi8-r'>",
        "<meta http-equiv=refresh content='0; charset=koi8-r'>",
        "<meta data-charset=koi8-r>",
        "<metadata charset=koi8-r>",
        "<p charset=koi8-r>",
        f"<p title='{KOI8}'>",
        f"<!--> <!-- {KOI8}",
        f"<!doctype {KOI8[1:]}",
        f"<?xml {KOI8[1:]}",
        " " * PRESCAN_BYTES + KOI8,
    ],
)
def test_a_declaration_that_does_not_count(undeclared: str) -> None:
    assert declared_in_meta(undeclared.encode()) is None


class Prescan:
    """The standard's steps, as they are written there. The end of the bytes is an IndexError."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0

    def byte(self) -> bytes:
        return bytes((self.body[self.at],)).lower()

    def run(self) -> str | None:
        try:
            while True:
                if (name := self.tag()) is not None:
                    return name
                self.at += 1
        except IndexError:
            return None

    def tag(self) -> str | None:
        rest = self.byte() + self.body[self.at + 1 : self.at + 6].lower()
        if rest.startswith(b"<!--"):
            self.at = self.body.find(b"-->", self.at + 2) + 2
            if self.at < 2:
                raise IndexError
        elif rest[:5] == b"<meta" and rest[5:] in (b"\t", b"\n", b"\f", b"\r", b" ", b"/"):
            self.at += 5
            return self.meta()
        elif rest[:1] == b"<" and rest[1:].removeprefix(b"/")[:1].isalpha():
            while self.byte() not in BLANKS + b">":
                self.at += 1
            while self.attribute() is not None:
                pass
        elif rest[:2] in (b"<!", b"</", b"<?"):
            self.at = self.body.index(b">", self.at) if b">" in self.body[self.at :] else 1 << 30
        return None

    def meta(self) -> str | None:
        found: dict[bytes, bytes] = {}
        while (pair := self.attribute()) is not None:
            found.setdefault(*pair)
        if b"charset" in found:
            return encoding_of(found[b"charset"].decode("latin-1"))
        if found.get(b"http-equiv") == b"content-type":
            return self.extracted(found.get(b"content", b""))
        return None

    @staticmethod
    def extracted(content: bytes) -> str | None:
        after = content
        while b"charset" in after:
            after = after.partition(b"charset")[2].lstrip(BLANKS)
            if after.startswith(b"="):
                value = after[1:].lstrip(BLANKS)
                quote = value[:1]
                if quote in (b'"', b"'") and quote:
                    label, closed, _ = value[1:].partition(quote)
                    return encoding_of(label.decode("latin-1")) if closed else None
                label = value.replace(b";", b" ").split(None, 1)[0] if value.strip(b"; ") else b""
                return encoding_of(label.decode("latin-1"))
        return None

    def attribute(self) -> tuple[bytes, bytes] | None:
        while self.byte() in BLANKS + b"/":
            self.at += 1
        if self.byte() == b">":
            return None
        name = value = b""
        while self.byte() not in BLANKS + b"/>" and not (self.byte() == b"=" and name):
            name += self.byte()
            self.at += 1
        while self.byte() in BLANKS:
            self.at += 1
        if self.byte() != b"=":
            return name, b""
        self.at += 1
        while self.byte() in BLANKS:
            self.at += 1
        if (quote := self.byte()) in b"\"'":
            self.at += 1
            while self.byte() != quote:
                value += self.byte()
                self.at += 1
            self.at += 1
            return name, value
        while self.byte() not in BLANKS + b">":
            value += self.byte()
            self.at += 1
        return name, value


PIECES = (
    *("<meta", "<META", "<p", "</p", "<!--", "-->", "<!", "<?", ">", "/", "=", " ", "\n", ";", "x"),
    *("charset", "charset=koi8-r", "charset = utf-8", "charset='none'", "content", "content="),
    *("http-equiv=content-type", "http-equiv='Content-Type'", "'charset=big5'", '"charset=gbk"'),
    *(KOI8, "<meta charset=none>", "<meta http-equiv=content-type content='charset=big5'>"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_prescan_agrees_with_the_steps_of_the_standard(page: str) -> None:
    body = page.encode() + b" ></p x='' y=\"\">"  # so that no tag is open at the end
    assert declared_in_meta(body) == Prescan(body).run()


@pytest.mark.parametrize(
    "unit", [b"<!--", b"<meta charset ", b"<a '", b'<a b="', b"<p =", b"</", b"<meta charset='"]
)
def test_its_time_is_linear(unit: bytes) -> None:
    start = time.process_time()
    declared_in_meta(b"charset" + unit * PRESCAN_BYTES)
    assert time.process_time() - start < 0.2
