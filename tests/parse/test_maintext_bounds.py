"""At each limit of the selection of the main text, which side it is on. Blocks are made by hand."""

from __future__ import annotations

import pytest

from gossamer.parse.maintext import boilerplate, core, sums, teasers, threads, trim
from gossamer.parse.maintext.blocks import Block, Box, Outline
from gossamer.parse.maintext.marks import ARTICLE, BODY, CHROME
from gossamer.parse.maintext.names import BESIDE, DIALOG, NAMED_BODY
from gossamer.parse.maintext.rows import Item
from gossamer.parse.maintext.sums import Amounts, Sums

NONE = Amounts(0, 0, 0, 0, 0, 0)


def block(
    chars: int, linked: int = 0, tag: str = "p", text: str = "", links: int = 0, box: int = 0
) -> Block:
    return Block(text or "x" * chars, chars, linked, links or linked > 0, box, tag)


def sums_of(blocks: list[Block], prose: list[int] | None = None) -> Sums:
    return Sums.of(blocks, prose or [each.chars for each in blocks], [True] * len(blocks))


# Single blocks


@pytest.mark.parametrize(
    ("of_page", "prose"),
    [
        (block(39), 0),
        (block(40), 40),
        (block(40, 19), 21),
        (block(40, 20), 0),
        (block(40, tag="h2"), 0),
        (block(40, text="© 2024 The harbour office"), 0),
    ],
)
def test_prose_is_a_long_block_of_few_links(of_page: Block, prose: int) -> None:
    assert core._prose(of_page) == prose


@pytest.mark.parametrize(
    ("of_page", "expected"),
    [
        (block(100, 75), True),
        (block(100, 74), False),
        (block(3, 3), True),
        (block(80, 80, links=2), True),
        (block(79, 79, links=2), False),
        (block(100, 79, links=2), False),
        (block(100, 80, links=2), True),
        (block(39, 39, links=1), True),
        (block(100, 100, "h2"), False),
        (block(100, 100, "td"), False),
        (block(100, 100, "pre"), False),
    ],
)
def test_paragraphs_of_links(of_page: Block, expected: bool) -> None:
    assert trim._is_only_links(of_page) is expected


@pytest.mark.parametrize(
    ("of_page", "expected"),
    [
        (block(120), True),
        (block(119), False),
        (block(20, text="x" * 19 + "."), True),
        (block(19, text="x" * 18 + "."), False),
        (block(20), False),
        (block(200, 99), True),
        (block(200, 100), False),
        (block(200, tag="h2"), False),
        (block(200, tag="figcaption"), False),
    ],
)
def test_paragraphs(of_page: Block, expected: bool) -> None:
    assert trim._is_paragraph(of_page) is expected
    assert trim._may_start(of_page) is expected
    assert trim._may_end(of_page) is expected


@pytest.mark.parametrize(
    ("of_page", "starts", "ends"),
    [
        (block(5, tag="td"), True, True),
        (block(5, tag="pre"), True, True),
        (block(5, tag="li"), False, True),
        (block(4, 2, tag="td"), False, False),
        (block(4, 1, tag="td"), True, True),
        (block(10, tag="td", text="2024-05-12"), False, True),
        (block(5), False, False),
    ],
)
def test_cells_that_start_or_end_a_text(of_page: Block, starts: bool, ends: bool) -> None:
    assert (trim._may_start(of_page), trim._may_end(of_page)) == (starts, ends)


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        ("h3", "The Ferry", True),
        ("h3", "ferry, to", True),
        ("h3", "To Ilsa Tomorrow", False),
        ("h3", "o Ilsa!", False),
        ("p", "The Ferry", False),
    ],
)
def test_a_title_is_a_heading_with_words_of_the_pages_title(
    tag: str, text: str, expected: bool
) -> None:
    title = trim.fold_words("THE FERRY – to   Ilsa ")
    assert title == "the ferry to ilsa"
    assert trim.is_title(block(len(text), tag=tag, text=text), title) is expected


