"""Is the article found on pages with long comment threads? `python bench/comment_threads.py`.

The pages are made from thread_templates.py: articles of 80 to 1,500 words with 12 to 150 comments,
in seven languages, between a menu, a list of other articles and a footer. An article counts as
found if the main text has all of its paragraphs, and nothing of the comments nor of what is around.
Discussions, from discussion_templates.py, must keep all of their posts. Another `--seed` gives
other pages.
"""

from __future__ import annotations

import argparse
import re
from itertools import cycle, islice
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from discussion_templates import DISCUSSIONS
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser
from thread_templates import THREADS, Article, Comment, flat

from gossamer.fakeweb.text import Prose, prose
from gossamer.parse.html import article
from gossamer.parse.html.walk import findings
from gossamer.parse.page import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANGUAGES = ("en", "de", "fr", "es", "ru", "ja", "zh")
MONTHS = {
    "en": "January March April August October December",
    "de": "Januar März April August Oktober Dezember",
    "fr": "janvier mars avril août octobre décembre",
    "es": "enero marzo abril agosto octubre diciembre",
    "ru": "января марта апреля августа октября декабря",
}
HEADINGS = {
    "en": "{} comments",
    "de": "{} Kommentare",
    "fr": "{} commentaires",
    "es": "{} comentarios",
    "ru": "Комментарии ({})",
    "ja": "コメント（{}件）",
    "zh": "{}条评论",
}
AGO = {
    "en": "{} hours ago",
    "de": "vor {} Stunden",
    "fr": "il y a {} heures",
    "es": "hace {} horas",
    "ru": "{} часов назад",
    "ja": "{}時間前",
    "zh": "{}小时前",
}
NAMES = re.findall(
    r"\S+",
    "Ann Ben Chloé Daniel Eva Farid Greta Hugo Ines Jörg Kenji Lena Miguel Noor Olga Pavel Quinn "
    "Rosa Sven Tatiana Umar Vera Wei Xenia Yuki Zoë skipper_42 the-keeper harbourmouse Dr.Tide",
)
SIZES = ((80, 12, 60), (80, 40, 90), (150, 25, 30), (300, 60, 70), (600, 150, 40), (1_500, 14, 150))
"""Words of the article, number of comments, most words of a comment."""


class Page(NamedTuple):
    template: str
    language: str
    html: str
    wanted: Sequence[str]
    """Lines of the main text."""
    unwanted: Sequence[str]


class Writer:
    """Random prose in a language, in which no line occurs twice."""

    def __init__(self, language: str, draw: Random) -> None:
        self.language, self.draw = language, draw
        self._prose: Prose = prose(language)

    def paragraphs(self, words: int) -> list[str]:
        found = []
        while words > 0:
            sentences = self.draw.randint(2, 6)
            found.append(self._prose.plain(self.draw.random, sentences))
            words -= 9 * sentences
        return found

    def line(self, words: int) -> str:
        text = self._prose.phrase(self.draw.random, words)
        return text[:1].upper() + text[1:]

    def date(self) -> str:
        day, hour, minute = (
            self.draw.randint(1, 28),
            self.draw.randint(0, 23),
            self.draw.randint(10, 59),
        )
        year = self.draw.randint(2004, 2025)
        if self.language in ("ja", "zh"):
            return f"{year}年{self.draw.randint(1, 12)}月{day}日 {hour}:{minute}"
        month = self.draw.choice(MONTHS[self.language].split())
        return self.draw.choice([f"{day} {month} {year}", f"{day} {month} {year}, {hour}:{minute}"])

    def comments(self, number: int, most_words: int) -> list[Comment]:
        """A thread in which each third comment answers the one before."""
        found: list[Comment] = []
        for place in range(number):
            paragraphs = self.paragraphs(self.draw.randint(8, most_words))
            if place % 5 == 4:
                paragraphs = [self.line(self.draw.randint(1, 5))]
            comment = Comment(
                place + 1,
                self.draw.choice(NAMES),
                self.date(),
                AGO[self.language].format(self.draw.randint(2, 23)),
                f"20{self.draw.randint(10, 25)}-03-{self.draw.randint(10, 28)}",
                paragraphs,
            )
            if place % 3 == 2:
                before = found.pop()
                comment = before._replace(answers=[*before.answers, comment])
            found.append(comment)
        return found


