r"""Control words of RTF (Microsoft's specification 1.9.1), as far as text depends on them.

As nothing is rendered, few matter: those for characters, for line ends, for what is hidden, and for
destinations, which are groups with something other than the document's text.
"""

from __future__ import annotations

import re
from typing import Final

TEXT: Final = "text"
SKIPPED: Final = "skipped"
CONTAINER: Final = "container"
"""A group of alternatives or properties, of which one group inside is text."""
ASIDE: Final = "aside"
"""A note or a text box: text with lines of its own, in the middle of another line."""
INSTRUCTION: Final = "fldinst"
RESULT: Final = "fldrslt"
FONTS: Final = "fonttbl"
STYLES: Final = "stylesheet"
ALTERNATIVE: Final = "ud"
"""The group of an alternative in Unicode, whose content goes where the alternatives are."""

DESTINATIONS = {
    **dict.fromkeys(
        b"""aftncn aftnsep aftnsepc annotation atnauthor atnid background bkmkend bkmkstart buptim
        bxe category colortbl comment company doccomm docvar filetbl fldtype footer footerf footerl
        footerr ftncn ftnsep ftnsepc header headerf headerl headerr hlinkbase keywords
        linkval listoverridetable listtable manager mmathPict nonesttables nonshppict objdata
        operator pict printim private propname rsidtbl rxe shprslt staticval subject tc tcn
        template themedata txe xe xmlnstbl""".split(),
        SKIPPED,
    ),
    **dict.fromkeys((b"shpinst", b"do", b"upr"), CONTAINER),
    **dict.fromkeys((b"footnote", b"shptxt", b"dptxbxtext"), ASIDE),
    b"ud": ALTERNATIVE,
    b"title": "title",
    b"author": "author",
    b"creatim": "published",
    b"revtim": "modified",
    b"fldinst": INSTRUCTION,
    b"fldrslt": RESULT,
    b"fonttbl": FONTS,
    b"stylesheet": STYLES,
}
"""Headers and footers are skipped, as they are on each page; so are entries of indexes and tables
of contents, which are hidden where they stand."""
IN_CONTAINERS = frozenset((ASIDE, ALTERNATIVE))
METADATA = frozenset(("title", "author", "published", "modified"))
STARRED = frozenset((b"fldinst", b"shpinst", b"do", b"ud", b"moMath", b"moMathPara"))
r"""Destinations that are marked by `\*`, which old readers skip."""
MATH_PROPERTIES = re.compile(rb"m[A-Za-z]+Pr\Z")

DATE_PARTS = {b"yr": "", b"mo": "-", b"dy": "-", b"hr": "T", b"min": ":", b"sec": ":"}
HIDDEN = frozenset((b"v", b"deleted", b"mvf"))
"""Hidden text, and what is deleted or moved away while changes are tracked."""
LINE_ENDS = frozenset((b"par", b"sect", b"page", b"row", b"nestrow", b"column"))
CHARACTERS = {
    **dict.fromkeys((b"tab", b"cell", b"nestcell", b"emspace", b"enspace", b"qmspace"), " "),
    **dict.fromkeys((b"line", b"lbr", b"softline"), " "),
    b"emdash": "—",
    b"endash": "–",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"zwnj": "\u200c",
    b"zwj": "\u200d",
}
SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
PARAGRAPH_SYMBOLS = frozenset((b"\r", b"\n"))
r"""A backslash before the end of a line is `\par`."""

CHARACTER_SETS = {b"mac": "mac-roman", b"pc": "cp437", b"pca": "cp850"}
r"""Of the whole file, where `\ansi` and `\ansicpg` are not used."""
PICTURES: Final = "pictures"
SYMBOL_FONT: Final = "symbol"
CODECS = {
    0: "cp1252",
    2: PICTURES,
    77: "mac-roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
"""Codecs of fonts by Windows character set. Those of symbols have no encoding of text."""
