"""Characters of the font Symbol, whose codes are not those of any encoding of text.

Office writes its glyphs as bytes, or as characters of private use from U+F000 on (ISO/IEC 29500-1
§17.3.3.30). The table is Adobe's (PDF 1.7, annex D.6). Fonts of pictures, such as Wingdings, have
no characters.
"""

from __future__ import annotations

_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
"""From 0x20."""
_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
"""From 0xA0."""
_GLYPHS = {0x20 + n: each for n, each in enumerate(_LOW)} | {
    0xA0 + n: each for n, each in enumerate(_HIGH)
}
_PRIVATE_USE = range(0xE000, 0xF900)
_GLYPHS_OF_FONTS = 0xF000
"""The first of the characters of private use that stand for the glyphs of a font."""


def symbol(code: int, font: str) -> str:
    """Return the character of a glyph, which is given as a byte or as a character of private use.

    It is "" for the glyphs of other fonts of symbols.
    """
    glyph = code % _GLYPHS_OF_FONTS
    if font.strip().lower().startswith("symbol") and glyph in _GLYPHS:
        return _GLYPHS[glyph]
    return chr(code) if code > max(_GLYPHS) and code not in _PRIVATE_USE else ""