def thread_page(template: str, language: str, size: Sequence[int], draw: Random) -> Page:
    writer = Writer(language, draw)
    words, number, most_words = size
    paragraphs = writer.paragraphs(words)
    parts = [f"<p>{each}</p>" for each in paragraphs]
    quoted = None
    if len(parts) > 3:
        quoted = writer.paragraphs(20)[0]
        parts.insert(2, f"<blockquote><p>{quoted}</p></blockquote>")
    if len(parts) > 8:
        parts.insert(6, f"<h2>{writer.line(4)}</h2>")
    comments = writer.comments(number, most_words)
    article = Article(
        writer.line(6),
        f"{draw.choice(NAMES)} {writer.date()}",
        "".join(parts),
        comments,
        HEADINGS[language].format(number),
    )
    others = [writer.line(9) for _ in range(8)]
    posted = [line for each in flat(comments) for line in each.paragraphs]
    return Page(
        template,
        language,
        framed(article, THREADS[template](article), others),
        [*paragraphs, *([quoted] if quoted else [])],
        [*posted, *others, article.byline],
    )


def discussion_page(template: str, language: str, size: Sequence[int], draw: Random) -> Page:
    writer = Writer(language, draw)
    comments = writer.comments(*size[1:])
    topic = Article(writer.line(6), "", "", comments, "")
    others = [writer.line(9) for _ in range(8)]
    posts = [line for each in flat(comments) for line in each.paragraphs]
    html = framed(topic, DISCUSSIONS[template](topic), others)
    return Page(template, language, html, posts, others)


def framed(article: Article, body: str, others: Sequence[str]) -> str:
    menu = "".join(
        f"<li><a href=/s/{n}>{line.split()[0]}</a></li>" for n, line in enumerate(others)
    )
    teasers = "".join(f"<li><a href=/a/{n}>{line}</a></li>" for n, line in enumerate(others))
    return (
        f"<!doctype html><title>{article.title} - The Harbour</title><body>"
        f"<div><ul>{menu}</ul></div>{body}<div><h3>More</h3><ul>{teasers}</ul></div>"
        "<div>© 2025 The Harbour</div>"
    )


def pages(number: int, seed: int) -> Iterator[Page]:
    draw = Random(seed)  # noqa: S311  # reproducible
    kinds = zip(cycle(THREADS), cycle(LANGUAGES), strict=False)
    for place, (template, language) in enumerate(islice(kinds, number)):
        size = SIZES[(place + place // len(SIZES)) % len(SIZES)]
        yield thread_page(template, language, size, draw)


def discussions(seed: int) -> Iterator[Page]:
    draw = Random(seed)  # noqa: S311  # reproducible
    for place, template in enumerate(cycle(DISCUSSIONS)):
        if place == 3 * len(DISCUSSIONS):
            return
        yield discussion_page(template, LANGUAGES[place % len(LANGUAGES)], SIZES[place % 6], draw)


def errors(page: Page) -> list[str]:
    """What is wrong with the main text of a page; nothing if it was found."""
    tree = LexborHTMLParser(page.html, scripting=True)
    lines = article(tree, findings(tree, Rules())).split("\n")
    text = "\n".join(lines)
    lost = [f"lost: {line}" for line in page.wanted if line not in text]
    held = set(lines)
    return lost + [f"more: {line}" for line in page.unwanted if line in held]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--errors", type=int, default=0, help="print this many errors of a page")
    asked = parser.parse_args()
    table = Table("pages", "number", "right")
    for name, made in (
        ("articles with comments", list(pages(asked.pages, asked.seed))),
        ("discussions", list(discussions(asked.seed))),
    ):
        right = 0
        for page in made:
            wrong = errors(page)
            right += not wrong
            if wrong and asked.errors:
                lost = sum(each.startswith("lost") for each in wrong)
                print(f"{page.template}, {page.language}: {lost} lost, {len(wrong) - lost} more")
                print(*(f"  {each[:110]}" for each in wrong[: asked.errors]), sep="\n")
        table.add_row(name, str(len(made)), str(right))
    Console().print(table)


if __name__ == "__main__":
    main()
