"""Functions in C find in texts what their definitions in Python find.

To watch each access, as `test_loops.py` says, compile `native/texts/*.c` to `_texts` with -O1.
"""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.format import analysis, joined_words, normalization, term_table, unspaced
from gossamer.native import TEXT_DEFINITIONS, TEXTS
from gossamer.parse import parsed_page
from gossamer.parse.html import html_page, lines, walk
from gossamer.parse.maintext import threads
from gossamer.parse.step import page_writer
from gossamer.web import directions, sketches, urls

DEFINED_IN = (
    analysis,
    directions,
    html_page,
    joined_words,
    lines,
    normalization,
    page_writer,
    parsed_page,
    sketches,
    term_table,
    threads,
    unspaced,
    urls,
    walk,
)
compiled_only = pytest.mark.skipif(TEXTS is None, reason="not compiled")


def both(name: str, *arguments: Any) -> Any:
    found = getattr(TEXTS, name)(*arguments)
    assert found == TEXT_DEFINITIONS[name](*arguments)
    return found


@compiled_only
def test_each_definition_is_a_function_in_c() -> None:
    assert {name for name in vars(TEXTS) if not name.startswith("__")} == TEXT_DEFINITIONS.keys()


@compiled_only
@given(st.lists(st.text("a é\0\n\t\x1f\x85\xa0\u2003\u3000あ\U0001f600\ud800") | st.text()))
@example([])
@example([""])
@example([" a  \n b\0\0c\xa0"])
@example(["a ", "あ", "\0", "\U0001f600\0b", "é", " あ\0", "c"])
def test_folded_lines(pieces: list[str]) -> None:
    found = both("fold_lines", pieces)
    assert found == [" ".join(line.split()) for line in "".join(pieces).split("\0")]


@compiled_only
@given(st.text("a é\0\n\t\x1f\x85\xa0\u2003あ\U0001f600\ud800") | st.text())
@example("a b")
@example(" ")
@example("a\tb")
def test_folded_texts(text: str) -> None:
    assert both("fold", text) == " ".join(text.split())


PROPERTY = st.sampled_from(
    ["itemprop", "ItemProp", "itemprо", "ITEMPRO", "p", "i", "İ", "\t\r\n", "é"]
)


@compiled_only
@given(st.lists(PROPERTY).map("".join), st.sampled_from([0, 1, 1015, 1016, 1017, 1023, 2047]))
@example("itemprop", 1024)
def test_mentions(text: str, before: int) -> None:
    markup = "x" * before + text
    for page in (markup, markup.encode(), markup.encode("ascii", "ignore").decode()):
        both("mentions", page, "itemprop")
        both("mentions", page, "application/rsl+xml")


@compiled_only
def test_words_that_are_mentioned_are_of_small_letters() -> None:
    assert TEXTS is not None
    for wrong in ("short", "Itemprop", "item_prop", "itempropé", b"itemprop"):
        with pytest.raises(TypeError):
            TEXTS.mentions("", wrong)


STAMPS = st.text("0129:h./-é३ a", max_size=14)


@compiled_only
@given(st.lists(STAMPS | st.text(max_size=8)))
@example(["2024", "in 2024", "2024 was", "12024 x", "x 12024", "1899", "٢٠:٣٠", "a" * 96 + "9:15"])
@example(["3 hours", "3", "3000 hours", "a" * 97 + "9:15", "5h30", "5h300", "1.2.3", "1-2"])
def test_stamps(texts: list[str]) -> None:
    both("find_stamps", texts)


@compiled_only
@given(st.text("a\xe9\u2029\u202a\u202e\u202f\u2065\u2066\u2069\u206a\U0001202a"))
def test_overrides(text: str) -> None:
    both("has_overrides", text)