def test_the_shortest_title_and_the_longest() -> None:
    assert trim.is_title(block(9, tag="h2", text="Harbours"), "harbours")
    assert not trim.is_title(block(7, tag="h2", text="Harbour"), "harbour")
    assert trim.fold_words("A" * 501) == "a" * 500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 90 + "2024-05-12", True),
        ("x" * 91 + "2024-05-12", False),
        ("x" * 89 + "2024-05-12x", True),
        ("at 9:30", True),
        ("page 7", False),
        ("soon", False),
    ],
)
def test_a_short_text_may_be_dated(text: str, expected: bool) -> None:
    assert threads.is_dated(block(len(text), text=text)) is expected


@pytest.mark.parametrize(
    ("of_page", "expected"),
    [
        (block(100, 75, "h2"), True),
        (block(100, 74, "h2"), False),
        (Block("", 0, 0, 0, 0, "h2"), False),
    ],
)
def test_headlines_of_teasers(of_page: Block, expected: bool) -> None:
    assert teasers._is_headline(of_page) is expected


# Sums over blocks


def test_sums_count_teasers_and_headlines() -> None:
    blocks = [
        block(100, 75),
        block(100, 74),
        block(50, 50, "h2", links=3),
        block(10, 10, "td"),
        block(20, 20, "li"),
        block(7),
    ]
    kept = [True] * 5 + [False]
    total = Sums.of(blocks, [1, 2, 3, 4, 5, 6], kept).between(0, 6)
    assert total == Amounts(15, 280, 229, 7, 170, 1)
    assert total.written == 51
    assert sums_of(blocks).between(1, 3) == Amounts(150, 150, 124, 4, 50, 1)
    assert Sums.of([], [], []).between(0, 0) == NONE
    assert sums.prefix_sums([3, 4]) == [0, 3, 7]


# What belongs to the core


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (NONE, True),
        (NONE._replace(prose=70, chars=100), True),
        (NONE._replace(prose=69, chars=100), False),
        (NONE._replace(prose=70, chars=80, link_chars=20), True),
        (NONE._replace(prose=70, chars=81, link_chars=20), False),
        (NONE._replace(prose=59, chars=59), False),
        (NONE._replace(prose=60, chars=60), True),
    ],
)
def test_enough_prose_around_belongs_to_the_core(around: Amounts, expected: bool) -> None:
    assert core._belongs(around, 60) is expected


@pytest.mark.parametrize(
    ("own", "before", "after", "expected"),
    [
        ((100, 0), (70, 0, 0), (0, 0, 0), True),
        ((100, 0), (69, 0, 0), (0, 0, 0), False),
        ((100, 0), (30, 0, 0), (40, 0, 0), True),
        ((110, 10), (30, 0, 0), (45, 5, 0), True),
        ((110, 10), (30, 0, 0), (45, 6, 0), False),
        ((1500, 0), (2000, 0, 0), (0, 0, 0), True),
        ((1501, 0), (2000, 0, 0), (0, 0, 0), False),
        ((100, 0), (70, 0, 1), (70, 0, 1), True),
        ((100, 0), (70, 0, 1), (70, 0, 2), False),
    ],
)
def test_a_core_that_is_outgrown_is_a_part_of_a_reference(
    own: tuple[int, int],
    before: tuple[int, int, int],
    after: tuple[int, int, int],
    expected: bool,
) -> None:
    around = [
        NONE._replace(chars=chars, link_chars=linked, headlines=headlines)
        for chars, linked, headlines in (before, after)
    ]
    mine = NONE._replace(chars=own[0], link_chars=own[1])
    assert core._is_outgrown(mine, *around) is expected


@pytest.mark.parametrize(("teasing", "expected"), [(25, False), (26, True)])
def test_many_teasers_do_not_belong_to_a_reference(teasing: int, expected: bool) -> None:
    assert core._is_teasing(NONE._replace(chars=100, teasers=teasing)) is expected


