"""What the words of a class or an id say of an element: the text's place, or the site's chrome.

Names are written for people ("article-body", "sidebarRight", "related_posts"), in the site's
language, and much alike everywhere. They are read by word, not by letters: "menu-item" is a menu,
"documentmenu" is unknown, "shadow" is no ad.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise, product

BESIDE = 1
"""Beside other marks of chrome: it is no more than set apart, and may be an article's own."""
NAMED_CHROME = 2
NAMED_BODY = 4
DIALOG = 8
"""Beside other marks of chrome: it lies over the page, and asks for consent at any length."""

MAX_NAME_CHARS = 200
"""Of a class attribute or an id that are looked at."""
SLUG_WORDS = 4
"""An id of so many words is that of a heading made a link target, and tells of content."""


@lru_cache(maxsize=4096)
def judge(classes: str, identity: str) -> int:
    """NAMED_BODY or NAMED_CHROME, where the words of a class attribute and an id tell so, else 0.

    Chrome does not count where another name is that of a body: sites list there all that they
    hold ("post tag-news author-smith entry-content"). The id of a section is a link target.
    """
    names = classes.split()
    verdicts = {_judge_name(name) for name in names}
    if identity.count("-") < SLUG_WORDS - 1 and _SECTIONS.isdisjoint(names):
        verdicts.add(_judge_name(identity))
    return NAMED_BODY if NAMED_BODY in verdicts else _strongest(verdicts)


@lru_cache(maxsize=8192)
def _judge_name(name: str) -> int:
    """What one name tells; nothing, if it is of a language of its own ("D(n)!", "md:hidden")."""
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
    if word in _CHROME_WORDS or (word.startswith(_CHROME_STEMS) and word not in _COMMENTARY):
        return NAMED_CHROME
    if word.startswith(_DIALOG_STEMS):
        return NAMED_CHROME | DIALOG
    if word.startswith(_BESIDE_STEM):
        return NAMED_CHROME | BESIDE
    return NAMED_BODY if word in _BODY_WORDS else 0


def _strongest(verdicts: set[int]) -> int:
    for verdict in (NAMED_CHROME | DIALOG, NAMED_CHROME, NAMED_CHROME | BESIDE, NAMED_BODY):
        if verdict in verdicts:
            return verdict
    return 0


_WORD = re.compile(r"[A-Z]?[a-z]{1,30}|[A-Z]{1,30}")
"""With its hump, if it has one."""

_STEMS = """
    advert breadcrumb carousel comment copyright disqus donat facebook follow further
    masthead navb navig newsletter outbrain overlay paginat popup popular promo recirc recommend
    related respond share sharing signup skyscraper slideshow social sponsor subscri
    taboola taglist teaser timestamp toolbar toolbox tooltip trend twitter whatsapp widget
    anzeige komment meistgel schlagw teilen verwandt werbung
    auteur partag publici
    compartir etiquet relacionad
    condivi correlat
    reacties reklam
"""
_WORDS = """
    ad ads author authors banner bio byline credit credits dateline editsection foot footer
    hidden legal login menu meta metadata modal nav navs noprint pager rating ratings register
    replies reply tag tags toc vote votes
    autor autoren autores leggi leia lire saiba voir
"""
_CHROME_STEMS = tuple(_STEMS.split())
_CHROME_WORDS = frozenset(_WORDS.split())
_CHROME_PAIRS = frozenset(
    [
        *product(["more"], ["articles", "from", "in", "like", "news", "on", "posts", "stories"]),
        *product(["most"], ["popular", "read", "viewed"]),
        *product(["post", "posted", "pub", "publish", "published"], ["date", "time"]),
        *product(["read", "see"], ["also", "next"]),
        *product(["screen"], ["reader", "readers"]),
        *product(["skip"], ["link", "nav", "to"]),
        ("action", "bar"),
        ("by", "line"),
        ("edit", "section"),
        ("log", "in"),
        ("no", "print"),
        ("pop", "up"),
        ("sign", "up"),
        ("sr", "only"),
        ("tool", "bar"),
        ("visually", "hidden"),
    ]
)

_DIALOG_STEMS = ("consent", "cookie", "gdpr")
_BESIDE_STEM = "sidebar"

_SECTIONS = frozenset(
    ("appendix", "chapter", "sect1", "sect2", "sect3", "section", "subsection", "subsubsection")
)
"""Classes of sections, as the generators of manuals write them."""
_STATES = frozenset(("closed", "enabled", "has", "open", "with", "without"))
"""What tells of something else that it is there: "has-sidebar", "comments-open"."""
_COMMENTARY = frozenset(("commentary", "commentator", "commentators"))
_BUILDER = "elementor-widget"
"""What a widespread builder of pages calls all of a page, the text too."""

_WHOLES = """
    article artikel articulo artigo blog body detail entry main news page post single story text
"""
_PARTS = """
    body content copy corpus detail inhalt inner main markdown paragraph paragraphs text texto
"""
_BODY_PAIRS = frozenset(product(_WHOLES.split(), _PARTS.split()))
_BODY_NAMES = """
    articulo artikel contenu copytext corps cuerpo hentry noticia prose richtext testo texto wysiwyg
"""
_BODY_WORDS = frozenset([first + second for first, second in _BODY_PAIRS] + _BODY_NAMES.split())
_PAIRS = (
    dict.fromkeys(_BODY_PAIRS, NAMED_BODY)
    | dict.fromkeys(_CHROME_PAIRS, NAMED_CHROME)
    | {("side", "bar"): NAMED_CHROME | BESIDE}
)
