from __future__ import annotations

import time
from typing import TYPE_CHECKING
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.listing.xml_reader import MAX_DEPTH, MAX_NODES, fold_xml_text, read_xml_elements
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from gossamer.parse.listing.xml_node import Node

RECORDS = frozenset(("item",))
Tree = tuple[str, dict[str, str], list["Tree | str"]]


def tree(node: Node) -> Tree:
    """Return a tree with adjacent pieces of text joined."""
    children: list[Tree | str] = []
    for child in node.children:
        if not isinstance(child, str):
            children.append(tree(child))
        elif children and isinstance(children[-1], str):
            children[-1] += child
        elif child:
            children.append(child)
    return node.name, dict(node.attributes), children


def records(text: str) -> list[Tree]:
    *found, document = read_xml_elements(text, RECORDS)
    assert not document.name
    return [tree(node) for node in found]


def texts(text: str) -> list[str]:
    return [fold_xml_text(node.text, 100) for node in read_xml_elements(text, RECORDS) if node.name]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<item>a &amp; b &#65;&#x42;&eacute;&nbsp;c</item>", "a & b ABé c"),
        ("<item>a & b &nope; &copy=1 &amp;amp;</item>", "a & b &nope; &copy=1 &amp;"),
        ("<item>a < b <3 > c</item>", "a < b <3 > c"),
        ("<item>a<![CDATA[<b>&amp;]]>c</item>", "a<b>&amp;c"),
        ("<item><!-- <item> -- -->a</item>", "a"),
        ("<item>a<?php echo ?>b</item>", "ab"),
        ("<item>&#0;&#55296;&#1114112;&#99999999;a\0\x01</item>", "\ufffd" * 3 + "&#99999999;a"),
        ("<item x='>' y=\"&lt;\">a</item>", "a"),
        ("<item x=\"b' y>a</item>", "a"),
        ("<ITEM>a</Item>", "a"),
        ("<item>a<b>b<i>c</item>", "a b c"),
        ("<item>a</i></channel>b</item>", "ab"),
        ("<item>a<b>b", "a"),
        ("<item>a<![CDATA[b", "ab"),
        ("junk <x:item xmlns:x='http://purl.org/rss/1.0/'>a</x:item >", "a"),
    ],
)
def test_a_record_whatever_is_broken(text: str, found: str) -> None:
    assert texts(f"<rss>{text}") == [found]


def test_a_record_ends_the_one_that_nobody_closed() -> None:
    assert texts("<rss><item>1<b>x<item>2</item><item/><item>3<a/>") == ["1 x", "2", "", "3"]


def test_of_what_was_cut_off_there_is_what_was_whole() -> None:
    text = "<rss><item><link>http://a.example/1</link><title>A<guid>http://a.exam"
    assert records(text) == [
        ("item", {}, [("link", {}, ["http://a.example/1"]), ("title", {}, ["A", ("guid", {}, [])])])
    ]


def test_the_rest_is_in_the_document() -> None:
    *_, document = read_xml_elements(
        "<rss><title>T</title><item><title>I</title></item><a>b</a></rss>", RECORDS
    )
    assert tree(document) == ("", {}, [("rss", {}, [("title", {}, ["T"]), ("a", {}, ["b"])])])


def test_namespaces_are_told_by_their_names_and_prefixes_stand_for_themselves() -> None:
    text = """
    <rss xmlns:z="http://www.w3.org/2005/Atom" xmlns:DC="https://purl.org/dc/elements/1.1/">
      <item><z:link/><dc:date/><media:x/><w xmlns="http://www.w3.org/2005/Atom"><v/></w><v/>
        <q:v xmlns:q="http://nobody.example/"/><u xmlns="http://nobody.example/"/></item>"""
    item = next(read_xml_elements(text, RECORDS))
    assert [child.name for child in item.elements()] == [
        *("atom:link", "dc:date", "media:x", "atom:w", "v", "q:v", "u")
    ]


def test_xml_base_is_handed_down_and_joined() -> None:
    text = """<rss XML:base="http://a.example/x/"><item xml:base='y/'><a/></item>
        <item><b xml:base="http://[/"/><c xml:base="/z"/></item></rss>"""
    first, second, _ = read_xml_elements(text, RECORDS)
    assert next(first.elements()).url(" p?q ") == "http://a.example/x/y/p?q"
    assert second.url("p") == "http://a.example/x/p"
    assert [child.url("p") for child in second.elements()][1:] == ["http://a.example/p"]
    assert second.url("http://[") == "http://["
    assert next(read_xml_elements("<item>", RECORDS)).url("p") == "p"


