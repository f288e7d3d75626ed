"""Whether the words in a class or id suggest main text or boilerplate.

Names are written for people ("article-body", "sidebarRight", "related_posts"), in the site's
language, and are similar everywhere. Whole words are compared, not letters: "menu-item" is a menu,
"documentmenu" is unknown, and "shadow" is not an ad.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise, product
from typing import Final

BESIDE: Final = 1
"""In addition to a mark of boilerplate: an aside or sidebar, which may be part of the article."""
NAMED_CHROME: Final = 2
"""Mark of elements whose name suggests boilerplate."""
NAMED_BODY: Final = 4
"""Mark of elements whose name suggests the main text."""
DIALOG: Final = 8
"""In addition to a mark of boilerplate: a dialog over the page, such as a long consent form."""
COMMENTARY: Final = 128
"""In addition to a mark of boilerplate: comments of readers."""
BYLINE: Final = 256
"""In addition to a mark of boilerplate: author, date or footer, perhaps of the text."""

MAX_NAME_CHARS: Final = 200
"""Characters read of a class attribute or an id."""
SLUG_WORDS: Final = 4
"""An id of this many words is a slug made from a heading, and describes content, not layout."""


@lru_cache(maxsize=4096)
def judge(classes: str, identity: str) -> int:
    """Return the marks for a class attribute and an id, or 0.

    NAMED_BODY wins over NAMED_CHROME, since an article's classes often list its metadata ("post
    tag-news author-smith entry-content"). The id of a section is a link target and is ignored.
    """
    names = classes.split()
    verdicts = {_judge_name(name) for name in names}
    if identity.count("-") < SLUG_WORDS - 1 and _SECTIONS.isdisjoint(names):
        verdicts.add(_judge_name(identity))
    return NAMED_BODY if NAMED_BODY in verdicts else _strongest(verdicts)


def is_number_name(classes: str) -> bool:
    """Whether a class attribute is that of line numbers, in the terms of syntax highlighters."""
    lower = classes.lower()
    if "line" in lower or "ln" in lower or "gutter" in lower or "blob" in lower:
        return _NUMBERS.search(lower) is not None
    return False  # nearly always, without the pattern


@lru_cache(maxsize=8192)
def _judge_name(name: str) -> int:
    """Return the mark for one name; 0 for utility classes such as "D(n)!" and "md:hidden"."""
    if "(" in name or ":" in name:
        return 0
    words = [word.lower() for word in _WORD.findall(name.removeprefix(_BUILDER))]
    if not _STATES.isdisjoint(words):
        return 0
    verdicts = set(map(_judge_word, words))
    verdicts.update([_PAIRS[pair] for pair in pairwise(words) if pair in _PAIRS])
    return _strongest(verdicts)


@lru_cache(maxsize=8192)
def _judge_word(word: str) -> int:
    if word.startswith(_COMMENT_STEMS):
        return 0 if word in _ESSAYS else NAMED_CHROME | COMMENTARY
    if word in _BYLINE_WORDS:
        return NAMED_CHROME | BYLINE
    if word in _CHROME_WORDS or word.startswith(_CHROME_STEMS):
        return NAMED_CHROME
    if word.startswith(_DIALOG_STEMS):
        return NAMED_CHROME | DIALOG
    if word.startswith(_BESIDE_STEM):
        return NAMED_CHROME | BESIDE
    return NAMED_BODY if word in _BODY_WORDS else 0


def _strongest(verdicts: set[int]) -> int:
    for verdict in _STRENGTHS:
        if verdict in verdicts:
            return verdict
    return 0


_STRENGTHS: Final = (
    NAMED_CHROME | DIALOG,
    NAMED_CHROME | COMMENTARY,
    NAMED_CHROME,
    NAMED_CHROME | BYLINE,
    NAMED_CHROME | BESIDE,
    NAMED_BODY,
)
_NUMBERS: Final = re.compile(
    r"(?<![a-z])(?:line[_-]?(?:no|nr|num|number)s?(?:div)?|lnt?|gutter|blob[_-]num|hljs-ln-n\w*)"
    r"(?![a-z])"
)
"""Sources: Pygments, Rouge, Chroma, GeSHi, SyntaxHighlighter, highlight.js, Shiki, GitHub, cgit,
gitweb, Doxygen, rustdoc, Hexo."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]{1,30}|[A-Z]{1,30}")
"""A word of a name, in camelCase too."""