@pytest.mark.parametrize(
    ("own", "inner", "inner_box", "is_inner"),
    [
        (19, 100, ("div", 0), True),
        (20, 100, ("div", 0), False),  # 0.8 for each further box
        (59, 50, ("div", NAMED_BODY), True),  # named as a body: twice
        (60, 50, ("div", NAMED_BODY), False),
        (9, 100, ("li", 0), True),  # half of an item, against 0.4 of it
        (10, 100, ("li", 0), False),
        (0, 100, ("p", 0), False),
        (100, 100, ("div", BODY), True),  # marked, and half of the prose
        (101, 100, ("div", BODY), False),
    ],
)
def test_the_core_is_the_box_of_the_best_score(
    own: int, inner: int, inner_box: tuple[str, int], is_inner: bool
) -> None:
    tag, marks = inner_box
    blocks = [block(inner, box=2), block(own, box=1)]
    boxes = [Box("body", 0, 0, 2, 0), Box("main", 0, 0, 2, 0), Box(tag, 1, 0, 1, marks)]
    found = core._core(Outline(blocks, boxes), sums_of(blocks))
    assert found is boxes[2 if is_inner else 1]


def test_of_boxes_with_the_same_score_the_first_is_the_core() -> None:
    blocks = [block(100, box=1), block(100, box=2)]
    boxes = [Box("body", 0, 0, 2, 0), *(Box("li", 0, n, n + 1, NAMED_BODY) for n in (0, 1))]
    assert core._core(Outline(blocks, boxes), sums_of(blocks)) is boxes[1]


def test_the_text_starts_after_the_last_headline() -> None:
    blocks = [block(5, tag="h1"), block(9), block(9, tag="h2", text="The Ferry"), block(9)]
    assert core._after_headline(blocks, "the ferry to ilsa") == 3
    assert core._after_headline(blocks, "else") == 1
    assert core._after_headline(blocks[1:2], "else") == 0


@pytest.mark.parametrize(("chars", "found"), [(119, (1, 3)), (120, (1, 2))])
def test_an_index_is_in_the_box_of_its_title(chars: int, found: tuple[int, int]) -> None:
    blocks = [block(5, tag="h1", box=1), block(chars, box=1), block(50), block(0)]
    boxes = [Box("body", 0, 0, 3, 0), Box("div", 0, 0, 2, 0)]
    assert core._index(Outline(blocks[:3], boxes), sums_of(blocks[:3]), "") == found


def test_an_index_without_a_title_is_the_whole_page() -> None:
    blocks = [block(200), block(200, box=1), block(200)]
    boxes = [Box("body", 0, 0, 3, 0), Box("div", 0, 1, 2, 0), Box("p", 1, 1, 2, 0)]
    assert core._index(Outline(blocks, boxes), sums_of(blocks), "") == (0, 3)


@pytest.mark.parametrize(("prose", "is_index"), [(100, True), (101, False)])
def test_a_page_with_little_prose_is_an_index(prose: int, is_index: bool) -> None:
    """It keeps its links, and is doubtful."""
    blocks = [block(prose), block(1000 - prose, 900 - prose, links=19)]
    outline = Outline(blocks, [Box("body", 0, 0, 2, 0)])
    found, is_doubtful = core._choose_blocks(outline, [prose, 0], "")
    assert (list(found), is_doubtful) == ([0, 1] if is_index else [0], is_index)


@pytest.mark.parametrize(("hidden", "shown"), [(1500, "x" * 1500), (1499, "A menu")])
def test_a_hidden_article_is_read_if_it_is_long(hidden: int, shown: str) -> None:
    menu = Outline([block(6, text="A menu")], [Box("body", 0, 0, 1, 0)])
    other = Outline([block(hidden)], [Box("body", 0, 0, 1, 0)])
    assert core.main_text(menu, "", lambda: other).text == shown
    assert core.main_text(menu, "").text == "A menu"