LEAVES = st.sampled_from(
    [
        *("<loc>a</loc>", "<LOC x='b'>c</LOC>", '<a b="c" d = "&amp;"/>', '<a b="x>y">z</a>', "\n"),
        *("<a b=c/>", '<a B="c"b="d"/>', "<a>x</a >", "<a>x</b>", "<a></a>", "<a>&lt;&#65;</a>"),
        *(
            "<!-- x -->",
            "<![CDATA[x]]>",
            "text",
            "<item>",
            "</item>",
            "<b><c>d</c></b>",
            "<a>&x</a>",
        ),
        *('<q:a xmlns:q="http://www.w3.org/2005/Atom"/>', '<a xml:base="http://b.example/">c</a>'),
        *('<a b="1', '<a b="c" d>', '"/>', "<q:item>", '<a b="" c="\'"/>', "<item x='y'>"),
    ]
)


@given(st.lists(st.lists(LEAVES, max_size=6).map("".join), min_size=1, max_size=4))
def test_what_is_read_at_once_is_what_is_read_piece_by_piece(inner: list[str]) -> None:
    text = "".join(f"<rss><item>{each}</item>" for each in inner)

    def found(text: str) -> list[tuple[Tree, list[str]]]:
        return [
            (without_blanks(tree(node)), [part.url("p") for part in node.elements()])
            for node in read_xml_elements(text, RECORDS)
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.parse.listing.xml_reader.MAX_NOT_FLAT", 0)
        expected = found(text)
    assert found(text) == expected


def test_of_records_that_nobody_closed_nothing_is_split_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split: list[str] = []

    def fill(_node: Node, text: str, _records: frozenset[str]) -> bool:
        split.append(text)
        return False

    monkeypatch.setattr("gossamer.parse.listing.xml_reader._fill_xml_node", fill)
    text = f"<rss>{('<item>' * 5 + '<a>b</a>' * 9 + '</item>') * 3}"
    assert sum(1 for _ in read_xml_elements(text, RECORDS)) == 3 * 5 + 1
    assert len(split) == 3
    assert len("".join(split)) < len(text)


def test_attributes_take_time_in_proportion_to_their_length() -> None:
    start = time.process_time()
    *_, document = read_xml_elements(f"<a {'b' * 1_000_000} c='d'>", RECORDS)
    assert next(document.elements()).attributes == {"c": "d"}
    assert time.process_time() - start < 1


def test_entities_and_files_are_out_of_reach(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("x") / "secret"
    secret.write_text("SECRET", encoding="ascii")
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    text = (
        f'<!DOCTYPE rss [<!ENTITY a0 "x">{bomb}<!ENTITY f SYSTEM "{secret.as_uri()}">]>'
        "<rss><item>&a9;&f;</item>"
    )
    assert texts(text) == ["&a9;&f;"]


def test_records_have_an_end_and_the_document_is_still_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gossamer.parse.listing.xml_reader.MAX_RECORDS", 3)
    *records, document = read_xml_elements("<a><b>x</b>" + "<item>y</item>" * 9, RECORDS)
    assert [record.text for record in records] == ["y"] * 3
    assert document.text.strip() == "x"


def test_what_is_too_deep_has_no_base_that_is_joined() -> None:
    start = time.process_time()
    for _ in read_xml_elements("<a xml:base='b/'>" * 200_000, RECORDS):
        pass
    assert time.process_time() - start < 1


def test_depth_and_number_are_bounded() -> None:
    *_, document = read_xml_elements("<a>" * 10_000 + "x" + "</a>" * 10_000 + "<b/>", RECORDS)
    assert document.text.strip() == "x"
    node, depth = document, 0
    while node := next(node.elements(), None):  # type: ignore[assignment]
        depth += 1
    assert depth == MAX_DEPTH + 1  # the last is a leaf
    item, document = read_xml_elements(f"<item>{'<a>x</a>' * (MAX_NODES + 10)}</item><b/>", RECORDS)
    assert len(item.children) == MAX_NODES
    assert [child.name for child in document.elements()] == ["b"]


@pytest.mark.parametrize(
    ("body", "declared", "text"),
    [
        ('<?xml version="1.0" encoding="windows-1251"?><a>Привет</a>', None, "cp1251"),
        ('<?xml version="1.0" encoding="windows-1251"?><a>Привет, мир</a>', "utf-8", "utf-8"),
        ("\n<?xml version='1.0' encoding='koi8-r'?><a>Привет, мир</a>", None, "koi8-r"),
        ('<?xml version="1.0" encoding="utf-16"?><a>Привет, мир</a>', None, "utf-8"),
        ('<?xml version="1.0" encoding="utf-16"?><a>Привет, мир</a>', None, "utf-16"),
        ('<?xml version="1.0" encoding="nope"?><a>Привет, мир</a>', None, "utf-8"),
        ('<?xml version="1.0" encoding="shift_jis"?><a>天気の話</a>', "shift_jis", "cp932"),
    ],
)
def test_the_encoding_of_a_document(body: str, declared: str | None, text: str) -> None:
    assert decode(body.encode(text), declared)[0] == body


NAMES = st.sampled_from(["a", "b", "item", "x-y", "ü"])
TEXT = st.text(
    st.characters(min_codepoint=0x20, exclude_categories=["Cs"], exclude_characters="\x7f￾￿")
)


@st.composite
def documents(draw: st.DrawFn, depth: int = 0) -> str:
    """Generate well-formed documents without nested records."""
    name = draw(NAMES.filter(lambda name: name != "item" or not depth))
    inner = "".join(
        draw(
            st.lists(
                st.one_of(
                    TEXT.map(escape),
                    TEXT.filter(lambda text: "]]>" not in text).map(
                        lambda text: f"<![CDATA[{text}]]>"
                    ),
                    st.just("<!-- a > < b -->"),
                    st.just("<?pi x?>"),
                    *([documents(depth + 1)] if depth < 3 else []),
                ),
                max_size=4,
            )
        )
    )
    attributes = "".join(f" {key}={quoteattr(draw(TEXT))}" for key in draw(st.sets(NAMES)))
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


def by_expat(text: str) -> Tree:
    root: Tree = ("", {}, [])
    stack = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        node: Tree = (name.lower(), {key.lower(): text for key, text in attributes.items()}, [])
        stack[-1][2].append(node)
        stack.append(node)

    def add(data: str) -> None:
        children = stack[-1][2]
        if children and isinstance(children[-1], str):
            children[-1] += data
        else:
            children.append(data)

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = add
    parser.Parse(text.encode(), True)
    return root


def without_blanks(node: Tree) -> Tree:
    """Remove white space, since we keep it only between words."""
    name, attributes, children = node
    kept = [child if isinstance(child, str) else without_blanks(child) for child in children]
    return name, attributes, [child for child in kept if child and not str(child).isspace()]


@given(documents())
def test_what_is_well_formed_is_what_expat_sees(text: str) -> None:
    *_, document = read_xml_elements(text, frozenset())
    assert without_blanks(tree(document)) == without_blanks(by_expat(text))


PIECES = st.sampled_from(
    [
        *("<", ">", "</", "/>", "<a>", "</a>", "<item>", "</item>", "<item ", "<!--", "-->", "<?"),
        *("<![CDATA[", "]]>", "<!DOCTYPE", "[", "]", "&", "&amp;", "&#", ";", "'", '"', "=", " "),
        *("xmlns:a='b'", "xml:base='http://['", "x", "ü", "\0", ":", "<:>", "<a:", "</item"),
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)))
def test_no_text_raises(text: str) -> None:
    for node in read_xml_elements(text, RECORDS):
        assert isinstance(node.text, str)
        assert node.url("x") is not None
        assert node.first() is not None


HOSTILE = [
    *("<", "<a", "<a ", "<a '", '<a "', "<a x='", "<a>", "<a/>", "</a>", "<a></b>", "<a>x</a", "&"),
    *(
        "<!--",
        "<!-- -",
        "<![CDATA[",
        "<!DOCTYPE [",
        "<!a",
        "<![",
        "<?",
        "<?xml ",
        "&a",
        "&#",
        "]]>",
    ),
    *(
        "<item>",
        "<item/>",
        "<item>x</item>",
        "<a xmlns:b='c'>",
        "<a xmlns:b='c'/>",
        "\0",
        " ",
        "<a =",
    ),
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "<rss><item>{}</item>", "<a {}>"])
def test_time_is_linear(piece: str, around: str) -> None:
    start = time.process_time()
    for node in read_xml_elements(around.format(piece * 10_000), RECORDS):
        assert isinstance(node.text, str)
    assert time.process_time() - start < 1
