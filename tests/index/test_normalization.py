from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.format.analysis import OTHER, STEMMERS, analyzer_for
from gossamer.index.format.han_variants import HAN, replaced_variants
from gossamer.index.format.normalization import (
    Aligned,
    compose_characters,
    normalize,
)
from gossamer.index.format.unspaced import spaced, words_of

CHARACTERS = st.text(
    st.sampled_from(
        "aBé \n'’\"·l-\u00ad\u200b\u200c\u200d\u202e\u2060\ufeff\u0301\u0345ÅµﬁⅧ㎏½™Ａ１ﾊﾞİßςΆᾳώ"
        "йёѝєіʼ\u05d1\u05bc\u05f4ا\u0622\u064b\u0640ی\u06f3हि\u0902\u0901द\u093cक\u0958น\u0e49\u0e33"
        "\u0e40\u0e4d\u0eb3\u0d7b\u0d4d\u0d02\u0d17\u17d2\u178a電発각\u1100\u1161日ｶ🦀\U0001f468\U0001f3fd\ufe0f\U0001f1e9\U0001f1eaê𝐀"
    )
)
TEXT = st.one_of(CHARACTERS, st.text())

SAME = [
    ("kana", "ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
    ("full width", "Ｇｏｓｓａｍｅｒ２４", "Gossamer24"),
    ("square", "㎏ ㎢", "kg km2"),
    ("micro", "µ", "μ"),
    ("ohm", "\u2126", "Ω"),
    ("ligature", "ﬁnd oﬃce", "find office"),
    ("numeral", "Ⅷ", "VIII"),
    ("mathematical letters", "𝐀𝑏", "Ab"),
    ("soft hyphen", "Ge\u00adsamt", "Gesamt"),
    ("word joiner", "a\u2060b", "ab"),
    ("zero width space", "data\u200bbase", "database"),
    ("direction", "\u202eabc\u202c", "abc"),
    ("byte order mark", "\ufeffabc", "abc"),
    ("hyphen", "e\u2011mail", "e-mail"),
    ("decomposed", "Cafe\u0301", "Café"),
    ("stress", "Москва\u0301", "Москва"),
    ("optional letters", "ёлка", "елка"),
    ("U+0027", "об'єкт", "обєкт"),
    ("U+2019", "об\u2019єкт", "обєкт"),
    ("U+02BC", "об\u02bcєкт", "обєкт"),
    ("Hebrew points", "בְּרֵאשִׁית", "בראשית"),
    ("Hebrew presentation forms", "\ufb2aל", "של"),
    ("gershayim", "צה\u05f4ל", "צהל"),
    ("gershayim of keyboards", 'צה"ל', "צהל"),
    ("maqaf", "בן\u05beגוריון", "בן גוריון"),
    ("harakat", "مُحَمَّد", "محمد"),
    ("tatweel", "صـــورة", "صورة"),
    ("alef", "إسلام أحمد آمن", "اسلام احمد امن"),
    ("Persian letters", "کتابی", "كتابي"),
    ("heh", "خانۀ", "خانه"),
    ("presentation forms", "\ufedb\ufe98\ufe8e\ufe8f", "كتاب"),
    ("Arabic digits", "١٩٩٠", "1990"),
    ("Persian digits", "۱۹۹۰", "1990"),
    ("Devanagari digits", "१९९०", "1990"),
    ("Bengali digits", "১৯৯০", "1990"),
    ("Thai digits", "๑๙๙๐", "1990"),
    ("nukta", "क़लम ज़मीन", "कलम जमीन"),
    ("anusvara", "हिंदी", "हिन्दी"),
    ("chandrabindu", "चाँद", "चांद"),
    ("tonos", "Οδύσσεια", "Οδυσσεια"),
    ("polytonic", "Ὀδύσσεια", "Οδυσσεια"),
    ("iota subscript", "τῷ", "τω"),
    ("final sigma", "λόγος", "λογοσ"),
    ("sara am", "น้ำ", "น\u0e4d\u0e49า"),
    ("sara am in parts", "น้\u0e4dา", "น้ำ"),
    ("sara ae", "เเละ", "และ"),
    ("Lao am", "\u0e99\u0ec9\u0eb3", "\u0e99\u0ecd\u0ec9\u0eb2"),
    ("jamo", "\u1112\u1161\u11ab", "한"),
    ("comma below", "ştiință", "știinţă"),
    ("ela geminada", "col\u00b7legi", "collegi"),
    ("l with dot", "co\u0140legi", "collegi"),
    ("skin tone", "👍🏽", "👍"),
    ("variation selector", "❤\ufe0f", "❤"),
    ("joined emoji", "👩\u200d💻", "👩💻"),
    ("traditional", "電腦與網路", "电脑与网路"),
    ("several traditional forms", "發髮 乾幹 裏裡 為爲", "发发 干干 里里 为为"),
    ("new and old kanji", "発鉄桜国 仏", "發鐵櫻國 佛"),
    ("compatibility ideograph of a variant", "\uf9dc", "\u9686"),
    ("beyond the BMP", "𫗭", "喂"),
    ("Yiddish", "\u05f0\u05f1\u05f2 \ufb1f", "\u05d5\u05d5\u05d5\u05d9\u05d9\u05d9 \u05d9\u05d9"),
    ("letters with nukta", "\u0929\u0931\u0934", "\u0928\u0930\u0933"),
    ("nasal of Kannada", "ಹಿಂದಿ", "ಹಿನ್ದಿ"),
    ("nasal of Malayalam", "സംഗീതം", "സങ്ഗീതം"),
    ("khanda ta", "\u09ce", "\u09a4\u09cd\u200d"),
    ("chillu", "\u0d7b\u0d7c", "\u0d28\u0d4d\u200d\u0d30\u0d4d\u200d"),
    ("chillu before a letter", "എൻ\u0d4dറെ", "എന്റെ"),
    ("Tamil sri", "\u0bb6\u0bcd\u0bb0\u0bc0", "ஸ்ரீ"),
    ("Khmer coeng da", "\u17d2\u178a", "\u17d2\u178f"),
    ("Armenian question", "ինչո\u055eւ", "ինչու"),
    ("Azerbaijani", "Azərbaycan", "Azerbaycan"),
    ("Cyrillic of manuscripts", "\u1c80\u1c81", "вд"),
    ("Arabic separators", "١٬٢٥٠٫٥", "1,250.5"),
]


@pytest.mark.parametrize(("one", "other"), [pytest.param(a, b, id=name) for name, a, b in SAME])
def test_spellings_of_a_word_are_equal(one: str, other: str) -> None:
    assert normalize(one).split() == normalize(other).split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("й", "и"),
        ("ї", "і"),
        ("が", "か"),
        ("ゕ", "ヵ"),
        ("Java™", "JavaTM"),
        ("5½", "51/2"),
        ("été", "ete"),
        ("l'heure", "lheure"),
        ("ة", "ه"),
        ("คํา", "คา"),
        ("🇩🇪", "🇫🇷"),
        ("欠", "缺"),
        ("沪", "濾"),
        ("連", "聯"),
        ("\u0b95\u0b82\u0b95", "\u0b95\u0b99\u0bcd\u0b95"),
    ],
)
def test_other_words_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