def test_an_index_without_text_after_its_title_is_the_whole_page() -> None:
    blocks = [block(5), block(5, tag="h1")]
    boxes = [Box("body", 0, 0, 2, 0)]
    assert core._index(Outline(blocks, boxes), sums_of(blocks), "") == (0, 2)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (50, 100, (0, 3, False)),
        (49, 100, (1, 3, False)),
        (50, 99, (0, 2, False)),
    ],
)
def test_the_core_takes_prose_around_it(
    before: int, after: int, expected: tuple[int, int, bool]
) -> None:
    blocks = [block(before), block(1000, box=1), block(after)]
    boxes = [Box("body", 0, 0, 3, 0), Box("div", 0, 1, 2, 0)]
    assert core._widen_core(boxes, sums_of(blocks), boxes[1], 0) == expected


def test_the_core_takes_nothing_above_the_headline() -> None:
    blocks = [block(900), block(1000, box=1), block(900)]
    boxes = [Box("body", 0, 0, 3, 0), Box("div", 0, 1, 2, 0)]
    assert core._widen_core(boxes, sums_of(blocks), boxes[1], 1) == (1, 3, True)
    assert core._widen_core(boxes, sums_of(blocks), boxes[1], 0) == (0, 3, True)


def test_a_body_is_not_widened() -> None:
    blocks = [block(900), block(1000, box=1), block(900)]
    boxes = [Box("body", 0, 0, 3, 0), Box("div", 0, 1, 2, BODY)]
    assert core._widen_core(boxes, sums_of(blocks), boxes[1], 0) == (1, 2, False)


@pytest.mark.parametrize(("teasing", "start"), [(75, 0), (76, 1)])
def test_a_reference_takes_what_is_no_prose_but_no_teasers(teasing: int, start: int) -> None:
    blocks = [
        block(teasing, teasing),
        block(300 - teasing),
        block(100, box=1),
        block(0, box=1),
    ]
    boxes = [Box("body", 0, 0, 4, 0), Box("div", 0, 2, 4, 0)]
    found = core._widen_core(boxes, sums_of(blocks, [0, 0, 100, 0]), boxes[1], 0)
    assert found == (2 * start, 4, True)


# What is trimmed


SHORT, LONG = block(10), block(200)


def test_before_the_first_paragraph_little_is_dropped() -> None:
    blocks = [SHORT, block(12, 2), LONG]
    assert trim._leading(blocks, [0, 1, 2], 20) == 2
    assert trim._leading(blocks, [0, 1, 2], 19) == 0
    assert trim._leading(blocks, [0, 1], 20) == 0
    assert trim._leading(blocks, [2], 0) == 0


def test_after_the_last_paragraph_little_is_dropped() -> None:
    blocks = [LONG, SHORT, block(10, 2)]
    assert trim._trailing(blocks, [0, 1, 2], 20) == 1
    assert trim._trailing(blocks, [0, 1, 2], 19) == 3
    assert trim._trailing(blocks, [1, 2], 20) == 2


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [(15, 1, [1]), (16, 1, [0, 1]), (1, 20, [1]), (1, 21, [1, 2])],
)
def test_shares_that_are_trimmed(head: int, tail: int, expected: list[int]) -> None:
    rest = 100 - head - tail
    blocks = [block(head), block(rest, text="x."), block(tail, tag="p")]
    assert trim.trim_ends(blocks, [0, 1, 2], "", 0) == expected


def test_headings_right_above_the_first_paragraph_stay() -> None:
    blocks = [block(1, tag="h2"), SHORT, block(1, tag="h2"), block(1, tag="h3"), LONG]
    chosen = [0, 1, 2, 3, 4]
    assert trim.trim_ends(blocks, chosen, "", 0) == [2, 3, 4]
    blocks[2] = block(1, tag="h1")
    assert trim.trim_ends(blocks, chosen, "", 0) == [3, 4]
    blocks[2] = block(9, tag="h2", text="The Ferry")
    assert trim.trim_ends(blocks, chosen, "the ferry", 0) == [3, 4]


def test_posts_are_not_trimmed() -> None:
    blocks = [LONG, SHORT, SHORT]
    assert trim.trim_ends(blocks, [0, 1, 2], "", 0) == [0]
    assert trim.trim_ends(blocks, [0, 1, 2], "", 2) == [0, 1]
    assert trim.trim_ends(blocks, [0, 1, 2], "", 1) == [0]


