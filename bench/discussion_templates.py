"""Templates of pages whose posts are the text: forums and mailing lists."""

# ruff: noqa: E501 - markup is easier to read when elements are not split

from __future__ import annotations

from typing import TYPE_CHECKING

from thread_templates import Article, Comment, flat, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def forum(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<div class='post bg{c.number % 2}' id=p{c.number}><div class=postbody><p class=author>"
            f"{c.author} » {c.date}</p><div class=content>{c.html}</div></div></div>"
        )

    return (
        f"<div id=page-body><h2>{page.title}</h2>{joined(item, flat(page.comments))}"
        f"<div class=pagination>{len(page.comments)} posts</div></div>"
    )


def discourse(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<div class='topic-body crawler-post' id=post_{c.number}><div class=crawler-post-meta>"
            f"<span class=creator>{c.author}</span> <span class=crawler-post-infos>{c.date}</span></div>"
            f"<div class=post>{c.html}</div></div>"
        )

    return f"<div class=wrap><h1>{page.title}</h1>{joined(item, flat(page.comments))}</div>"


def mailing_list(page: Article) -> str:
    def item(c: Comment) -> str:
        return f"<li><b>{c.author}</b> <i>{c.date}</i><div>{c.html}</div></li>"

    return f"<h1>{page.title}</h1><ul>{joined(item, flat(page.comments))}</ul>"


def nameless_forum(page: Article) -> str:
    def item(c: Comment) -> str:
        return f"<div><div>{c.author}</div><div>{c.date}</div><div>{c.html}</div></div>"

    return f"<div><h1>{page.title}</h1>{joined(item, flat(page.comments))}</div>"


DISCUSSIONS: Mapping[str, Callable[[Article], str]] = {
    make.__name__: make for make in (forum, discourse, mailing_list, nameless_forum)
}