def test_decimal_digits_have_their_value() -> None:
    digits = [char for char in map(chr, range(0x20000)) if char.isdecimal()]
    assert [normalize(char) for char in digits] == [str(unicodedata.decimal(c)) for c in digits]


def test_compatibility_letters_are_what_nfkc_makes_of_them() -> None:
    """But for Greek iotas below vowels, which NFKC puts beside them."""
    analyze = analyzer_for(OTHER).terms.analyze
    others = set()
    for char in map(chr, range(0x80, 0x20000)):
        plain = unicodedata.normalize("NFKC", char)
        if char.isalpha() and plain != char and analyze(char) != analyze(plain):
            others.add(unicodedata.name(char).split()[0])
    assert others == {"GREEK"}


def test_characters_with_other_forms_are_replaced_by_one_that_stays() -> None:
    replaced = replaced_variants()
    assert replaced.keys().isdisjoint(replaced.values())
    assert all(len(char) == len(other) == 1 for char, other in replaced.items())
    assert all(HAN.match(char) for pair in replaced.items() for char in pair)


def test_a_fraction_is_no_part_of_a_number() -> None:
    assert re.split(r"\W+", normalize("5½ m")) == ["5", "1", "2", "m"]


def test_an_emoji_is_a_word() -> None:
    assert normalize("a🦀b").split() == ["a", "u1f980", "b"]
    assert normalize("🇩🇪").split() == ["u1f1e91f1ea"]


