"""Numbers as Excel shows them: dates, times, percent, currencies (ISO/IEC 29500-1 §18.8.30).

A cell has a number and a style; the style has a format code, such as `d.m.yyyy`, `0.0%` or
`#,##0.00 "€";[Red]-#,##0.00 "€"`. Formats whose form depends on the reader's settings, as the
built-in dates, are shown as ISO 8601; so are months and days in words of other languages than
English. Fractions are shown as decimals.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xml_markup import parse_xml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_CODE_CHARS = 255
"""Length of a format code that Excel accepts."""
MAX_FORMATS = 65_536
MAX_DECIMALS = 30

_END = 2_958_466
"""The serial number of the day after 9999-12-31."""
_LEAP_DAY = 60
"""The serial number of 1900-02-29, which Excel counts and which never was (§18.17.4.1)."""
_SIGNIFICANT_DIGITS = 15
"""Digits that Excel keeps of a number."""
_ISO_DATE, _ISO_MINUTES = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
_BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: _ISO_DATE,
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: _ISO_MINUTES,
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), _ISO_DATE),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}
"""Formats that files do not define. Those from 27 on are of East Asian editions."""
_TOKEN = re.compile(
    r"""(?P<literal>"[^"]*"?|\\.|!.)|_(?P<width>.)|\*(?P<fill>.)
    |(?P<bracket>\[[^\]]*\]?)|(?P<general>General)
    |(?P<noon>AM/PM|A/P)|(?P<power>E[+-])
    |(?P<date>y+|m+|d+|h+|s+|e+|b+|g+)
    |(?P<digit>[0#?])|(?P<sign>[.,%/])|(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_LOCALE = re.compile(r"\[\$([^\]-]*)(?:-([0-9a-f]+))?\]", re.IGNORECASE)
_LANGUAGE_BITS, _ENGLISH = 0x3FF, 0x09
"""The language of a Windows locale."""
_IN_WORDS = 3
"""Letters of a month or day from which on it is shown in words."""


class _Token(NamedTuple):
    kind: str
    text: str


_POINT, _COMMA, _TEXT = _Token("sign", "."), _Token("sign", ","), _Token("other", "@")


class NumberFormats:
    """The formats of a workbook, by the number of a cell's style."""

    def __init__(self, styles: bytes, *, from_1904: bool) -> None:
        self._from_1904 = from_1904
        self._codes: dict[int, str] = dict(_BUILT_IN)
        self._cells: list[int] = []
        self._formats: dict[int, _Format | None] = {}
        self._in_cells = False
        with suppress(Broken):
            parse_xml(styles, self._start, self._end)

    def shown(self, value: str, style: str) -> str:
        """Return the number of a cell as it is shown; text that is no number stays."""
        try:
            number = float(value)
            style_number = int(style or 0)
        except ValueError:
            return value
        if not abs(number) < 1e300:  # noqa: PLR2004  # Excel ends at 1e308
            return value
        if style_number not in self._formats:
            code = self._code_of(style_number)
            self._formats[style_number] = _Format(code, self._from_1904) if code else None
        form = self._formats[style_number]
        found = None if form is None else form.shown(number)
        return _general(value, number) if found is None else found

    def _code_of(self, style: int) -> str:
        number = self._cells[style] if 0 <= style < len(self._cells) else 0
        code = self._codes.get(number, "")
        return code if len(code) <= MAX_CODE_CHARS else ""

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "numFmt" and len(self._codes) < MAX_FORMATS:
            with suppress(ValueError):
                self._codes[int(attributes.get("numFmtId", ""))] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._in_cells = True
        elif name == "xf" and self._in_cells and len(self._cells) < MAX_FORMATS:
            number = attributes.get("numFmtId", "")
            self._cells.append(int(number) if number.isdecimal() and len(number) < 9 else 0)  # noqa: PLR2004

    def _end(self, name: str) -> None:
        if name == "cellXfs":
            self._in_cells = False


def _general(value: str, number: float) -> str:
    """Return a number in the format General: without digits that only its encoding has."""
    if len(value) <= _SIGNIFICANT_DIGITS and "e" not in value.lower():
        return value
    return f"{number:.{_SIGNIFICANT_DIGITS}g}"


class _Format:
    """A format code. Its sections are for positive numbers, negative ones and zero."""

    def __init__(self, code: str, from_1904: bool) -> None:
        self._from_1904 = from_1904
        self._sections = [_Section(tokens) for tokens in _sections(code)]

    def shown(self, number: float) -> str | None:
        """Return a number as it is shown; None if it is shown as in the format General."""
        sections = self._sections
        if any(section.has_condition for section in sections):
            return None
        chosen = 1 if number < 0 and len(sections) > 1 else 0
        if number == 0 and len(sections) > 2:  # noqa: PLR2004  # the third one is for zero
            chosen = 2
        section = sections[chosen]
        if section.is_date:
            return section.date(number, self._from_1904)
        shown = section.number(abs(number))
        if shown is None:
            return None
        return f"-{shown}" if number < 0 and not chosen and re.search("[1-9]", shown) else shown


def _sections(code: str) -> list[list[_Token]]:
    sections: list[list[_Token]] = [[]]
    for found in _TOKEN.finditer(code):
        kind = found.lastgroup or ""
        text = found[kind]
        if kind == "other" and text == ";":
            sections.append([])
        elif kind == "literal":
            sections[-1].append(_Token("other", text[1:].removesuffix('"')))
        else:
            sections[-1].append(_Token(kind, text))
    return sections


class _Section:
    def __init__(self, tokens: Sequence[_Token]) -> None:
        self.has_condition = False
        self._tokens: list[_Token] = []
        self._is_foreign = False
        for token in tokens:
            self._take(token)
        kinds = {token.kind for token in self._tokens}
        self.is_date = bool(kinds & {"date", "elapsed"}) and "general" not in kinds
        if self.is_date:
            self._mark_minutes()

    def _take(self, token: _Token) -> None:
        kind, text = token
        if kind == "bracket":
            if elapsed := _ELAPSED.match(text):
                self._tokens.append(_Token("elapsed", elapsed[1].lower()))
            elif locale := _LOCALE.match(text):
                language = int(locale[2] or "0", 16) & _LANGUAGE_BITS
                self._is_foreign = self._is_foreign or language not in (0, _ENGLISH)
                self._tokens.append(_Token("other", locale[1]))
            elif text[1:2] in "<>=":
                self.has_condition = True
        elif kind == "width":
            self._tokens.append(_Token("other", " "))
        elif kind == "date":
            self._tokens.append(_Token(kind, text.lower()))
        elif kind != "fill":
            self._tokens.append(token)

    def _mark_minutes(self) -> None:
        """An m after hours or before seconds is for minutes (§18.8.31)."""
        times = [n for n, token in enumerate(self._tokens) if token.kind in ("date", "elapsed")]
        for place, n in enumerate(times):
            text = self._tokens[n].text
            before = self._tokens[times[place - 1]].text if place else ""
            after = self._tokens[times[place + 1]].text if place + 1 < len(times) else ""
            if text in ("m", "mm") and (before[:1] == "h" or after[:1] == "s"):
                self._tokens[n] = _Token(self._tokens[n].kind, text.replace("m", "n"))

    def date(self, number: float, from_1904: bool) -> str | None:
        """Return a serial number as a date or a time; None if it is none."""
        if not 0 <= number < _END:
            return None
        digits = sum(token.kind == "digit" for token in self._tokens)
        unit_s = 10.0 ** -min(digits, 6)
        elapsed_s = round(number * 86_400 / unit_s) * unit_s
        if from_1904:
            start = datetime(1904, 1, 1)  # noqa: DTZ001  # sheets have no time zones
        else:
            start = datetime(1899, 12, 31 if number < _LEAP_DAY else 30)  # noqa: DTZ001
        try:
            moment = start + timedelta(seconds=elapsed_s)
        except OverflowError:
            return None
        words = any(
            token.kind == "date" and token.text[0] in "mdgb" and len(token.text) >= _IN_WORDS
            for token in self._tokens
        )
        if self._is_foreign and words:
            return moment.strftime("%Y-%m-%d")
        return self._written(moment, elapsed_s)

    def _written(self, moment: datetime, elapsed_s: float) -> str:
        pieces: list[str] = []
        half_day = any(token.kind == "noon" for token in self._tokens)
        fraction = f"{moment.microsecond:06}"
        for kind, text in self._tokens:
            if kind == "date":
                pieces.append(_part(text, moment, half_day))
            elif kind == "elapsed":
                unit_s = {"h": 3_600, "m": 60, "n": 60, "s": 1}[text[0]]
                pieces.append(str(int(elapsed_s // unit_s)).zfill(len(text)))
            elif kind == "noon":
                pieces.append(f"{'AP'[moment.hour >= 12]}{(text[1:2] == 'M' and 'M') or ''}")  # noqa: PLR2004
            elif kind == "digit":
                pieces.append(fraction[:1])
                fraction = fraction[1:]
            else:
                pieces.append(text)
        return "".join(pieces)

    def number(self, number: float) -> str | None:
        """Return a number that is not negative; None if it is shown as in the format General."""
        tokens = self._tokens
        kinds = [token.kind for token in tokens]
        signs = [token.text for token in tokens if token.kind == "sign"]
        if "general" in kinds or "/" in signs or _TEXT in tokens:
            return None
        if "digit" not in kinds:
            return "".join(token.text for token in tokens)
        first = kinds.index("digit")
        last = len(kinds) - 1 - kinds[::-1].index("digit")
        point = next((n for n, token in enumerate(tokens) if token == _POINT), len(tokens))
        after = [token.text for token in tokens[point + 1 :] if token.kind == "digit"]
        if "power" in kinds:
            decimals = kinds[point + 1 : kinds.index("power")].count("digit")
            return self._around(f"{number:.{min(decimals, MAX_DECIMALS)}E}", first, last)
        ends = max((n for n in range(min(point, last + 1)) if kinds[n] == "digit"), default=last)
        grouped = _COMMA in tokens[first:ends]
        thousands = sum(map(self._commas_after, {ends, last}))
        number *= 100.0 ** signs.count("%") / 1_000.0**thousands
        required = len("".join(after).rstrip("#?"))
        whole, _, digits = f"{number:.{min(len(after), MAX_DECIMALS)}f}".partition(".")
        return self._filled(
            whole, digits[:required] + digits[required:].rstrip("0"), point, grouped=grouped
        )

    def _commas_after(self, place: int) -> int:
        """Return how many commas follow a place: each of them divides by a thousand."""
        rest = self._tokens[place + 1 :]
        return len(rest) - len(list(dropwhile(_COMMA.__eq__, rest)))

    def _around(self, written: str, first: int, last: int) -> str:
        before = "".join(token.text for token in self._tokens[:first])
        return before + written + "".join(token.text for token in self._tokens[last + 1 :])

    def _filled(self, whole: str, decimals: str, point: int, *, grouped: bool) -> str:
        """Put digits in the places of a format, from the point to both sides."""
        places = [n for n, t in enumerate(self._tokens[:point]) if t.kind == "digit"]
        least = sum(self._tokens[n].text == "0" for n in places)
        whole = whole.lstrip("0").zfill(least)
        if grouped:
            whole = f"{int(whole or 0):,}".zfill(least) if whole else ""
            places = places[:1]
        digits: dict[int, str] = {}
        for n in reversed(places[1:]):
            digits[n], whole = whole[-1:], whole[:-1]
        if places:
            digits[places[0]] = whole
        pieces: list[str] = []
        for n, token in enumerate(self._tokens):
            if token.kind == "digit":
                if n < point:
                    pieces.append(digits.get(n, ""))
                else:
                    pieces.append(decimals[:1])
                    decimals = decimals[1:]
            elif token == _POINT:
                if n == point and decimals:
                    pieces.append(".")
            elif token != _COMMA:
                pieces.append(token.text)
        return "".join(pieces)


def _part(text: str, moment: datetime, half_day: bool) -> str:
    """Return a part of a date: `text` is a run of one letter; n stands for minutes."""
    hour = (moment.hour + 11) % 12 + 1 if half_day else moment.hour
    letter, length = text[0], len(text)
    if letter in "ye":
        year = moment.year
        return f"{year % 100:02}" if letter == "y" and length < _IN_WORDS else str(year)
    if letter == "m" and length >= _IN_WORDS:
        name = moment.strftime("%B")
        return name[:3] if length == _IN_WORDS else name[:1] if length == 5 else name  # noqa: PLR2004
    if letter == "d" and length >= _IN_WORDS:
        return moment.strftime("%a" if length == _IN_WORDS else "%A")
    values = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}
    return str(values[letter]).zfill(min(length, 2)) if letter in values else ""
