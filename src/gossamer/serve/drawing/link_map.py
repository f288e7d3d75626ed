"""A neighbourhood as a drawing: pages are dots with labels that a person can click.

    columns   pages that link here on the left, this page in the middle, linked pages on the right
    line      the same from top to bottom, with arcs beside it, for narrow screens

A page that is both stands on the side with more room, and its line has two arrowheads. Dots grow
with the number of inlinks. Without scripts or styles: drawings.css has the colours.
"""

from __future__ import annotations

from collections import defaultdict
from math import log10
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markupsafe import Markup

from gossamer.serve.drawing import labels
from gossamer.serve.drawing.charts import style_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gossamer.links.graph.queries import Neighbour, Neighbourhood

    Href = Callable[[str], str]

ROW = 24
"""The height of a label, in pixels."""
INNER, OUTER = 160, 330
"""The distances between columns: from the middle to the next one, and between the others."""
CHARS = 46
"""Characters of a label in a column."""
HERE_CHARS = 26
LINE_WIDTH, SPINE, LINE_CHARS = 360, 64, 42
MAX_CROSS_LINKS = 40
"""Links between neighbours are drawn if there are at most so many; more would hide the rest."""
MIN_RADIUS, MAX_RADIUS = 3.0, 7.5
LINKING, LINKED = "pages that link here", "linked from here"

_FRAME = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" class="map {name}" viewBox="0 0 {width} {height}" '
    'width="{width}" height="{height}" role="group" aria-label="{words}">{style}<defs>'
    '<marker id="{name}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path class="tip" d="M0,0.5 8,4 0,7.5z"/></marker></defs>'
    "{inside}</svg>"
)
_ARC = Markup('<path class="{kind}" d="{way}"{tips}/>')
_PAGE = Markup(
    '<a href="{href}"><title>{words}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
    '<text x="{text_x:.1f}" y="{text_y:.1f}" text-anchor="{anchor}">{label}</text></a>'
)
_HERE = Markup(
    '<g class="here"><title>{words}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
    '<text x="{text_x:.1f}" y="{text_y:.1f}" text-anchor="{anchor}">{label}</text></g>'
)
_WORDS = Markup('<text class="words" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>')


class _Place(NamedTuple):
    x: float
    y: float
    side: int
    """Where the label is: -1 left, 1 right, 0 below."""


def draw_columns(found: Neighbourhood, href: Href, style: str = "") -> Markup:
    """Draw a neighbourhood in columns. `href`: the link of a page. `style`: CSS, for a file."""
    of_column = _columns(found)
    height = (max(map(len, of_column.values())) + 3) * ROW
    middle = INNER + OUTER * max(map(abs, of_column)) + 10
    places: dict[int, _Place] = {}
    for column, members in of_column.items():
        side = (column > 0) - (column < 0)
        x = middle + (side * INNER + OUTER * (column - side))
        top = (height - (len(members) - 1) * ROW) / 2
        places |= {page: _Place(x, top + row * ROW, side) for row, page in enumerate(members)}
    words = Markup("")
    for side, anchor, head, more in (
        (-1, "end", LINKING, found.more_linking),
        (1, "start", LINKED, found.more_linked),
    ):
        if any(column * side > 0 for column in of_column):
            x = middle + side * INNER
            words += _WORDS.format(x=x, y=ROW, anchor=anchor, text=head)
            words += _WORDS.format(x=x, y=height - ROW / 2, anchor=anchor, text=_more(more))
    drawn = _draw_map(found, places, href, "columns", _curve_across, CHARS)
    return _frame_map(found, "columns", 2 * middle, height, words + drawn, style)


def line(found: Neighbourhood, href: Href) -> Markup:
    """Draw a neighbourhood from top to bottom."""
    of_column = _columns(found)
    y = ROW
    places: dict[int, _Place] = {}
    words = Markup("")

    def say(*texts: str) -> None:
        nonlocal y, words
        for text in filter(None, texts):
            words += _WORDS.format(x=SPINE - MAX_RADIUS, y=y + 4, anchor="start", text=text)
            y += ROW

    for column in sorted({0, *of_column}):
        if column == min(of_column) < 0:
            say(LINKING)
        for page in of_column[column]:
            places[page] = _Place(SPINE, y, 1)
            y += ROW
        if column == 0:
            say(LINKED if max(of_column) > 0 else "")
        if column == -1 and found.more_linking:
            say(_more(found.more_linking))
    say(_more(found.more_linked))
    return _frame_map(
        found,
        "line",
        LINE_WIDTH,
        y,
        words + _draw_map(found, places, href, "line", _draw_bow, LINE_CHARS),
    )


def _more(count: int) -> str:
    return f"and {count:,} more" if count else ""


