"""Charts as inline SVG, without scripts or styles (gossamer.css has the colours).

To a screen reader, each chart is one image with a label that describes it. The page shows the
figures themselves in a table below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 600, 120
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


def bars(values: Sequence[tuple[str, float, float]], words: str) -> Markup:
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
    return _framed(drawn, words)


def curve(points: Sequence[tuple[float, float]], words: str) -> Markup:
    """A line through points (time, value), on a scale from 0; empty if there are fewer than two."""
    if len(points) < 2:  # noqa: PLR2004  # a line has two ends
        return Markup("")
    start, end = points[0][0], points[-1][0]
    most = max(value for _, value in points) or 1
    drawn = " ".join(
        f"{WIDTH * (time - start) / (end - start):.1f},{HEIGHT - HEIGHT * value / most:.1f}"
        for time, value in points
    )
    return _framed(
        _CURVE.format(first=f"0,{HEIGHT}", points=drawn, last=f"{WIDTH},{HEIGHT}"), words
    )


def _framed(inside: Markup, words: str) -> Markup:
    return _FRAME.format(width=WIDTH, height=HEIGHT, words=words, inside=inside)