_STEMS: Final = """
    advert breadcrumb carousel copyright donat facebook follow further
    masthead navb navig newsletter outbrain overlay paginat popup popular promo recirc recommend
    related respond share sharing signup skyscraper slideshow social sponsor subscri
    taboola taglist teaser toolbar toolbox tooltip trend twitter whatsapp widget
    anzeige meistgel schlagw teilen verwandt werbung
    auteur partag publici
    compartir etiquet relacionad
    condivi correlat
    reklam
"""
_WORDS: Final = """
    ad ads banner bio editsection hidden legal login menu modal nav navs noprint pager
    rating ratings register replies reply tag tags toc vote votes
    leggi leia lire saiba voir
"""
_BYLINES: Final = """
author authors autor autoren autores byline credit credits dateline foot footer meta metadata
timestamp timestamps
"""
_BYLINE_WORDS: Final = frozenset(_BYLINES.split())
_CHROME_STEMS: Final = tuple(_STEMS.split())
_CHROME_WORDS: Final = frozenset(_WORDS.split())
_CHROME_PAIRS: Final = frozenset(
    [
        *product(["more"], ["articles", "from", "in", "like", "news", "on", "posts", "stories"]),
        *product(["most"], ["popular", "read", "viewed"]),
        *product(["read", "see"], ["also", "next"]),
        *product(["screen"], ["reader", "readers"]),
        *product(["skip"], ["link", "nav", "to"]),
        *product(["cite", "citing"], ["article", "as", "page", "this"]),
        *product(["how", "to"], ["cite"]),
        ("action", "bar"),
        ("edit", "section"),
        ("log", "in"),
        ("no", "print"),
        ("pop", "up"),
        ("sign", "up"),
        ("suggested", "citation"),
        ("sr", "only"),
        ("tool", "bar"),
        ("visually", "hidden"),
    ]
)
_BYLINE_PAIRS: Final = frozenset(
    [
        *product(["post", "posted", "pub", "publish", "published"], ["date", "time"]),
        ("by", "line"),
    ]
)

_DIALOG_STEMS: Final = ("consent", "cookie", "gdpr")
_BESIDE_STEM: Final = "sidebar"

_SECTIONS: Final = frozenset(
    ("appendix", "chapter", "sect1", "sect2", "sect3", "section", "subsection", "subsubsection")
)
"""Classes of sections in manuals, as documentation generators write them."""
_STATES: Final = frozenset(("closed", "enabled", "has", "open", "with", "without"))
"""Words of names that describe the state of something else: "has-sidebar", "comments-open"."""
_COMMENT_STEMS: Final = ("comment", "disqus", "komment", "reacties")
_ESSAYS: Final = frozenset(("commentary", "commentator", "commentators"))
"""Words with the stem of comments that name articles."""
_BUILDER: Final = "elementor-widget"
"""A prefix that a popular page builder gives to every element, including the text."""

_WHOLES: Final = """
    article artikel articulo artigo blog body detail entry main news page post single story text
"""
_PARTS: Final = """
    body content copy corpus detail inhalt inner main markdown paragraph paragraphs text texto
"""
_BODY_PAIRS: Final = frozenset(product(_WHOLES.split(), _PARTS.split()))
_BODY_NAMES: Final = """
    articulo artikel contenu copytext corps cuerpo hentry noticia prose richtext testo texto wysiwyg
"""
_BODY_WORDS: Final = frozenset(
    [first + second for first, second in _BODY_PAIRS] + _BODY_NAMES.split()
)
_PAIRS: Final = (
    dict.fromkeys(_BODY_PAIRS, NAMED_BODY)
    | dict.fromkeys(_CHROME_PAIRS, NAMED_CHROME)
    | dict.fromkeys(_BYLINE_PAIRS, NAMED_CHROME | BYLINE)
    | {("side", "bar"): NAMED_CHROME | BESIDE}
)