HREFS = st.lists(
    st.text("aZ0/.#-~_:?é\0")
    | st.sampled_from(["../", "./", "/", "http://", "https://", "a.", "b-1.", "xy", "x", "é", "#"])
)
SITES = st.sampled_from(["http://h.example", "https://h.example:81", "file://", ""])
FOLDERS = st.lists(st.sampled_from(["a/", "b.c/", "~/"]), max_size=4).map("".join)


@compiled_only
@given(st.lists(HREFS.map("".join)), SITES, FOLDERS, st.booleans())
@example(
    [
        *("", "#", "/", "a#é", "../#", "../../a//", "..", "../..", "a/.", ".a", "a./", "a/", "//a"),
        *(
            "http://a.b/",
            "http://a.bc/d",
            "http://a.bc",
            "https://a.1b/c",
            "http://a1.bc/d",
            "http://",
        ),
        *("http://a.b.c.de/f", "http://a.b.c.d.ef/g", "http://ab/c", "http://a..bc/d", "http:a"),
        *(f"http://{'a' * 60}.{'b' * 60}/c", f"http://{'a' * 61}.bc/d", f"http://a.{'b' * 61}/c"),
    ],
    "http://h.example",
    "a/b/",
    True,
)
def test_plain_urls(hrefs: list[str], origin: str, folders: str, is_web: bool) -> None:
    both("plain_urls", hrefs, origin, origin and f"{origin}/{folders}", is_web)


@compiled_only
def test_plain_urls_of_other_arguments() -> None:
    for wrong in (("a",), (["a"], "b", "c", True), ([1], "", "", True), (["a"], "", "é", True)):
        with pytest.raises(TypeError):
            TEXTS.plain_urls(*wrong)  # type: ignore[union-attr]


LINES = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "あ", "\0", "😀"])).map("\n".join)


@compiled_only
@given(LINES, LINES)
@example("", "")
@example("a\nb\na\n\nc", "b\n")
@example("x\na\nab\ny\na\n", "a\na\nab")
@example("a\n\n\nb\na\nb", "a\n\nb")
def test_lines_outside(text: str, other: str) -> None:
    both("lines_outside", text, other)


RUNS = st.text(
    "aZ9_- .,\n\xe9\u0301\u0905\u094d\u200c"
    "\u0e01\u0e33\u0e38\u0e40\u0e49\u0e3f\u0eb2\u0ec9"
    "\u1000\u1031\u1039\u103a\u1780\u17d2\u17b7\u17b3"
    "\u3005\u3042\u3099\u30fc\u3001\u6f22\uac00\uac01\uf900\U0001d400\U00020000\U00040000\ud800"
)


@compiled_only
@given(RUNS | st.text())
@example("")
@example("\u1000\u1039\u1000\u103a\u1039a \u1780\u17d2\u1780\u17d2")
@example("\u0e49\u0e01 \u6f22\uac00\uac01\u6f22\u5b57")
def test_words_and_pairs(text: str) -> None:
    classes = unspaced._classes()
    assert both("space_words", text, classes).split() == [
        match[0] for match in unspaced.word_spans(text)
    ]
    both("pair_clusters", text, classes)


@compiled_only
def test_each_character_alone_and_between_others() -> None:
    """Of the ideographs of plane 2, every sixteenth."""
    every = [chr(code) for code in (*range(0x20000), *range(0x20000, 0x30000, 16))]
    for before, behind in (("", ""), ("a", "\u0e01"), ("\u17d2\u1780\u17d2", "\uac00")):
        text = " ".join([before + char + behind for char in every])
        both("space_words", text, unspaced._classes())
        both("pair_clusters", text, unspaced._classes())
        both("special_characters", text, normalization._classes())
        both("hyphened_words", text.replace(" ", "-bc "))
        both("hyphened_words", text.replace(" ", " bc-"))


@compiled_only
@given(st.text("ab \xe9\u6f22\U0001f600\n") | st.text())
@example(" \xe9  a")
def test_words_beyond_ascii(words: str) -> None:
    both("words_beyond_ascii", words)