@pytest.mark.parametrize(
    ("above", "expected"),
    [(299, [2]), (300, [0, 1, 2])],
)
def test_a_title_after_many_paragraphs_is_none(above: int, expected: list[int]) -> None:
    blocks = [block(above), block(9, tag="h2", text="The Ferry"), block(1000 - above)]
    assert trim.after_title(blocks, [0, 1, 2], "the ferry") == expected


def test_without_a_title_the_text_starts_after_the_first_h1() -> None:
    blocks = [block(120), block(500, tag="h1"), block(5, tag="h1"), block(1000), SHORT]
    assert trim.after_title(blocks, [0, 1, 2, 3, 4], "") == [2, 3, 4]
    assert trim.after_title(blocks, [0, 3], "") == [0, 3]


@pytest.mark.parametrize(
    ("linked", "links", "prose", "tag", "listed"),
    [
        (60, 2, 0, "ul", True),
        (59, 2, 0, "ul", False),
        (60, 3, 0, "ul", False),
        (60, 2, 20, "ul", True),
        (60, 2, 21, "ul", False),
        (60, 2, 0, "article", False),
    ],
)
def test_lists_of_links(linked: int, links: int, prose: int, tag: str, listed: bool) -> None:
    """Of 100 characters, of which each link has 40 on average."""
    blocks = [
        block(300, 200, links=9),
        block(30, tag="h2"),
        block(100, linked, "li", links=links, box=1),
        block(1000),
        block(10, tag="h2"),
    ]
    boxes = [Box("body", 0, 0, 5, 0), Box("nav", 0, 0, 1, 0), Box(tag, 0, 2, 3, 0)]
    amounts = sums_of(blocks, [500, 0, prose, 1000, 0])
    assert trim._clusters(boxes, amounts, 1, 4) == [False, listed, False, False]
    kept = trim.drop_link_lists(Outline(blocks, boxes), amounts, [True] * 5, 1, 4)
    assert kept == ([3] if listed else [1, 2, 3])
    assert trim.drop_link_lists(Outline(blocks, boxes), amounts, [False] * 5, 1, 4) == []


def test_boxes_that_are_no_lists_of_links() -> None:
    """Others follow those that are empty, out of the range or inside a list."""
    blocks = [block(100, 100, "li", links=2, box=5) for _ in range(4)]
    ranges = [(0, 5), (1, 1), (0, 2), (1, 3), (1, 2), (3, 4)]
    boxes = [Box("ul", 0, start, end, 0) for start, end in ranges]
    found = trim._clusters(boxes, sums_of(blocks, [0] * 4), 1, 4)
    assert found == [True, True, True, False]
    boxes = [Box("ul", 0, start, end, 0) for start, end in [(1, 2), (3, 4)]]
    plain = [block(100, 0, "li"), *blocks[:3]]
    assert trim._clusters(boxes, sums_of(plain, [0] * 4), 0, 4) == [False, True, False, True, False]
    boxes[0].end = 3
    plain[2] = block(900, 10, "li", links=2)
    assert trim._clusters(boxes, sums_of(plain, [0] * 4), 0, 4) == [
        False,
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("all_prose", "listed"), [(50, True), (49, False)])
def test_a_list_of_links_with_much_of_the_prose_is_none(all_prose: int, listed: bool) -> None:
    blocks = [block(100), block(100, 60, "li", links=2, box=1), block(100)]
    boxes = [Box("body", 0, 0, 3, 0), Box("ul", 0, 1, 2, 0)]
    found = trim._clusters(boxes, sums_of(blocks, [300, 10, all_prose - 10]), 1, 3)
    assert found == [listed, False, False]


@pytest.mark.parametrize(("chars", "listed"), [(40, True), (39, False)])
def test_a_list_of_links_has_long_items(chars: int, listed: bool) -> None:
    items = [block(chars, chars, "li", links=1, box=1) for _ in range(2)]
    boxes = [Box("body", 0, 0, 3, 0), Box("ol", 0, 0, 2, 0)]
    blocks = [*items, block(500)]
    found = trim._clusters(boxes, sums_of(blocks, [0, 0, 500]), 0, 3)
    assert found == [listed, listed, False, False]


