"""Which of the dates that a page shows are its own?

Facts (1,000 pages of the wild): 231 declare no date in metadata, and 183 of these show one near the
headline. Most dates on a page are those of something else: today's in the masthead, those of
comments and teasers, of files in a list, of events in a sentence.

Decisions: a date belongs to the page if no box between it and the headline is one of navigation,
comments, asides or teasers (`is_foreign`), if its line is not a sentence, and if it is near the
headline: before the second paragraph behind it. A date with a label ("Published on") may also stand
at the end of the text. Dates that are items of a list or a table count only with a label.

Bounds: at most MAX_LINES lines are read, and MAX_DEPTH boxes around each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from gossamer.parse.html.head_metadata import ShownDate
from gossamer.parse.html.lines import OUTSIDE
from gossamer.parse.maintext.blocks import HEADINGS
from gossamer.parse.maintext.marks import CHROME
from gossamer.parse.maintext.names import BESIDE, BYLINE, COMMENTARY, DIALOG, NAMED_CHROME
from gossamer.parse.maintext.trim import fold_words
from gossamer.parse.reading.date_labels import CHANGED, OTHER, PUBLISHED, label_of
from gossamer.parse.reading.written_dates import may_have_date, written_dates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from gossamer.parse.html.findings import Findings
    from gossamer.parse.html.head_metadata import Time
    from gossamer.parse.html.lines import Lines
    from gossamer.parse.maintext.blocks import Box

MAX_DEPTH = 64
MAX_HEADINGS, MAX_HEADING_LINES = 100, 8
BEFORE, BEHIND, TAIL = 6, 40, 30
"""Lines before and behind the headline, and at the end of its article, that may have its date."""
MAX_LINES = BEFORE + BEHIND + TAIL
MAX_PARAGRAPHS = 2
"""Paragraphs behind the headline before a date without a label."""
MAX_SUBTITLE = 6
"""Lines behind the headline in which a heading may be a subtitle, or the name of an author."""
PARAGRAPH_CHARS, WIDE_PARAGRAPH_CHARS = 100, 45
MAX_LINE_CHARS, MAX_SENTENCE_CHARS = 160, 400
MAX_REST_WORDS = 5
"""Words beside a date, such as an author's name, without a separator."""
MAX_BYLINE_WORDS = 16
MAX_LABEL_CHARS = 60
MAX_LIST = 2
"""Dates in a line or a list that may still be the page's: of publication and change."""
MIN_WIDE = "\u2e80"
"""The first of the characters of Chinese, Japanese and Korean."""

_ALWAYS_FOREIGN = frozenset(("aside", "dialog", "menu", "nav", "search"))
_ARTICLES = frozenset(("article", "main"))
_NAMELESS_CHROME = frozenset(("fieldset", "footer", "form", "header"))
"""Elements that may contain the date of a page, although they are boilerplate."""
_TITLES = frozenset(("h1", "h2", "h3"))
"""Headings that are titles of other pages, if they are links."""
_LISTS = frozenset(("dl", "ol", "pre", "table", "ul"))
_ENUMERATIONS = frozenset(("ol", "ul"))
"""Lists that a byline may be: a table has dates of things."""
_OWN_NAMES = """
published updated modified dt-published dt-updated entry-date post-date pubdate datepublished
datemodified
"""
_OWN = frozenset(_OWN_NAMES.split())
"""Classes and properties of microformats and themes for dates of the page."""
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d\d|[年년]")
_SENTENCE = re.compile(r"[.!?…。！？]\W*$")
_ABBREVIATION = re.compile(r"(?:\b\w{1,3}|\d)\.\W*$")
_SEPARATOR = re.compile(r"[|·•●∙｜/]|\s[–—-]\s")