@compiled_only
@given(
    st.text("aZ\xe9 .-\u0e01\u304b\u4e00\U000323af\ud800") | st.text(),
    st.lists(st.sampled_from([0, 1, 5, 9, 1 << 30, 1 << 30 | 3]), min_size=1, max_size=99),
    st.integers(0, (1 << 63) - 1).map(lambda half: 2 * half + 1),
)
@example("ab" * 20 + " a" * 20, [0, *range(98), 0], 3)
def test_hashes_of_words(text: str, items: list[int], base: int) -> None:
    for last in ([], [1 << 31]):
        table = array("I", items + last).tobytes()
        found = both("hash_words", text, table, base)
        too_far = bool(last) and any(ord(c) >= len(items) for c in text)
        assert (found is None) == too_far


@compiled_only
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("a", bytes(4)), TypeError),
        ((b"a", bytes(4), 1), TypeError),
        (("a", "abcd", 1), TypeError),
        (("a", bytes(3), 1), TypeError),
        (("a", bytes(4), 1.0), TypeError),
        (("a", bytes(4), -1), OverflowError),
        (("a", bytes(4), 1 << 64), OverflowError),
    ],
)
def test_other_tables_of_letters_are_refused(
    arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        getattr(TEXTS, "hash_words")(*arguments)  # noqa: B009  # it may be None


SPECIAL = st.text(
    "aLl\u0431\u05d0'\"\u2019\u00b7\u0e40\u0e33\xad\u0301\ufb01\u6f22\U0001f600\ud800"
)


@compiled_only
@given(SPECIAL | st.text())
@example("\u0e40\u0e40\u0e40")
@example("l\u00b7l\u00b7L l\u00b7 \u00b7l")
@example("\u05d0\"\u05d0'\u2019\u05d0\u2019")
@example("".join(map(chr, range(0x10000, 0x10000 + 500))))
def test_special_characters(text: str) -> None:
    both("special_characters", text, normalization._classes())


@compiled_only
@given(
    st.text("a\xe9\u6f22\U0001f600") | st.text(),
    st.dictionaries(st.sampled_from("a\xe9\u6f22\U0001f600b").map(ord), st.text(max_size=3)),
)
@example("ab", {97: "b", 98: "c"})
@example("a" * 1_000, {97: "bcd"})
@example("\U0001f600", {0x1F600: ""})
@example("\ud800a", {0xD800: "\udfff"})
def test_translated(text: str, table: dict[int, str]) -> None:
    both("translate", text, table)


@compiled_only
@pytest.mark.parametrize(
    "arguments", [("a",), ("a", []), (b"a", {}), ("a", {"a": "b"}), ("a", {97: 1})]
)
def test_other_tables_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        getattr(TEXTS, "translate")(*arguments)  # noqa: B009  # it may be None


@compiled_only
@given(st.text("ab1-_ \n\xe9\xb2\u0663\u0301\u6f22") | st.text())
@example("e-mail -mail e- e-m abcde-fg abcdef-gh a-" + "b" * 40 + " a-" + "b" * 41 + " 1-bc a1-bc")
@example("a-bc-de x_a-bc a-bc1 a-bc_ \xe9-mail a-\xb2c")
def test_hyphened_words(text: str) -> None:
    both("hyphened_words", text)


@compiled_only
@given(st.text("0123,.' \xa0\u2009\u2019\u202f-a", max_size=12))
@example("1,234")
@example("1,2345 12.34 1;234 ,234 1 234")
def test_groups_of_digits(text: str) -> None:
    both("has_groups", text)


@compiled_only
@given(st.text("aé馬马一\uffff\U00020000\U0010ffff") | st.text())
def test_marked_characters(text: str) -> None:
    marks = bytearray(0x10000)
    marks[ord("é")], marks[ord("马")], marks[0xFFFF] = 1, 2, 255
    found = both("marked_characters", text, bytes(marks))
    assert found == "".join(dict.fromkeys(c for c in text if c in "é马\uffff" or c > "\uffff"))


WITH_CLASSES = ["space_words", "pair_clusters", "special_characters", "marked_characters"]


@compiled_only
@pytest.mark.parametrize("name", WITH_CLASSES)
@pytest.mark.parametrize("arguments", [(), ("a",), ("a", b""), (b"a", bytes(0x10000)), ("a", "b")])
def test_tables_of_other_sizes_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="a text, and bytes for each class"):
        getattr(TEXTS, name)(*arguments)