# What is boilerplate


@pytest.mark.parametrize(
    ("named", "kept"),
    [(90, False), (91, True)],
)
def test_a_box_with_nearly_all_prose_is_a_wrapper(named: int, kept: bool) -> None:
    blocks = [block(named * 200, box=1), block((100 - named) * 200)]
    boxes = [Box("body", 0, 0, 2, 0), Box("div", 0, 0, 1, CHROME)]
    found = boilerplate.mark_kept_blocks(Outline(blocks, boxes), [b.chars for b in blocks], [])
    assert found == ([kept, True], True)


@pytest.mark.parametrize(
    ("left", "expected"),
    [(15, ([False, True], True)), (14, ([True, True], False))],
)
def test_enough_must_be_left_without_boilerplate(
    left: int, expected: tuple[list[bool], bool]
) -> None:
    blocks = [block(100 - left, box=1), block(left)]
    boxes = [Box("body", 0, 0, 2, 0), Box("nav", 0, 0, 1, CHROME)]
    outline = Outline(blocks, boxes)
    assert boilerplate.mark_kept_blocks(outline, [b.chars for b in blocks], []) == expected


def test_an_article_is_enough_however_much_is_boilerplate() -> None:
    boxes = [Box("body", 0, 0, 2, 0), Box("nav", 0, 0, 1, CHROME)]
    for left, kept in ((1500, False), (1499, True)):
        prose = [13_000, left]
        outline = Outline([block(13_000, box=1), block(left)], boxes)
        assert boilerplate.mark_kept_blocks(outline, prose, [])[0] == [kept, True]


@pytest.mark.parametrize(
    ("article", "chrome", "total", "pardoned"),
    [
        (30, 60, 100, True),
        (30, 61, 100, False),
        (29, 58, 100, False),
        (1, 1, 3, True),
        (1, 2, 3, True),
        (0, 1, 3, False),
        (0, 0, 3, False),
    ],
)
def test_a_box_with_little_but_an_article_is_pardoned(
    article: int, chrome: int, total: int, pardoned: bool
) -> None:
    blocks = [block(article, box=2), block(chrome - article, box=1), block(total - chrome)]
    boxes = [Box("body", 0, 0, 3, 0), Box("aside", 0, 0, 2, CHROME), Box("p", 1, 0, 1, ARTICLE)]
    kept, _ = boilerplate.mark_kept_blocks(
        Outline(blocks, boxes), [each.chars for each in blocks], []
    )
    assert kept == [pardoned, pardoned, True]


def test_boilerplate_after_the_text() -> None:
    blocks = [block(3000), block(900, box=1)]
    boxes = [Box("body", 0, 0, 2, 0), Box("nav", 0, 1, 2, CHROME)]
    found = boilerplate.mark_kept_blocks(Outline(blocks, boxes), [3000, 900], [])
    assert found == ([True, False], True)


def test_an_article_inside_an_article_is_a_comment() -> None:
    boxes = [
        Box("body", 0, 0, 4, 0),
        Box("article", 0, 0, 2, 0),
        Box("article", 1, 1, 2, 0),
        Box("article", 0, 2, 3, 0),
        Box("article", 0, 3, 4, BODY | CHROME),
    ]
    assert [index for index, _ in boilerplate._marked(boxes, CHROME)] == [2]


@pytest.mark.parametrize(
    ("prose", "chars", "linked", "restored"),
    [(300, 300, 0, True), (299, 299, 0, False), (350, 400, 100, True), (349, 400, 100, False)],
)
def test_a_long_aside_within_a_text_is_a_note(
    prose: int, chars: int, linked: int, restored: bool
) -> None:
    blocks = [block(500), block(chars, linked, box=1), block(500)]
    boxes = [Box("body", 0, 0, 3, 0), Box("aside", 0, 1, 2, BESIDE)]
    kept = boilerplate.with_insets(
        Outline(blocks, boxes), [500, prose, 500], [True, False, True], 0, 3
    )
    assert kept == [True, restored, True]


