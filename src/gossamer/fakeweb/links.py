"""Every kind of link beside the plain one: a maker per rate of `Mix`.

A maker draws its target and returns an `<a>` element. Paths of one word and a number, such as
/missing/7, are answered by `odd.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gossamer.fakeweb.draw import Draw
from gossamer.fakeweb.hosts import Host

if TYPE_CHECKING:
    from gossamer.fakeweb.pages import Pages

LinkMaker = Callable[["Pages", Host, Draw], str]


def _across(pages: Pages, _host: Host, draw: Draw) -> str:
    hosts = pages.hosts
    target = hosts.host(int((hosts.count + 1) ** draw()) - 1)
    n = 0 if draw() < 0.6 else pages.zipf_page(target, draw)  # noqa: PLR2004 - most cite the home
    return pages.to_host(target, n)


def _odd(path: str, text: str) -> LinkMaker:
    """A link to `path`, with the number of a page of this host in place of {n}."""

    def make(pages: Pages, host: Host, draw: Draw) -> str:
        n = pages.zipf_page(host, draw)
        hops = 1 + int(draw() * 4)
        return f'<a href="{path}">{text}</a>'.format(n=n, hops=hops)

    return make


def _titled(path: str) -> LinkMaker:
    """A link to another URL for a page, with that page's title."""

    def make(pages: Pages, host: Host, draw: Draw) -> str:
        n = min(1 + pages.zipf_page(host, draw), host.pages - 1)
        return f'<a href="{path.format(n=n)}">{pages.title(host, n)}</a>'

    return make


def _rewritten(change: Callable[[str, str, str], str]) -> LinkMaker:
    """A link to a page of this host, as `change(host name, path, title with its end tag)`."""

    def make(pages: Pages, host: Host, draw: Draw) -> str:
        path, _, title = pages.tail(host, pages.zipf_page(host, draw)).partition('">')
        return "<a " + change(host.name, "/" + path, title)

    return make


def _tracked(_name: str, path: str, title: str) -> str:
    mark = "&amp;" if "?" in path else "?"
    return f'href="{path}{mark}utm_source=letter&amp;utm_medium=mail">{title}'


def _unfetchable(_pages: Pages, host: Host, draw: Draw) -> str:
    target = "javascript:void(0)" if draw() < 0.5 else f"mailto:desk@{host.name}"  # noqa: PLR2004
    return f'<a href="{target}">@</a>'


LINKS: dict[str, LinkMaker] = {
    "across": _across,
    "missing": _odd("/missing/{n}", "Archive {n}"),
    "gone": _odd("/gone/{n}", "Past {n}"),
    "failing": _odd("/failing/{n}", "Report {n}"),
    "redirects": _odd("/go/{hops}/{n}", "Visit {n}"),
    "copies": _titled("/copy/{n}"),
    "near_copies": _titled("/near/{n}"),
    "texts": _odd("/notes/{n}.txt", "Notes {n}"),
    "tracked": _rewritten(_tracked),
    "fragments": _rewritten(lambda _, path, title: f'href="{path}#part-2">{title}'),
    "dotted": _rewritten(lambda _, path, title: f'href="/./a/../.{path}">{title}'),
    "uppercase": _rewritten(
        lambda name, path, title: f'href="HTTP://{name.upper()}{path}">{title}'
    ),
    "nofollow": _rewritten(lambda _, path, title: f'rel="nofollow" href="{path}">{title}'),
    "unfetchable": _unfetchable,
}