@compiled_only
@pytest.mark.parametrize("texts", [("a\ud800", "a"), ("a", "\udfff")])
def test_lines_with_surrogates_are_refused(texts: tuple[str, str]) -> None:
    with pytest.raises(UnicodeEncodeError):
        getattr(TEXTS, "lines_outside")(*texts)  # noqa: B009  # it may be None


@compiled_only
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fold_lines", ("a",)),
        ("fold_lines", (["a", b"a"],)),
        ("find_stamps", ("a",)),
        ("find_stamps", ([b"a"],)),
        ("has_overrides", (b"a",)),
        ("lines_outside", ("a",)),
        ("lines_outside", ("a", b"a")),
    ],
)
def test_other_types_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(TEXTS, name)(*arguments)


def made(words: list[str]) -> list[str]:
    """Two terms of long words, one of others, and none of `a`."""
    return [f"{word[:-2]} {word}" if len(word) > 9 else word.strip("a") for word in words]


CHARS = st.characters(exclude_categories=["Cs"])
TEXTS_OF_WORDS = st.lists(
    st.text("aAbZ09 -_.\0\x80é中😀", max_size=60) | st.text(CHARS), max_size=4
)


@compiled_only
@given(st.lists(TEXTS_OF_WORDS, max_size=4), st.integers(0, 20))
@example([["a" * 7, "a" * 8, "a" * 9, "aaaaaaaaB"], ["É é", "b" * 3_000]], 1)
@example([[f"word{n}" for n in range(3_000)], [f"word{n} " * 2 for n in range(3_000)]], 9_999)
@example([[], [""], ["a", "b a b"]], 9)
def test_terms_of_texts(calls: list[list[str]], most: int) -> None:
    tables = getattr(TEXTS, "TermTable")(most), TEXT_DEFINITIONS["TermTable"](most)  # noqa: B009
    asked: list[list[str]] = []

    def make(words: list[str]) -> list[str]:
        asked.append(words)
        return made(words)

    for texts in calls:
        asked.clear()
        found, defined = (table.write(texts, make) for table in tables)
        assert found == defined
        assert asked[1:] == asked[:1]  # both know the same words


@compiled_only
def test_a_table_survives_what_the_maker_of_terms_does() -> None:
    table = getattr(TEXTS, "TermTable")(2)  # noqa: B009
    assert table.write(["a b"], lambda _: ["x", "y"]) == (["x y"], "a b")
    with pytest.raises(ZeroDivisionError):
        table.write(["c"], lambda _: 1 // 0)
    for wrong in ([], ["x", "y"], ["x", 1], "x", None):
        with pytest.raises(TypeError):
            table.write(["c"] if wrong != ["x", 1] else ["c d"], lambda _, wrong=wrong: wrong)

    others = [["one two"], ["three four"]]

    def write_others(words: list[str]) -> list[str]:
        """Let the table be cleared meanwhile, once, as by another thread."""
        while others:
            table.write(others.pop(), lambda others: others)
        return [word.upper() for word in words]

    assert table.write(["c e", "E f"], write_others) == (["C E", "E F"], "c e f")


@compiled_only
@pytest.mark.parametrize("arguments", [(), (["a"],), ("a", list), ([b"a"], list)])
def test_a_table_wants_a_list_of_texts(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        getattr(TEXTS, "TermTable")(1).write(*arguments)  # noqa: B009
    with pytest.raises(UnicodeEncodeError):
        getattr(TEXTS, "TermTable")(1).write(["\ud800"], list)  # noqa: B009
