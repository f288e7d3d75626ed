"""Charts as inline SVG, without scripts or styles (gossamer.css has the colours).

To a screen reader, each chart is one image with a label that describes it. The page shows the
figures themselves in a table below.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.graph.queries import Spread

WIDTH, HEIGHT = 600, 120
PLOT_WIDTH, PLOT_HEIGHT = 420, 260
MARGINS = 46, 12, 10, 38
"""Left, right, above and below a plot, for the labels of its axes."""
AXIS = 12
"""Where the label of a vertical axis is."""
GAP = 0.2
"""The gap between bars, as a fraction of the space per bar."""
MAX_BAR = 60.0

_FRAME = Markup(
    '<svg class="chart" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" '
    'aria-label="{words}">{inside}</svg>'
)
_BAR = Markup(
    '<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
    "<title>{words}</title></rect>"
)
_CURVE = Markup(
    '<path class="area" d="M{first} {points} L{last}Z"/><path class="line" d="M{points}"/>'
)
_PLOT = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" viewBox="{box}" role="img" '
    'aria-label="{words}">{inside}</svg>'
)
_GRID = Markup('<path class="grid" d="{way}"/>')
_TEXT = Markup('<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{text}</text>')
_DOT = Markup('<circle cx="{x:.0f}" cy="{y:.0f}" r="2.2"><title>{words}</title></circle>')
_UNITS = ("", "k", "M", "G", "T")


def bar_chart(values: Sequence[tuple[str, float, float]], words: str) -> Markup:
    """A bar chart. Each value is the label of a bar, its height, and how much of that failed."""
    most = max((whole for _, whole, _ in values), default=0) or 1
    place = min(WIDTH / max(len(values), 1), MAX_BAR)
    drawn = Markup("")
    for number, (label, whole, failed) in enumerate(values):
        for kind, part in (("whole", whole), ("failed", failed)):
            height = HEIGHT * part / most
            drawn += _BAR.format(
                kind=kind,
                x=number * place,
                y=HEIGHT - height,
                width=place * (1 - GAP),
                height=height,
                words=label,
            )
    return _frame(drawn, words)


def curve_chart(points: Sequence[tuple[float, float]], words: str) -> Markup:
    """A line through points (time, value), on a scale from 0; empty if there are fewer than two."""
    if len(points) < 2:  # noqa: PLR2004  # a line has two ends
        return Markup("")
    start, end = points[0][0], points[-1][0]
    most = max(value for _, value in points) or 1
    drawn = " ".join(
        f"{WIDTH * (time - start) / (end - start):.1f},{HEIGHT - HEIGHT * value / most:.1f}"
        for time, value in points
    )
    return _frame(_CURVE.format(first=f"0,{HEIGHT}", points=drawn, last=f"{WIDTH},{HEIGHT}"), words)


def degree_chart(spread: Spread, nodes: str = "pages") -> list[Markup]:
    """How many pages have each number of inlinks and of outlinks, without those that have none.

    `nodes`: what they are called.
    """
    return [
        _PLOT.format(kind="plot", box=_box(PLOT_WIDTH), words=words, inside=inside)
        for words, inside in _degrees(spread, nodes)
    ]


def degrees_picture(spread: Spread, nodes: str, style: str) -> Markup:
    """The charts of `degree_chart` beside each other, for a file. `style`: CSS."""
    inside = Markup("")
    for number, (_, chart) in enumerate(_degrees(spread, nodes)):
        inside += Markup('<g transform="translate({0})">{1}</g>').format(number * PLOT_WIDTH, chart)
    words = f"{nodes} by their numbers of inlinks and of outlinks, on logarithmic axes"
    width = len(spread) * PLOT_WIDTH
    return _PLOT.format(
        kind="plot pair", box=_box(width), words=words, inside=style_of(style) + inside
    )


def _box(width: int) -> str:
    return f"0 0 {width} {PLOT_HEIGHT}"


def _degrees(spread: Spread, nodes: str) -> Iterator[tuple[str, Markup]]:
    """A description and a chart of each distribution."""
    for what, points in spread._asdict().items():
        words = f"{nodes} by the number of their {what}, on logarithmic axes"
        yield words, log_log([point for point in points if point[0]], (what, nodes))


def log_log(points: Sequence[tuple[int, int]], axes: tuple[str, str]) -> Markup:
    """A dot per point (x, y), both at least 1, on logarithmic axes with these labels.

    Points that would share a pixel are one dot.
    """
    most = (max((point[axis] for point in points), default=1) for axis in (0, 1))
    decades = [max(len(str(value - 1)), 1) for value in most]
    left, right, above, below = MARGINS
    width, height = PLOT_WIDTH - left - right, PLOT_HEIGHT - above - below

    def place(x: float, y: float) -> tuple[float, float]:
        return left + width * x / decades[0], above + height * (1 - y / decades[1])

    inside = Markup("")
    for decade in range(decades[0] + 1):
        x, y = place(decade, 0)
        inside += _GRID.format(way=f"M{x:.1f},{above} V{y}")
        inside += _TEXT.format(x=x, y=y + 14, anchor="middle", turned="", text=_power(decade))
    for decade in range(decades[1] + 1):
        x, y = place(0, decade)
        inside += _GRID.format(way=f"M{x},{y:.1f} H{left + width}")
        inside += _TEXT.format(x=x - 6, y=y + 4, anchor="end", turned="", text=_power(decade))
    x, y = left + width / 2, above + height / 2
    turned = Markup(' transform="rotate(-90 {0:.1f} {1:.1f})"').format(AXIS, y)
    inside += _TEXT.format(x=x, y=PLOT_HEIGHT - 6, anchor="middle", turned="", text=axes[0])
    inside += _TEXT.format(x=AXIS, y=y, anchor="middle", turned=turned, text=axes[1])
    dots: dict[tuple[int, ...], str] = {}
    for degree, count in points:
        at = tuple(map(round, place(log10(degree), log10(count))))
        dots.setdefault(at, f"{degree:,} {axes[0]}: {count:,} {axes[1]}")
    return inside + Markup("").join(
        _DOT.format(x=dot_x, y=dot_y, words=label) for (dot_x, dot_y), label in dots.items()
    )


def style_of(css: str) -> Markup:
    """The style of a drawing in a file of its own, which has a background there."""
    rules = Markup(css)  # noqa: S704  # our own file
    ground = Markup('<style>{0}</style><rect class="ground" width="100%" height="100%"/>')
    return ground.format(rules) if css else Markup("")


def _power(decade: int) -> str:
    """10 to a power: `1`, `10`, `100`, `1k`."""
    thousands, rest = divmod(decade, 3)
    return f"1{'0' * rest}{_UNITS[thousands]}"


def _frame(inside: Markup, words: str) -> Markup:
    return _FRAME.format(width=WIDTH, height=HEIGHT, words=words, inside=inside)