@given(TEXT)
def test_a_normalised_text_is_normalised(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@given(TEXT)
def test_equivalent_texts_are_one(text: str) -> None:
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(
        unicodedata.normalize("NFC", text)
    )


@given(st.lists(TEXT))
@example(["\u2122", "\xb8"])
def test_words_do_not_depend_on_those_around_them(texts: list[str]) -> None:
    words = [word for text in texts for word in text.split()]
    assert normalize(" ".join(words)).split() == [
        part for word in words for part in normalize(word).split()
    ]


@given(TEXT)
def test_spans_are_in_the_text_and_in_order(text: str) -> None:
    aligned = Aligned(text)
    ends = [aligned.span(at, at + 1) for at in range(len(aligned.text))]
    assert all(0 <= start <= end <= len(text) for start, end in ends)
    assert sorted(ends) == ends


@pytest.mark.parametrize(
    ("text", "word", "shown"),
    [
        ("Das Ge\u00adsamt\u00adkonzept da", "Gesamtkonzept", "Ge\u00adsamt\u00adkonzept"),
        ("12 ㎏ da", "kg", "㎏"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "バック", "ﾊﾞｯｸ"),
        ("אֶת בְּרֵאשִׁית", "בראשית", "בְּרֵאשִׁית"),
        ("Наш обʼєкт тут", "обєкт", "обʼєкт"),
        ("a 👍🏽 b", "u1f44d", "👍🏽"),
        ("使用電腦ﾊﾞ上網", "电脑", "電腦"),
        ("使用電腦ﾊﾞ上網", "上网", "上網"),
    ],
)
def test_a_word_is_found_where_it_stands(text: str, word: str, shown: str) -> None:
    text = unicodedata.normalize("NFC", text)
    aligned = Aligned(text)
    at = aligned.text.index(word)
    start, end = aligned.span(at, at + len(word))
    assert text[start:end] == unicodedata.normalize("NFC", shown)


def test_what_is_shown_has_no_invisible_characters_but_joiners() -> None:
    assert compose_characters("a\u00adb\u202e\u2060 می\u200cخواهم e\u0301") == "ab می\u200cخواهم é"
    assert compose_characters("e\u200b\u0301") == "é"
    assert compose_characters(None) == ""


@given(st.sampled_from([*sorted(STEMMERS), OTHER]), TEXT)
def test_no_term_is_empty_in_any_language(language: str, text: str) -> None:
    analyzer = analyzer_for(language)
    assert all(analyzer.terms.analyze(text))
    assert all(analyzer.exact_form.analyze(text))
    assert all(term and text[start:end] for term, (start, end) in analyzer.words(text))


@pytest.mark.parametrize("word", ["όταν", "έως", "είτε", "ίδια"])
def test_a_word_without_a_stem_has_no_term(word: str) -> None:
    assert analyzer_for("el").terms.analyze(f"{word} κρίνος") == ["κρινοσ"[:-2]]
    assert analyzer_for("el").words(word) == []


@given(TEXT)
def test_words_between_spaces_are_the_words(text: str) -> None:
    assert spaced(text).split() == [*words_of(text)]
