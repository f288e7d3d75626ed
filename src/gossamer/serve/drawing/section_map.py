"""The parts of a section as a treemap that a person can click.

The area of a part is proportional to its known pages, and its colour follows from a share of them.
A part that is large enough shows the parts in it, too, in the same proportion. Parts that would be
too small to click are one box, and so are the pages that are in no part. Without scripts or
styles: sections.css has the colours.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markupsafe import Markup

from gossamer.serve.drawing import labels
from gossamer.serve.drawing.treemap import Box, squarify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.schedule.order.sections.section_tree import (
        Counts,
        OpenSection,
        SectionCounts,
        Subsections,
    )

    Href = Callable[[str], str]
    Further = Callable[[int], str]

SIZES = {"wide": (960, 520), "narrow": (360, 520)}
"""Width and height of the drawings, in pixels."""
MOST = 60
"""Parts that have boxes of their own."""
LEAST_AREA = 1_600
"""Square pixels of a box of a part: a finger hits 40 × 40."""
LEAST_INNER_AREA = 600
STEPS = 5
"""Colours of a share above 0."""
GAP = 6
CHAR = 8
"""The width of a wide character of a label."""
LINE = 16
INNER_LINES = 5
"""Height of a part of a part that has a label, at its lower end: the upper one is for its part."""
LEAST_CHARS = 4
_UNKNOWN = "unknown"

_FRAME = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" class="treemap {name} of-{colour}" '
    'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
    'aria-label="{words}">{inside}</svg>'
)
_LINK = Markup('<a href="{href}"><title>{words}</title>{inside}</a>')
_PLAIN = Markup("<g><title>{words}</title>{inside}</g>")
_WINDOW = Markup(
    '<svg x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}">{inside}</svg>'
)
_RECT = Markup(
    '<rect class="{kind}" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"/>'
)
_TEXT = Markup('<text class="{kind}" x="{x}" y="{y}">{text}</text>')


class Colour(NamedTuple):
    """A share by which boxes are coloured: how many of the pages `of` a kind are `pages`."""

    pages: str
    of: str
    words: str

    def share(self, counts: Counts) -> float | None:
        """None if there is nothing to have a share of."""
        whole: int = getattr(counts, self.of)
        return getattr(counts, self.pages) / whole if whole else None

    def kind(self, counts: Counts) -> str:
        """The class of a box: `s0` for none, to `s5` for more than four fifths."""
        share = self.share(counts)
        return _UNKNOWN if share is None else f"s{ceil(share * STEPS)}"


COLOURS = {
    "fit": Colour("fit", "asked", "fit pages, of those that were requested"),
    "fetched": Colour("fetched", "known", "fetched pages, of those that are known"),
    "failed": Colour("failed", "asked", "pages that failed, of those that were requested"),
    "changed": Colour("changed", "fetched", "pages that changed, of those that were fetched"),
}


class _Box(NamedTuple):
    """What a box stands for."""

    name: str
    label: str
    counts: Counts
    href: str | None
    inner: Subsections | None = None


def draw_sections(
    opened: OpenSection, size: str, colour: str, href: Href, further: Further
) -> Markup:
    """Draw the parts of a section. `size`: of SIZES; `colour`: of COLOURS.

    `href`: the link of a part; `further`: that of all parts from a place on.
    """
    width, height = SIZES[size]
    boxes = _section_boxes(opened, width * height, href, further)
    places = squarify([box.counts.known for box in boxes], Box(0, 0, width, height))
    inside = [
        _draw_box(box, place, COLOURS[colour]) for box, place in zip(boxes, places, strict=True)
    ]
    name = labels.visible(opened.section or opened.domain)
    return _FRAME.format(
        name=size,
        colour=colour,
        width=width,
        height=height,
        words=f"The parts of {name}, by their known pages",
        inside=Markup("").join(inside),
    )


def words(counts: Counts) -> str:
    return (
        f"{counts.known:,} known, {counts.fetched:,} fetched, {counts.failed:,} failed, "
        f"{counts.changed:,} changed, {counts.fit:,} fit"
    )


def label(section: str, around: str) -> str:
    """The name of a part within a section, in which %XX are characters."""
    name = section.removeprefix(around)
    return labels.visible(unquote(name if around else name.removesuffix("/")))


def _section_boxes(opened: OpenSection, area: float, href: Href, further: Further) -> list[_Box]:
    """The boxes of a section, in descending order of their pages."""
    shown = opened.parts.page(MOST)
    shown = shown[: _own_boxes(shown, opened.parts.total, opened.counts.known, area, LEAST_AREA)]
    boxes = [
        _Box(
            part.section,
            label(part.section, opened.section),
            part.counts,
            href(part.section),
            opened.inner.in_section(part.section),
        )
        for part in shown
    ]
    if others := opened.parts.total - len(shown):
        counts = opened.parts.counts.minus(*(part.counts for part in shown))
        name = f"{others:,} {'other' if shown else 'parts'}{'s' if shown and others > 1 else ''}"
        boxes.append(_Box(name, name, counts, further(len(shown))))
    if opened.rest.known:
        name = "pages in none of these parts"
        boxes.append(_Box(name, "other pages", opened.rest, None))
    return sorted(boxes, key=lambda box: -box.counts.known)


def _own_boxes(
    parts: Sequence[SectionCounts], total: int, known: int, area: float, least_area: float
) -> int:
    """How many of the largest parts have boxes of their own. A single other one has, too."""
    own = sum(part.counts.known * area >= least_area * known for part in parts)
    return total if own + 1 == total == len(parts) else own


def _draw_box(box: _Box, place: Box, colour: Colour) -> Markup:
    inside = _fill_box(box, place, colour)
    chars = int((place.width - 2 * GAP) / CHAR)
    lines = int((place.height - GAP) / LINE)
    share = colour.share(box.counts)
    pages = f"{box.counts.known:,}"
    texts = [("name", box.label), ("pages", pages)]
    if share is not None:
        texts.append(("pages", f"{100 * share:.0f} % {colour.pages}"))
    for number, (kind, text) in enumerate(texts[:lines] if chars > 1 else [], 1):
        if kind == "name" or len(text) <= chars:
            shown = labels.fitting_label(text, chars)
            inside += _TEXT.format(kind=kind, x=GAP, y=number * LINE, text=shown)
    window = _WINDOW.format(**place._asdict(), inside=inside)
    told = f"{labels.visible(box.name)}: {words(box.counts)}"
    if box.href is None:
        return _PLAIN.format(words=told, inside=window)
    return _LINK.format(href=box.href, words=told, inside=window)


def _fill_box(box: _Box, place: Box, colour: Colour) -> Markup:
    """The rectangle of a box, and those of the parts in it; what is in none has its own colour."""
    within = Box(0, 0, place.width, place.height)
    known, area = box.counts.known, place.width * place.height
    parts = [] if box.inner is None else box.inner.page(MOST)
    parts = [part for part in parts if part.counts.known * area >= LEAST_INNER_AREA * known]
    rest = box.counts.minus(*(part.counts for part in parts))
    filled = _RECT.format(kind=colour.kind(rest if rest.known else box.counts), **within._asdict())
    sizes: list[tuple[int, SectionCounts | None]] = [(part.counts.known, part) for part in parts]
    sizes += [(rest.known, None)] if rest.known else []
    sizes.sort(key=lambda size: -size[0])
    boxes = squarify([known for known, _ in sizes], within)
    for (_, part), inner in zip(sizes, boxes, strict=True):
        if part is not None:
            filled += _RECT.format(kind=colour.kind(part.counts), **inner._asdict())
            chars = int((inner.width - 2 * GAP) / CHAR)
            if inner.height >= INNER_LINES * LINE and chars >= LEAST_CHARS:
                text = labels.fitting_label(label(part.section, box.name), chars)
                x, y = inner.x + GAP, inner.y + inner.height - GAP
                filled += _TEXT.format(kind="inner", x=f"{x:.1f}", y=f"{y:.1f}", text=text)
    return filled + _RECT.format(kind="frame", **within._asdict())
