"""Templates of articles with comments, as blog software, news sites and plain hands write them.

Each function makes the body of a page. Prose is random (`fakeweb/text.py`), names and dates differ
from comment to comment, and some comments answer others.
"""

# ruff: noqa: E501 - markup is easier to read when elements are not split

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Comment(NamedTuple):
    number: int
    author: str
    date: str
    """As it is shown."""
    ago: str
    """The same, as the time that has passed."""
    iso: str
    paragraphs: Sequence[str]
    answers: Sequence[Comment] = ()

    @property
    def html(self) -> str:
        return "".join(f"<p>{each}</p>" for each in self.paragraphs)


class Article(NamedTuple):
    title: str
    byline: str
    html: str
    """Its paragraphs, with headings and a quotation."""
    comments: Sequence[Comment]
    heading: str
    """The heading of the comments: "12 comments"."""


def flat(comments: Iterable[Comment]) -> list[Comment]:
    return [each for top in comments for each in (top, *flat(top.answers))]


def joined(make: Callable[[Comment], str], comments: Iterable[Comment]) -> str:
    return "".join(map(make, comments))


def wordpress_classic(page: Article) -> str:
    def item(c: Comment) -> str:
        odd = " class=alt" if c.number % 2 else ""
        return (
            f"<li{odd} id=comment-{c.number}><cite><a href=//{c.number}.example>{c.author}</a></cite>"
            f" Says:<br><small class=commentmetadata><a href='#comment-{c.number}'>{c.date}</a></small>"
            f"{c.html}</li>"
        )

    return (
        f"<div id=content class=narrowcolumn><div class=post id=post-7><h2>{page.title}</h2>"
        f"<small>{page.byline}</small><div class=entry>{page.html}"
        "<p class=postmetadata>Filed under <a href=/c>News</a></p></div></div>"
        f"<h3 id=comments>{page.heading}</h3>"
        f"<ol class=commentlist>{joined(item, flat(page.comments))}</ol>"
        "<h3 id=respond>Leave a Reply</h3><form><p><input name=author> Name</p></form></div>"
    )