@pytest.mark.parametrize("place", [0, 2])
def test_an_aside_at_the_end_of_a_text_is_no_note(place: int) -> None:
    boxes = [Box("body", 0, 0, 3, 0), Box("aside", 0, place, place + 1, BESIDE)]
    kept = [index != place for index in range(3)]
    outline = Outline([block(500)] * 3, boxes)
    assert boilerplate.with_insets(outline, [500] * 3, kept, 0, 3) == kept


def test_prose_of_dialogs_does_not_count() -> None:
    blocks = [block(50, box=1), block(5, tag="h1", box=2), block(70, box=2), block(60)]
    boxes = [Box("body", 0, 0, 4, 0), Box("div", 0, 0, 1, DIALOG), Box("div", 0, 1, 3, DIALOG)]
    outline = Outline(blocks, boxes)
    assert boilerplate.without_dialogs(outline, [50, 0, 70, 60]) == [0, 0, 70, 60]
    assert boilerplate.without_dialogs(outline, [50, 0, 0, 0]) == [50, 0, 0, 0]


# Teasers, captions and threads


def teaser(box: int, excerpt: int) -> list[Block]:
    return [block(30, 30, "h3", box=box), block(excerpt, box=box)]


@pytest.mark.parametrize(
    ("rows", "excerpt", "article", "found"),
    [
        (3, 100, 150, 3),
        (3, 100, 149, 0),
        (2, 100, 150, 0),
        (3, 500, 750, 3),
        (3, 500, 749, 0),
        (3, 501, 2000, 0),
    ],
)
def test_a_row_of_teasers_beside_an_article(
    rows: int, excerpt: int, article: int, found: int
) -> None:
    blocks = [each for row in range(rows) for each in teaser(row + 1, excerpt)]
    boxes = [Box("div", 0, 2 * row, 2 * row + 2, 0) for row in range(rows)]
    outline = Outline([*blocks, block(article)], [Box("body", 0, 0, 2 * rows + 1, 0), *boxes])
    prose = [*[0, excerpt] * rows, article]
    expected = [(box.start, box.end) for box in boxes][:found]
    assert teasers.teasers(outline, prose) == expected


def test_the_longest_excerpt_of_a_row_counts() -> None:
    blocks = [each for row, chars in enumerate((0, 501, 0)) for each in teaser(row + 1, chars)]
    boxes = [Box("div", 0, 2 * row, 2 * row + 2, 0) for row in range(3)]
    outline = Outline([*blocks, block(2000)], [Box("body", 0, 0, 7, 0), *boxes])
    assert teasers.teasers(outline, [0, 0, 0, 501, 0, 0, 2000]) == []
    assert len(teasers.teasers(outline, [0, 0, 0, 500, 0, 0, 2000])) == 3


def test_a_row_of_headlines_alone_is_no_row_of_teasers() -> None:
    blocks = [block(30, 30, "h3", box=row + 1) for row in range(3)]
    boxes = [Box("div", 0, row, row + 1, 0) for row in range(3)]
    outline = Outline([*blocks, block(500)], [Box("body", 0, 0, 4, 0), *boxes])
    assert teasers.teasers(outline, [0, 0, 0, 500]) == []


@pytest.mark.parametrize(("chars", "found"), [(40, [(2, 3)]), (39, [])])
def test_a_caption_may_be_repeated(chars: int, found: list[tuple[int, int]]) -> None:
    caption = block(chars, tag="figcaption")
    outline = Outline([caption, block(60), caption, block(60)], [Box("body", 0, 0, 4, 0)])
    assert teasers.teasers(outline, [0, 60, 0, 60]) == found


DATED = "12.5.2024"


