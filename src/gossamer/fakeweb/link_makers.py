"""All kinds of links except the plain one: one link maker per rate in `Mix`.

A maker draws a target and returns an `<a>` element. `special_urls.py` answers paths of a word and
a number, such as /missing/7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gossamer.fakeweb.seeded_random import Draw
from gossamer.fakeweb.synthetic_hosts import Host

if TYPE_CHECKING:
    from gossamer.fakeweb.page_names import PageNames

LinkMaker = Callable[["PageNames", Host, Draw], str]


def _link_across(pages: PageNames, _host: Host, draw: Draw) -> str:
    hosts = pages.hosts
    target = hosts.host(int((hosts.count + 1) ** draw()) - 1)
    n = 0 if draw() < 0.6 else pages.zipf_page(target, draw)  # noqa: PLR2004 - mostly home pages
    return pages.absolute_link(target, n)


def _make_special(path: str, text: str) -> LinkMaker:
    """A maker of links to `path`, where {n} becomes the number of a page of this host."""

    def make(pages: PageNames, host: Host, draw: Draw) -> str:
        n = pages.zipf_page(host, draw)
        hops = 1 + int(draw() * 4)
        return f'<a href="{path}">{text}</a>'.format(n=n, hops=hops)

    return make


def _make_titled_links(path: str) -> LinkMaker:
    """A maker of links to another URL of a page, with that page's title as the text."""

    def make(pages: PageNames, host: Host, draw: Draw) -> str:
        n = min(1 + pages.zipf_page(host, draw), host.pages - 1)
        return f'<a href="{path.format(n=n)}">{pages.title(host, n)}</a>'

    return make


def _make_respelled(change: Callable[[str, str, str], str]) -> LinkMaker:
    """A maker of links to pages of this host.

    `change(host name, path, title with the end tag)` returns the rest of the element.
    """

    def make(pages: PageNames, host: Host, draw: Draw) -> str:
        path, _, title = pages.tail(host, pages.zipf_page(host, draw)).partition('">')
        return "<a " + change(host.name, "/" + path, title)

    return make


def _add_tracking(_name: str, path: str, title: str) -> str:
    mark = "&amp;" if "?" in path else "?"
    return f'href="{path}{mark}utm_source=letter&amp;utm_medium=mail">{title}'


def _make_session_links(pages: PageNames, host: Host, draw: Draw) -> str:
    path, _, title = pages.tail(host, pages.zipf_page(host, draw)).partition('">')
    mark = "&amp;" if "?" in path else "?"
    return f'<a href="/{path}{mark}PHPSESSID={int(draw() * 16**13):032x}">{title}'


def _link_unfetchable(_pages: PageNames, host: Host, draw: Draw) -> str:
    target = "javascript:void(0)" if draw() < 0.5 else f"mailto:desk@{host.name}"  # noqa: PLR2004
    return f'<a href="{target}">@</a>'


LINKS: dict[str, LinkMaker] = {
    "across": _link_across,
    "missing": _make_special("/missing/{n}", "Archive {n}"),
    "gone": _make_special("/gone/{n}", "Past {n}"),
    "failing": _make_special("/failing/{n}", "Report {n}"),
    "redirects": _make_special("/go/{hops}/{n}", "Visit {n}"),
    "copies": _make_titled_links("/copy/{n}"),
    "near_copies": _make_titled_links("/near/{n}"),
    "texts": _make_special("/notes/{n}.txt", "Notes {n}"),
    "tracked": _make_respelled(_add_tracking),
    "sessions": _make_session_links,
    "fragments": _make_respelled(lambda _, path, title: f'href="{path}#part-2">{title}'),
    "dotted": _make_respelled(lambda _, path, title: f'href="/./a/../.{path}">{title}'),
    "uppercase": _make_respelled(
        lambda name, path, title: f'href="HTTP://{name.upper()}{path}">{title}'
    ),
    "nofollow": _make_respelled(lambda _, path, title: f'rel="nofollow" href="{path}">{title}'),
    "unfetchable": _link_unfetchable,
}