def wordpress_themed(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<ol class=children>{joined(item, c.answers)}</ol>" if c.answers else ""
        return (
            f"<li id=comment-{c.number} class='comment even thread-even depth-1'>"
            f"<article id=div-comment-{c.number} class=comment-body><footer class=comment-meta>"
            f"<div class='comment-author vcard'><b class=fn>{c.author}</b> <span class=says>says:</span>"
            f"</div><div class=comment-metadata><a href='/p#comment-{c.number}'><time datetime={c.iso}>"
            f"{c.date}</time></a></div></footer><div class=comment-content>{c.html}</div>"
            f"<div class=reply><a href='/p?replytocom={c.number}'>Reply</a></div></article>{below}</li>"
        )

    return (
        "<div id=primary class=content-area><main id=main class=site-main><article class='post-7 post"
        f" type-post hentry'><header class=entry-header><h1 class=entry-title>{page.title}</h1>"
        f"<div class=entry-meta>{page.byline}</div></header><div class=entry-content>{page.html}</div>"
        f"</article><div id=comments class=comments-area><h2 class=comments-title>{page.heading}</h2>"
        f"<ol class=comment-list>{joined(item, page.comments)}</ol></div></main></div>"
    )


def wordpress_inside(page: Article) -> str:
    """The comments are in the element of the article, as many themes have it."""

    def item(c: Comment) -> str:
        return (
            f"<li class='comment byuser' id=li-comment-{c.number}><div class=comment-wrap>"
            f"<div class=comment-meta>{c.author} <span>{c.date}</span></div>{c.html}</div></li>"
        )

    return (
        f"<div class='entry-content post-content'><h1>{page.title}</h1>{page.html}"
        f"<div id=comments><h3>{page.heading}</h3><ul>{joined(item, flat(page.comments))}</ul></div></div>"
    )


def ghost(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<div class=ml-10>{joined(item, c.answers)}</div>" if c.answers else ""
        return (
            "<div class='flex w-full flex-row'><div class=mr-3><img alt='' src=/a.png></div>"
            f"<div class=grow><div class='mb-1 flex'><h4 class='font-sans text-md'>{c.author}</h4>"
            f"<div class='text-sm text-neutral-400'><span>{c.ago}</span></div></div>"
            f"<div class='mt mb-2 pr-4'>{c.html}</div></div></div>{below}"
        )

    return (
        "<main class=gh-main><article class='gh-article post'><header class=gh-article-header>"
        f"<h1 class=gh-article-title>{page.title}</h1><p class=gh-card-meta>{page.byline}</p></header>"
        f"<section class='gh-content gh-canvas'>{page.html}</section></article>"
        f"<section class=gh-canvas><h2>{page.heading}</h2><div>{joined(item, page.comments)}</div>"
        "</section></main>"
    )


def movable_type(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<div class=comments-body>{c.html}<span class=comments-post>Posted by: "
            f"<a href=//{c.number}.example>{c.author}</a> at {c.date}</span></div>"
        )

    return (
        f"<div id=content><div class=blog><div class=blogbody><h3 class=title>{page.title}</h3>"
        f"{page.html}<span class=posted>{page.byline}</span></div>"
        f"<div class=comments-head><a name=comments></a>{page.heading}</div>"
        f"{joined(item, flat(page.comments))}</div></div>"
    )


def drupal(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<div class=indented>{joined(item, c.answers)}</div>" if c.answers else ""
        return (
            f"<a id=comment-{c.number}></a><div class='comment odd clear-block'>"
            f"<div class=submitted>{c.author} — {c.date}</div>"
            f"<h3><a href='/c/{c.number}'>{c.paragraphs[0][:24]}</a></h3>"
            f"<div class=content>{c.html}</div></div>{below}"
        )

    return (
        f"<div id=squeeze><h2>{page.title}</h2><div id=node-7 class=node><span class=submitted>"
        f"{page.byline}</span><div class='content clear-block'>{page.html}</div></div>"
        f"<div id=comments>{joined(item, page.comments)}</div></div>"
    )


def discourse_embed(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<article class=post id=post-{c.number}><a class=post-date href=//d.example/{c.number}>"
            f"{c.date}</a><div class=author><img src=/a.png alt=''><h3 class=username>"
            f"<a href=/u/{c.number}>{c.author}</a></h3></div><div class=cooked>{c.html}</div></article>"
        )

    return (
        f"<main><article><h1>{page.title}</h1><div class=info>{page.byline}</div>{page.html}</article>"
        f"<div class=embed><h2>{page.heading}</h2>{joined(item, flat(page.comments))}</div></main>"
    )


def news(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<div class=c-thread__replies>{joined(item, c.answers)}</div>" if c.answers else ""
        return (
            "<div class=c-thread><div class=c-message><div class=c-message__head><span class=c-user>"
            f"{c.author}</span><span class=c-time>{c.date}</span></div><div class=c-message__text>"
            f"{c.html}</div><div class=c-message__foot><button>+{c.number}</button></div></div>{below}"
            "</div>"
        )

    return (
        f"<main><div class='story story--full'><h1>{page.title}</h1><p class=story__byline>{page.byline}"
        f"</p><div class=story__text>{page.html}</div></div><section class=o-forum><h2>{page.heading}"
        f"</h2>{joined(item, page.comments)}</section></main>"
    )


def schema_org(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            "<div itemprop=comment itemscope itemtype=https://schema.org/Comment><p><span "
            f"itemprop=author>{c.author}</span>, <time itemprop=dateCreated datetime={c.iso}>{c.date}"
            f"</time></p><div itemprop=text>{c.html}</div></div>"
        )

    return (
        f"<div itemscope itemtype=https://schema.org/BlogPosting><h1 itemprop=headline>{page.title}</h1>"
        f"<p>{page.byline}</p><div>{page.html}</div>{joined(item, flat(page.comments))}</div>"
    )


def microformats(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            "<li class='u-comment h-cite'><a class='p-author h-card' href=//x.example>"
            f"{c.author}</a> <a class=u-url href=/r/{c.number}><time class=dt-published datetime={c.iso}>"
            f"{c.date}</time></a><div class='e-content p-name'>{c.html}</div></li>"
        )

    return (
        f"<main><article class=h-entry><h1 class=p-name>{page.title}</h1><p>{page.byline}</p>"
        f"<div class=e-content>{page.html}</div><section><h2>{page.heading}</h2>"
        f"<ul>{joined(item, flat(page.comments))}</ul></section></article></main>"
    )


def entries(page: Article) -> str:
    """Microformats of a page whose comments are entries, too."""

    def item(c: Comment) -> str:
        return (
            f"<div class=h-entry><div class=h-card><a class=u-url href=//x.example>{c.author}</a></div>"
            f"<a href='#{c.number}'><time class=dt-published datetime={c.iso}>{c.date}</time></a>"
            f"<div class=e-content>{c.html}</div></div>"
        )

    return (
        f"<div class=h-entry><h1 class=p-name>{page.title}</h1><div class=h-card>{page.byline}</div>"
        f"<div class=e-content>{page.html}</div></div><div class=h-feed><h2>{page.heading}</h2>"
        f"{joined(item, flat(page.comments))}</div>"
    )


def nested_articles(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<article><header>{c.author} <time datetime={c.iso}>{c.date}</time></header>{c.html}"
            f"{joined(item, c.answers)}</article>"
        )

    return (
        f"<article><header><h1>{page.title}</h1><p>{page.byline}</p></header>{page.html}"
        f"<section><h2>{page.heading}</h2>{joined(item, page.comments)}</section></article>"
    )


def nameless(page: Article) -> str:
    def item(c: Comment) -> str:
        return f"<div><div><b>{c.author}</b> {c.date}</div><div>{c.html}</div></div>"

    return (
        f"<div><h1>{page.title}</h1><div>{page.byline}</div><div>{page.html}</div></div>"
        f"<div><h3>{page.heading}</h3>{joined(item, flat(page.comments))}</div>"
    )


def nameless_nested(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<ul>{joined(item, c.answers)}</ul>" if c.answers else ""
        return (
            f"<li><div><a href=/u/{c.number}>{c.author}</a> <span>{c.date}</span></div>"
            f"<div>{'<br><br>'.join(c.paragraphs)}</div>{below}</li>"
        )

    return (
        f"<div><div><h1>{page.title}</h1>{page.html}</div><div><h2>{page.heading}</h2>"
        f"<ul>{joined(item, page.comments)}</ul></div></div>"
    )


def nameless_flat(page: Article) -> str:
    """Articles and comments have one parent."""

    def item(c: Comment) -> str:
        return f"<div><p>{c.author}<br>{c.date}</p>{c.html}</div>"

    return f"<div><h1>{page.title}</h1>{page.html}{joined(item, flat(page.comments))}</div>"


def definitions(page: Article) -> str:
    def item(c: Comment) -> str:
        return f"<dt>{c.author}, {c.date}</dt><dd>{c.html}</dd>"

    return (
        f"<div><h1>{page.title}</h1>{page.html}<hr><h2>{page.heading}</h2>"
        f"<dl>{joined(item, flat(page.comments))}</dl></div>"
    )


def blogger(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<dt class=comment-author id=c{c.number}><a href=//x.example rel=nofollow>{c.author}</a>"
            f" said...</dt><dd class=comment-body>{c.html}</dd><dd class=comment-footer>"
            f"<span class=comment-timestamp><a href='#c{c.number}'>{c.date}</a></span></dd>"
        )

    return (
        f"<div id=main><div class='post hentry'><h3 class='post-title entry-title'>{page.title}</h3>"
        f"<div class='post-body entry-content'>{page.html}</div><div class=post-footer>{page.byline}"
        f"</div></div><div class=comments id=comments><h4>{page.heading}</h4><dl id=comments-block>"
        f"{joined(item, flat(page.comments))}</dl></div></div>"
    )


def disqus(page: Article) -> str:
    def item(c: Comment) -> str:
        below = f"<ul class=children>{joined(item, c.answers)}</ul>" if c.answers else ""
        return (
            f"<li class=post id=post-{c.number}><div class=post-content><header><span class=author>"
            f"<a href=/by/{c.number}>{c.author}</a></span><a class=time-ago title='{c.date}'>{c.ago}</a>"
            f"</header><div class=post-body-inner><div class=post-message>{c.html}</div></div>"
            f"<footer>{c.number} • Reply • Share</footer></div>{below}</li>"
        )

    return (
        f"<div class=wrap><div class=article><h1>{page.title}</h1><p class=date>{page.byline}</p>"
        f"{page.html}</div><div id=disqus_thread><div id=conversation><ul id=post-list class=post-list>"
        f"{joined(item, page.comments)}</ul></div></div></div>"
    )


def hashed(page: Article) -> str:
    """Class names that a build made, and times that have passed."""
    numbers = count()

    def item(c: Comment) -> str:
        below = f"<div class=css-1w4x2>{joined(item, c.answers)}</div>" if c.answers else ""
        return (
            f"<div class='css-9ah1k sc-{next(numbers)}'><div class=css-k008q><span>{c.author}</span>"
            f"<span class=css-zz1>{c.ago}</span></div><div class=css-x9f1>{c.html}</div>{below}</div>"
        )

    return (
        f"<div id=root><div class=css-a1><h1 class=css-a2>{page.title}</h1><div class=css-a3>"
        f"{page.byline}</div><div class=css-a4>{page.html}</div></div>"
        f"<div class=css-b1>{joined(item, page.comments)}</div></div>"
    )


def table(page: Article) -> str:
    def item(c: Comment) -> str:
        return (
            f"<table width='100%'><tr><td bgcolor='#ccc'><b>{c.author}</b> ({c.date})</td></tr>"
            f"<tr><td>{c.html}</td></tr></table>"
        )

    return (
        f"<table width='100%'><tr><td><h1>{page.title}</h1><i>{page.byline}</i>{page.html}</td></tr>"
        f"<tr><td><h3>{page.heading}</h3>{joined(item, flat(page.comments))}</td></tr></table>"
    )


THREADS: Mapping[str, Callable[[Article], str]] = {
    make.__name__: make
    for make in (
        wordpress_classic,
        wordpress_themed,
        wordpress_inside,
        ghost,
        movable_type,
        drupal,
        discourse_embed,
        news,
        schema_org,
        microformats,
        entries,
        nested_articles,
        nameless,
        nameless_nested,
        nameless_flat,
        definitions,
        blogger,
        disqus,
        hashed,
        table,
    )
}