def keep_own_dates(found: Findings) -> None:
    """Collect the dates that a page shows as its own, and drop time elements that are not."""
    metadata = found.head_metadata
    locale = next(metadata.meta_contents("locale"), "")
    language = found.language or ""
    if "-" not in language and locale[:2].lower() == (language[:2].lower() or locale[:2].lower()):
        language = locale  # which has a region
    title = found.title or next(metadata.meta_contents("headline"), "")
    finder = DateFinder(found.lines, title, language)
    metadata.shown = finder.dates()
    if metadata.times:
        metadata.times = finder.own_times(metadata.times)
        if not metadata.headlines and finder.headline is not None:
            metadata.headlines.append(finder.headline)


class DateFinder:
    """The lines and boxes of a page, and its headline."""

    def __init__(self, lines: Lines, title: str, language: str) -> None:
        self._texts = lines.outline_lines()
        self._ends = lines.ends
        self._boxes = lines.boxes
        self._headings = lines.headings
        self._links = lines.links
        self._language = language
        self.headline = self._find_headline(fold_words(title))

    def _find_headline(self, title: str) -> int | None:
        """Return the line of the longest heading that the title contains, or of the first h1."""
        best = next((box for box in self._headings if box.tag == "h1"), None)
        most = 2
        for box in self._headings[:MAX_HEADINGS]:
            written = " ".join(self._texts[box.start : min(box.end, box.start + MAX_HEADING_LINES)])
            is_first = box.tag == "h1"
            if 2 * len(written.lower()) + is_first <= most:
                continue
            words = fold_words(written)
            weight = 2 * len(words) + is_first
            if weight > most and words in title:
                best, most = box, weight
        if best is None:
            return None
        lines = range(best.start, best.end)
        return next((line for line in lines if self._texts[line]), best.start)

    @cached_property
    def _articles(self) -> Counter[int]:
        """The number of articles in each box."""
        return Counter(box.parent for box in self._boxes if box.tag == "article")

    @cached_property
    def _near(self) -> frozenset[int]:
        """Lines near the headline, where a date needs no label."""
        return frozenset(self._near_lines())

    def _count_links(self, start: int, end: int) -> int:
        """Return the number of lines from `start` to `end` that have a link to another page."""
        found = self._links[bisect_left(self._links, start) : bisect_left(self._links, end)]
        return len(set(found))

    def is_foreign(self, line: int) -> bool:
        """Whether what a line contains belongs to something else than the page's headline."""
        boxes = self._boxes
        number = self._box_of(line)
        for _ in range(MAX_DEPTH):
            box = boxes[number]
            if number == 0 or self._contains_headline(box):
                return False
            if self._is_foreign_box(box):
                return True
            number = box.parent
        return True

    def _is_foreign_box(self, box: Box) -> bool:
        marks, tag = box.marks, box.tag
        if tag in _ALWAYS_FOREIGN or marks & (BESIDE | COMMENTARY | DIALOG):
            return True
        if marks & NAMED_CHROME and not marks & BYLINE:
            return True
        if tag == "article":
            return self._is_other_article(box)
        if tag in ("footer", "header"):
            return not self._is_in_article(box)
        return bool(marks & CHROME) and tag not in _NAMELESS_CHROME and not marks & BYLINE

    def _is_other_article(self, article: Box) -> bool:
        """Whether an article without the headline is a comment or a teaser: if it is not alone."""
        parent = self._boxes[article.parent]
        return (
            self._articles[article.parent] > 1 or self._is_in_article(article) or parent.tag == "li"
        )

    def _is_in_article(self, box: Box) -> bool:
        return any(around.tag in _ARTICLES for _, around in self._boxes_from(box.parent))

    def _boxes_from(self, number: int) -> Iterator[tuple[int, Box]]:
        """Yield a box and those around it, except the page, with their numbers."""
        for _ in range(MAX_DEPTH):
            if number == 0:
                return
            yield number, self._boxes[number]
            number = self._boxes[number].parent

    def _contains_headline(self, box: Box) -> bool:
        return self.headline is not None and box.start <= self.headline < box.end

    def _box_of(self, line: int) -> int:
        """Return the number of the box of a line, or of the line after it that ends a block."""
        while line < len(self._ends) - 1 and OUTSIDE < self._ends[line] < 0:
            line += 1
        return max(self._ends[line], 0)

    def own_times(self, times: Sequence[Time]) -> list[Time]:
        """Return the time elements that are about the page."""
        lists: dict[int, set[str]] = defaultdict(set)
        own = [(self._list_around(time.line), time) for time in times if self._is_own(time)]
        for around, time in own:
            if _OWN.isdisjoint(time.words):
                lists[around].add(time.value)
        far = [time for time in times if self._is_far(time.line)]
        if len({(time.value, time.words) for time in far}) > MAX_LIST:
            own = [(around, time) for around, time in own if time not in far]
        return [time for around, time in own if not around or len(lists[around]) < MAX_LIST]

    def _is_far(self, line: int) -> bool:
        return self.headline is not None and line not in self._near and not self._shares(line)

    def _is_own(self, time: Time) -> bool:
        """Whether the place of a time element is the page's. Hidden ones must say that they are."""
        if self.is_outside(time.line):
            return time.pubdate or not _OWN.isdisjoint(time.words)
        if self.is_foreign(time.line):
            return False
        if self.headline is not None and time.line not in self._near:
            return not _OWN.isdisjoint(time.words)
        return not (time.text and self.is_sentence(time.line, time.text))

    def _shares(self, line: int) -> bool:
        """Whether a line and the headline are in the same article."""
        for _, box in self._boxes_from(self._box_of(line)):
            if box.tag in _ARTICLES:
                return self._contains_headline(box)
        return False

    def is_outside(self, line: int) -> bool:
        """Whether a line is hidden, or in a button."""
        return self._ends[line] == OUTSIDE

    def is_sentence(self, line: int, date: str) -> bool:
        """Whether the line of a date is a sentence."""
        text = self._texts[line]
        if len(text) > MAX_SENTENCE_CHARS:
            return True
        return _is_sentence(text.replace(date, " ", 1)) and label_of(text.lower()) is None

    def dates(self) -> list[ShownDate]:
        """Return the page's dates, those with a label first, then the nearest to the headline."""
        if self.headline is None:
            return []
        found: list[tuple[int, int, ShownDate]] = []
        lists: dict[int, set[datetime]] = defaultdict(set)
        for line in self._dated(self._near):
            for date, label in self._dates_in(line):
                if label is None:
                    lists[self._list_around(line)].add(date)
                distance = abs(line - self.headline)
                shown = ShownDate(date, label, line < self.headline)
                found.append((distance + MAX_LINES * (label is None), line, shown))
        tail = [
            (line, *each) for line in self._dated(self._tail()) for each in self._dates_in(line)
        ]
        labelled = [(line, date, label) for line, date, label in tail if label is not None]
        for label in (PUBLISHED, CHANGED):
            same = {date for _, date, each in labelled if each == label}
            if len(same) == 1:
                found.append((2 * MAX_LINES, 0, ShownDate(same.pop(), label, is_above=False)))
        return [
            shown
            for _, line, shown in sorted(found)
            if shown.label is not None
            or not (around := self._list_around(line))
            or (len(lists[around]) < MAX_LIST and self._boxes[around].tag in _ENUMERATIONS)
        ]

    def _dated(self, lines: Iterable[int]) -> list[int]:
        """Return the lines that may have a date: few of a page, so this is asked first."""
        texts = self._texts
        return [
            line
            for line in lines
            if 0 < len(text := texts[line]) <= MAX_LINE_CHARS
            and may_have_date(text)
            and not self.is_outside(line)
        ]

    def _near_lines(self) -> Iterator[int]:
        if self.headline is None:
            return
        headline = self.headline
        for line in range(max(headline - BEFORE, 0), headline):
            if self._texts[line] and not self.is_outside(line) and self._is_kicker(line):
                yield line
        paragraphs = 0
        headings = {box.start: box.tag for box in self._headings}
        for line in range(headline, min(headline + BEHIND, len(self._texts))):
            text = self._texts[line]
            if line > headline and line in headings:
                is_other = headings[line] in _TITLES and self._count_links(line, line + 1)
                if is_other or line > headline + MAX_SUBTITLE:
                    return
            if _is_paragraph(text):
                paragraphs += 1
                if paragraphs >= MAX_PARAGRAPHS:
                    return
            elif text and self._ends[line] != OUTSIDE:
                yield line

    def _is_kicker(self, line: int) -> bool:
        """Whether a line above the headline is beside it, or in a box with it and not everything.

        What is above a menu is of the site.
        """
        headline = self.headline or 0
        links = self._count_links(line + 1, headline)
        if links != 1:
            return links == 0
        for _, box in self._boxes_from(self._box_of(line)):
            if self._contains_headline(box):
                outside = (
                    *range(box.start),
                    *range(box.end, min(box.end + BEHIND, len(self._texts))),
                )
                return any(self._texts[each] and self._ends[each] != OUTSIDE for each in outside)
        return False

    def _tail(self) -> range:
        """Return the last lines of the largest box around the headline that is not the page."""
        headline = self.headline or 0
        boxes = (box for _, box in self._boxes_from(self._box_of(headline)))
        end = next((box.end for box in boxes if box.tag in _ARTICLES), len(self._texts))
        first = max(end - TAIL, headline + BEHIND if end - headline > BEHIND else headline)
        return range(first, end)

    def _dates_in(self, line: int) -> Iterable[tuple[datetime, str | None]]:
        """Yield the dates in a line that may be the page's, with their labels."""
        text = self._texts[line]
        dates = written_dates(text, self._language)
        if not dates or len(dates) > MAX_LIST or self.is_foreign(line):
            return
        lower = text.lower()
        rest, at = [], 0
        for each in dates:
            rest.append(lower[at : each.start])
            at = each.end
        rest.append(lower[at:])
        boxes, box = self._boxes, self._boxes[self._box_of(line)]
        is_heading = box.tag in HEADINGS or boxes[box.parent].tag in HEADINGS
        for index, each in enumerate(dates):
            label = label_of(rest[index][-MAX_LABEL_CHARS:])
            if label is None and index == 0:
                label = self._label_above(line, rest) or label_of(
                    rest[1][:MAX_LABEL_CHARS], last=False
                )
            if label == OTHER or (label is None and box.tag == "pre"):
                continue
            words = " ".join(rest)
            if label is None and (_is_sentence(words) or (is_heading and _count(words) > 1)):
                continue
            if label is not None and _count(words) > MAX_BYLINE_WORDS:
                continue
            yield each.date, label

    def _label_above(self, line: int, rest: Sequence[str]) -> str | None:
        """Return the label in the line above a date that has a line of its own."""
        if _count(" ".join(rest)) > 2:  # noqa: PLR2004  # a weekday, a word for the time
            return None
        above = next(
            (self._texts[n] for n in range(line - 1, max(line - 4, -1), -1) if self._texts[n]), ""
        )
        if len(above) > MAX_LABEL_CHARS // 2 or _NUMBER.search(above) or _count(above) > 3:  # noqa: PLR2004
            return None
        return label_of(above.lower())

    def _list_around(self, line: int) -> int:
        """Return the number of the innermost list or table around a line that is apart, or 0."""
        for number, box in self._boxes_from(self._box_of(line)):
            if self._contains_headline(box):
                break
            if box.tag in _LISTS:
                return number
        return 0


def _is_paragraph(text: str) -> bool:
    wide = bool(text) and text[len(text) // 2] >= MIN_WIDE
    return len(text) >= (WIDE_PARAGRAPH_CHARS if wide else PARAGRAPH_CHARS)


def _count(text: str) -> int:
    """Return the number of words; of languages without spaces, a word has four characters."""
    return sum(1 + (len(word) // 4 if word[0] >= MIN_WIDE else 0) for word in _WORD.findall(text))


def _is_sentence(rest: str) -> bool:
    words = _count(rest)
    if words <= 2:  # noqa: PLR2004  # a weekday, a word for the time
        return False
    if _SENTENCE.search(rest) and not _ABBREVIATION.search(rest):
        return True
    return words > (MAX_BYLINE_WORDS if _SEPARATOR.search(rest) else MAX_REST_WORDS)
