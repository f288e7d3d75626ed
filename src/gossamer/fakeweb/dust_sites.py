"""Sites with several URLs for each page (DUST: different URLs with similar text).

Each site of SITES is built differently, and some have traps: spellings that look alike but lead to
pages of their own. `DustWeb.content` names the content of a URL, so that a crawl can be judged.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, redirect, refusal
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream, uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Pick = Callable[[int], int]
    """Draws a number below its argument."""
    Reader = Callable[[str, str, Mapping[str, str]], "DustTarget | None"]

SECTIONS = ("news", "shop", "wiki")
CHILDREN = 4
FURTHER_LINKS = 8
HOME_LINKS = 400
"""Further links of a home page, which lists pages as large sites do."""
SENTENCES = 14
VALUES = 5
"""Values that a parameter which changes nothing takes."""
FOLDERS = 10
LATE = 10
"""One page in this many is late, on sites that have late pages."""


class DustTarget(NamedTuple):
    """What a URL leads to: a version of page n, or another URL."""

    n: int
    version: str = ""
    location: str = ""
    canonical: str = ""


class Site(NamedTuple):
    about: str
    spell: Callable[[str, int, Pick], str]
    """A URL of page n of a host."""
    read: Reader
    """What a host, a path and its parameters lead to; None: nothing."""
    other_host: str = ""
    """Another host with the same pages, `{}` standing for the name of the site's own."""
    has_late: bool = False
    """Late pages are linked once, by their parents in the tree: the crawl has learned by then."""


def _section(n: int) -> str:
    return SECTIONS[n % len(SECTIONS)]


def _find_number(path: str, pattern: str) -> int | None:
    """The page number in a path that matches a pattern and names the page's section."""
    found = re.fullmatch(rf"/(\w+)/{pattern}", path)
    return int(found[2]) if found and found[1] == _section(int(found[2])) else None


def _read_page(path: str, pattern: str, version: str = "") -> DustTarget | None:
    n = _find_number(path, pattern)
    return None if n is None else DustTarget(n, version)


def _page_reader(pattern: str) -> Reader:
    return lambda _, path, __: _read_page(path, pattern)


def _parameter(name: str, pick: Pick) -> str:
    return f"{name}={pick(VALUES) * 7919 + 1}"


def _spell_session(host: str, n: int, pick: Pick) -> str:
    return f"http://{host}/{_section(n)}/{n}.html?{_parameter('zid', pick)}"


def _spell_tracked(host: str, n: int, pick: Pick) -> str:
    return f"http://{host}/view?{_parameter('from', pick)}&id={n}&{_parameter('pos', pick)}"