@pytest.mark.parametrize(
    ("first", "above", "posts", "expected"),
    [
        (500, 150, 4, threads.Threads([(2, 10)], 0)),
        (250, 149, 4, threads.Threads([], 10)),
        (251, 149, 4, threads.Threads([], 0)),  # more than half of the prose is in a discussion
        (500, 150, 3, threads.Threads([], 0)),
    ],
)
def test_comments_have_an_article_above(
    first: int, above: int, posts: int, expected: threads.Threads
) -> None:
    blocks = [block(500, tag="h1"), block(above)]
    boxes = [Box("body", 0, 0, 2 + 2 * posts, 0)]
    for post in range(posts):
        boxes.append(Box("div", 0, 2 + 2 * post, 4 + 2 * post, 0))
        blocks += [block(9, text=DATED, box=post + 1), block(100, box=post + 1)]
    prose = [first, above, *[0, 100] * posts]
    assert threads.threads(Outline(blocks, boxes), prose) == expected


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        (["1 day", "2 days", "3 days", "4 days"], True),
        (["1 day", "2 days", "4 days", "9 days"], True),
        (["1 day", "2 days", DATED, DATED], False),
        ([f"{n} days" for n in range(8)], True),
        ([f"{n * n} days" for n in range(7)], True),
        ([f"{n * n} days" for n in range(8)], False),
    ],
)
def test_numbers_with_words_may_count_steps(stamps: list[str], expected: bool) -> None:
    assert threads._are_steps(stamps) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"prose": 54}, True),  # 0.3 of the characters
        ({"prose": 53}, False),
        ({"headings": 2}, True),
        ({"headings": 3}, False),
        ({"between": 400}, True),
        ({"between": 401}, False),
    ],
)
def test_a_row_of_posts_is_mostly_text(change: dict[str, int], expected: bool) -> None:
    given = {"prose": 100, "headings": 0, "between": 0} | change
    blocks, boxes, prose, items = [], [Box("body", 0, 0, 13, 0)], [], []
    for post in range(4):
        heading = block(1, tag="h2" if post < given["headings"] else "b", box=post + 1)
        blocks += [block(9, text=DATED, box=post + 1), heading, block(170, box=post + 1)]
        boxes.append(Box("div", 0, len(blocks) - 3, len(blocks), 0))
        prose += [0, 0, given["prose"]]
        items.append(Item(post + 1, len(blocks) - 3))
        if post == 2:
            blocks.append(block(given["between"]))
            prose.append(given["between"])
    outline = Outline(blocks, boxes)
    assert threads._are_posts(outline, items, threads._Sums.of(blocks, prose)) is expected


def test_a_first_article_of_one_block_is_no_comment() -> None:
    boxes = [Box("body", 0, 0, 2, 0), Box("article", 0, 0, 1, 0), Box("article", 0, 1, 2, 0)]
    assert [*boilerplate._marked(boxes, CHROME)] == []


def test_a_text_without_prose_has_no_notes() -> None:
    boxes = [Box("body", 0, 0, 3, 0), Box("aside", 0, 1, 2, BESIDE)]
    kept = [True, False, True]
    outline = Outline([block(5), block(500, box=1), block(5)], boxes)
    assert boilerplate.with_insets(outline, [0, 500, 0], kept, 0, 3) == kept


def test_articles_with_little_prose_are_no_articles() -> None:
    boxes = [
        Box("body", 0, 0, 4, 0),
        Box("article", 0, 0, 1, ARTICLE),
        Box("nav", 0, 1, 2, ARTICLE | CHROME),
        Box("div", 0, 2, 4, 0),
        Box("article", 3, 2, 3, ARTICLE),
    ]
    assert boilerplate._articles(boxes, [0, 29, 69, 99, 100]) == {3: 30, 4: 30}
    assert boilerplate._articles(boxes, [0, 30, 69, 98, 100]) == {1: 30}
    assert boilerplate._articles(boxes, [0, 0, 0, 0, 0]) == {}


def test_blocks_that_are_left_out_have_no_prose() -> None:
    blocks = [block(300), block(400, box=1), block(300)]
    boxes = [Box("body", 0, 0, 3, 0), Box("nav", 0, 1, 2, CHROME)]
    kept, _ = boilerplate.mark_kept_blocks(Outline(blocks, boxes), [300, 400, 300], [(2, 3)])
    assert kept == [True, False, False]