def _columns(found: Neighbourhood) -> Mapping[int, Sequence[int]]:
    """The pages in each column: below 0 those that link here, above 0 those that are linked."""
    of_column: dict[int, list[int]] = defaultdict(list)
    both = []
    for at, page in enumerate(found.pages):
        if at and page.linking == page.linked:
            both.append(at)
        else:
            of_column[_page_column(page)].append(at)
    for at in both:
        depth = found.pages[at].depth
        fewer = min((depth, -depth), key=lambda column: len(of_column[column]))
        of_column[fewer].append(at)
    return {column: sorted(pages) for column, pages in of_column.items() if pages}


def _page_column(page: Neighbour) -> int:
    if page.linked is None or (page.linking is not None and page.linking < page.linked):
        return -page.depth
    return page.depth


def _draw_map(
    found: Neighbourhood,
    places: Mapping[int, _Place],
    href: Href,
    name: str,
    way: Callable[[_Place, _Place], str],
    chars: int,
) -> Markup:
    here = found.pages[0].name
    links = {(src, dst) for src, dst in found.links if src != dst}
    cross = [link for link in links if not _is_spoke(found, *link)]
    shown = links if len(cross) <= MAX_CROSS_LINKS else links.difference(cross)
    tip = Markup(' marker-end="url(#{0}-tip)"').format(name)
    both = tip + Markup(' marker-start="url(#{0}-tip)"').format(name)
    arcs = [
        _ARC.format(
            kind="spoke" if _is_spoke(found, src, dst) else "cross",
            way=way(places[src], places[dst]),
            tips=both if (dst, src) in shown else tip,
        )
        for src, dst in sorted(shown)
        if not ((dst, src) in shown and dst < src)
    ]
    pages = [
        _draw_page(
            page,
            places[at],
            href,
            shorten_url(page.name, here, chars if at else HERE_CHARS),
            is_here=not at,
        )
        for at, page in enumerate(found.pages)
    ]
    return Markup("").join([*arcs, *pages])


def _is_spoke(found: Neighbourhood, src: int, dst: int) -> bool:
    """Whether a link is on a shortest way from or to the page in the middle."""
    first, second = found.pages[src], found.pages[dst]
    ahead = None not in (first.linked, second.linked) and first.linked + 1 == second.linked  # type: ignore[operator]
    back = None not in (first.linking, second.linking) and first.linking == second.linking + 1  # type: ignore[operator]
    return ahead or back


def _draw_page(page: Neighbour, place: _Place, href: Href, label: str, *, is_here: bool) -> Markup:
    radius = min(MIN_RADIUS + 1.2 * log10(page.inlinks + 1), MAX_RADIUS)
    gap = MAX_RADIUS + 4
    return (_HERE if is_here else _PAGE).format(
        href=href(page.name),
        words=f"{page.name}\n{page.inlinks:,} inlinks, {page.outlinks:,} outlinks",
        x=place.x,
        y=place.y,
        radius=radius + 2 if is_here else radius,
        text_x=place.x + gap * place.side,
        text_y=place.y + (4 if place.side else gap + 12),
        anchor=("end", "middle", "start")[place.side + 1],
        label=label,
    )


def _curve_across(start: _Place, end: _Place) -> str:
    """A curve between columns; within a column, one that bulges to the middle."""
    x1, x2 = (
        place.x - 9 * _side_towards(place, other) for place, other in ((start, end), (end, start))
    )
    if start.x == end.x:
        bulge = x1 - start.side * min(40 + abs(end.y - start.y) / 3, INNER * 0.8)
        return _curve((x1, start.y), bulge, (x2, end.y))
    return _curve((x1, start.y), (x1 + x2) / 2, (x2, end.y))


def _curve(start: tuple[float, float], control: float, end: tuple[float, float]) -> str:
    """A cubic curve that begins and ends level, both of whose control points have this x."""
    (x1, y1), (x2, y2) = start, end
    return f"M{x1:.1f},{y1:.1f} C{control:.1f},{y1:.1f} {control:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"


def _side_towards(place: _Place, other: _Place) -> int:
    if place.x == other.x:
        return place.side
    return 1 if other.x < place.x else -1


def _draw_bow(start: _Place, end: _Place) -> str:
    """A bow to the left."""
    x = start.x - 9
    bow = x - min(8 + abs(end.y - start.y) / 5, SPINE * 1.1)
    return _curve((x, start.y), bow, (x, end.y))


def shorten_url(name: str, here: str, chars: int) -> str:
    """A URL as a label: without its scheme, and without its host if it is on the same one.

    The middle of a long one is left out. Characters that would not be seen are replaced.
    """
    scheme, separator, rest = name.partition("://")
    host, _, path = rest.partition("/")
    if separator:
        same = here.startswith(f"{scheme}://{host}/")
        name = f"/{path}" if same and path else f"{host}/{path}".rstrip("/")
    return labels.fitting_label(labels.visible(unquote(name)), chars)


def _frame_map(
    found: Neighbourhood, name: str, width: float, height: float, inside: Markup, style: str = ""
) -> Markup:
    return _FRAME.format(
        name=name,
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        words=f"The pages around {found.pages[0].name}",
        style=style_of(style),
        inside=inside,
    )