def _read_tracked(_: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
    n = query.get("id", "")
    return DustTarget(int(n)) if path == "/view" and n.isdecimal() else None


def _spell_ordered(host: str, n: int, pick: Pick) -> str:
    parameters = [f"n={n}", "full=1", _parameter("ref2", pick)]
    turn = pick(3)
    return f"http://{host}/{_section(n)}/list?" + "&".join(parameters[turn:] + parameters[:turn])


def _read_ordered(_: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
    n = query.get("n", "")
    return DustTarget(int(n)) if n.isdecimal() and path == f"/{_section(int(n))}/list" else None


def _spell_indexed(host: str, n: int, pick: Pick) -> str:
    return f"http://{host}/{_section(n)}/{n}/{('', 'index.html')[pick(2)]}"


def _read_indexed(_: str, path: str, __: Mapping[str, str]) -> DustTarget | None:
    document = path.endswith("/index.html")
    n = _find_number(path.removesuffix("index.html"), r"(\d+)/")
    trap = document and n is not None and _section(n) == SECTIONS[-1]
    return None if n is None else DustTarget(n, "contents" if trap else "")


def _spell_cased(host: str, n: int, pick: Pick) -> str:
    style = (str.lower, str.title, str.upper)[pick(3)]
    section = _section(n)
    return f"http://{host}/{section}/{style(f'page-{n}')}"


def _read_cased(_: str, path: str, __: Mapping[str, str]) -> DustTarget | None:
    n = _find_number(path.lower(), r"page-(\d+)")
    name = path.rpartition("/")[2]
    trap = n is not None and _section(n) == SECTIONS[-1]
    return None if n is None else DustTarget(n, name[:2] if trap else "")


def _spell_slashed(host: str, n: int, pick: Pick) -> str:
    return f"http://{host}/{_section(n)}/{n}{('', '/')[pick(2)]}"


def _spell_twin(host: str, n: int, pick: Pick) -> str:
    return f"http://{('', 'www.')[pick(2)]}{host}/{_section(n)}/{n}"


def _spell_printed(host: str, n: int, pick: Pick) -> str:
    view = "&view=print" if pick(3) == 0 else ""
    return f"http://{host}/{_section(n)}/{n}?{_parameter('vis', pick)}{view}"


def _spell_mattering(host: str, n: int, pick: Pick) -> str:
    also = "&v=1" if pick(4) == 0 else ""
    return f"http://{host}/{_section(n)}/{n}?{_parameter('k', pick)}{also}"


def _read_mattering(_: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
    n = _find_number(path, r"(\d+)")
    if n is None:
        return None
    return DustTarget(n, query.get("v", "0") if uniform(0, f"matters {n}") < 0.1 else "")  # noqa: PLR2004


def _spell_moved(host: str, n: int, pick: Pick) -> str:
    ending = ("", "/", f"/?{_parameter('r', pick)}")[pick(3)]
    return f"http://{host}/{_section(n)}/{n}{ending}"


def _read_moved(host: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
    n = _find_number(path, r"(\d+)/?")
    if n is None:
        return None
    clean = f"/{_section(n)}/{n}/"
    return DustTarget(n, location="" if path == clean and not query else f"http://{host}{clean}")


def _spell_mirrored(host: str, n: int, pick: Pick) -> str:
    return f"http://{(host, MIRROR)[pick(2)]}/{_section(n)}/{n}"


def _read_mirrored(host: str, path: str, _: Mapping[str, str]) -> DustTarget | None:
    n = _find_number(path, r"(\d+)")
    if n is None:
        return None
    original = f"http://{host_of('mirror')}{path}"
    return DustTarget(n, canonical=original if host == MIRROR else "")


def _is_late(n: int) -> bool:
    return n % LATE == 0


def _spell_in(folders: str, name: str, late: str = "") -> Callable[[str, int, Pick], str]:
    """Spell pages of FOLDERS folders; late ones are in a folder of their own, or named by `late`.

    `folders` has a place for the number of the folder, and `name` one for that of the page.
    """

    def spell(host: str, n: int, pick: Pick) -> str:
        folder = folders.format(FOLDERS if _is_late(n) else n % FOLDERS)
        page = late if late and _is_late(n) else f"{name}?zid={{}}"
        return f"http://{host}/{folder}/{page.format(n, pick(VALUES) * 7919 + 1)}"

    return spell


def _read_in(folders: str, name: str) -> Reader:
    """Read what `_spell_in` spells: in the folder of late pages, the parameter matters."""
    pattern = re.compile("/" + folders.format(r"(\d+)") + "/" + name.format(r"(\d+)"))

    def read(_: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
        found = pattern.fullmatch(path)
        if found is None:
            return None
        n, value = int(found[2]), query.get("zid", "")
        in_place = int(found[1]) == (FOLDERS if _is_late(n) else n % FOLDERS)
        return DustTarget(n, value if _is_late(n) else "") if in_place else None

    return read


def _read_listed(host: str, path: str, query: Mapping[str, str]) -> DustTarget | None:
    if path != f"/f{FOLDERS}/list":
        return _read_in("f{}", "{}")(host, path, query)
    n = query.get("zid", "0")
    return DustTarget(int(n), "listed") if n.isdecimal() else None


MIRROR = "dust-copy.test"

SITES: Mapping[str, Site] = {
    "session": Site(
        "a session id with a name that no list has", _spell_session, _page_reader(r"(\d+)\.html")
    ),
    "tracked": Site("an id between two parameters that both change", _spell_tracked, _read_tracked),
    "ordered": Site("parameters in any order, one of them useless", _spell_ordered, _read_ordered),
    "index": Site("index.html; in one section, another page", _spell_indexed, _read_indexed),
    "case": Site("paths in any case; in one section, other pages", _spell_cased, _read_cased),
    "slash": Site("with and without the last slash", _spell_slashed, _page_reader(r"(\d+)/?")),
    "www": Site("with and without www", _spell_twin, _page_reader(r"(\d+)"), "www.{}"),
    "print": Site(
        "print views, which are other pages, and a useless parameter",
        _spell_printed,
        lambda _, path, query: _read_page(path, r"(\d+)", query.get("view", "")),
    ),
    "tenth": Site(
        "a parameter that matters on a tenth of the pages, and a useless one",
        _spell_mattering,
        _read_mattering,
    ),
    "moved": Site("permanent redirects to the URL that counts", _spell_moved, _read_moved),
    "mirror": Site("a mirror that names the original", _spell_mirrored, _read_mirrored, MIRROR),
    "folders": Site(
        "a parameter that matters in one folder of many, found late",
        _spell_in("f{}", "{}"),
        _read_in("f{}", "{}"),
        has_late=True,
    ),
    "nested": Site(
        "the same, of folders in a folder",
        _spell_in("site/f{}", "{}"),
        _read_in("site/f{}", "{}"),
        has_late=True,
    ),
    "owners": Site(
        "the same, of folders with an owner each",
        _spell_in("~u{}", "{}/index.html"),
        _read_in("~u{}", "{}/index.html"),
        has_late=True,
    ),
    "listed": Site(
        "a parameter that numbers the pages of one path, found late",
        _spell_in("f{}", "{}", "list?zid={}"),
        _read_listed,
        has_late=True,
    ),
}


def host_of(site: str) -> str:
    return f"dust-{site}.test"


class DustWeb:
    """The sites, each with a home page and `pages` further ones."""

    def __init__(self, seed: int, pages: int) -> None:
        self._seed = seed
        self._pages = pages
        self._sites = {host_of(name): name for name in SITES}
        for name, site in SITES.items():
            if site.other_host:
                self._sites[site.other_host.format(host_of(name))] = name

    def seeds(self) -> list[str]:
        return [f"http://{host_of(name)}/" for name in SITES]

    def site(self, url: str) -> str:
        """The name of the site of a URL of this web."""
        return self._sites[urlsplit(url).netloc]

    def content(self, url: str) -> str | None:
        """A name of the content of a URL; None if it leads to no page or elsewhere."""
        parts = urlsplit(url)
        found = self._resolve(parts.netloc, parts.path, parts.query)
        if found is None or found.location:
            return None
        return f"{self._sites[parts.netloc]} {found.n} {found.version}"

    def answer(self, host: str, target: str) -> Answer | None:
        """The answer of a host; None if it is not one of this web."""
        if host not in self._sites:
            return None
        path, _, query = target.partition("?")
        found = self._resolve(host, path, query)
        if found is None:
            return refusal(HTTPStatus.NOT_FOUND, f"{host}: no such page")
        if found.location:
            return redirect(HTTPStatus.MOVED_PERMANENTLY, found.location)
        return self._document(host, found)

    def _resolve(self, host: str, path: str, query: str) -> DustTarget | None:
        if path == "/":
            return DustTarget(0)
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        found = SITES[self._sites[host]].read(host, path, parameters)
        return found if found is not None and found.n <= self._pages else None

    def _document(self, host: str, found: DustTarget) -> Answer:
        name = self._sites[host]
        key = f"{name} {found.n} {found.version}"
        title = f"{name} page {found.n} {found.version}".strip()
        text = b"".join(prose("en").sentences(stream(self._seed, key), SENTENCES)).decode()
        canonical = f'<link rel="canonical" href="{found.canonical}">' if found.canonical else ""
        links = " ".join(
            f'<li><a href="{href.replace("&", "&amp;")}">{name} page {n}</a>'
            for n, href in self._links(host, key, found.n)
        )
        body = (
            f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{title}</title>"
            f"{canonical}</head><body><main><h1>{title}</h1><p>{text}</p></main>"
            f"<nav><ul>{links}</ul></nav></body></html>"
        )
        return Answer(HTTPStatus.OK, (("Content-Type", HTML_TYPE),), body.encode())

    def _links(self, host: str, key: str, n: int) -> list[tuple[int, str]]:
        """The children of a page in the tree, and further pages, in spellings that are drawn.

        They depend on the content only, so that no page is linked from a duplicate only.
        """
        draw = stream(self._seed, f"links {key}").random
        name = self._sites[host]
        children = range(CHILDREN * n + 1, CHILDREN * n + CHILDREN + 1)
        linked = [child for child in children if child <= self._pages]
        further = FURTHER_LINKS if n else HOME_LINKS
        drawn = [1 + int(draw() * self._pages) for _ in range(further)]
        linked += [to for to in drawn if not (SITES[name].has_late and _is_late(to))]
        spell = SITES[name].spell
        return [(to, spell(host_of(name), to, lambda most: int(draw() * most))) for to in linked]
