"""The forms of a URL: other spellings that may lead to the same page.

    kind       the form                              the other direction
    scheme     http becomes https                    https becomes http
    www        www.example.org becomes example.org   example.org becomes www.example.org
    slash      /a/ becomes /a                        /a becomes /a/, unless it looks like a file
    index      /a/index.html becomes /a/
    case       the path in lower case
    parameter  without the query parameters of the rule's name, if the URL has all of them
    order      the query parameters in the order of their names, if each has a value
    host       on another host, with the same path and query

Each form is a projection: applied twice, it changes nothing more. All of them turn URLs in normal
form (`gossamer.web.urls`) into URLs in normal form, and only `www` and `host` change the host.
`www` stays within a registrable domain, because www.github.io and github.io have different owners.

A URL with k parameters has a form without each of them, one without all of them, and one with each
of them alone: pages with an id and several tracking parameters that all change from link to link
show no pair of URLs that differ in one parameter only. These are at most 2 k + 1 forms, and none if
there are more than MAX_PARAMETERS.

A parameter without a value may be a path, as in `/index.php?thread/1/&page=2`. Parameters of the
same name keep their order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import WEB

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEME, WWW, SLASH, INDEX, CASE, PARAMETER, ORDER, HOST = (
    *("scheme", "www", "slash", "index", "case", "parameter", "order", "host"),
)
TARGETS = {SCHEME: ("https", "http"), WWW: ("without", "with"), SLASH: ("without", "with")}
"""Kinds with two directions, and the names of both; the first one is that of the form."""
MAX_PARAMETERS = 5
MAX_NAME = 100
"""Longest name of a rule, in characters."""
MAX_SECTION = 100
WHOLE_HOST = "*"
"""The section of rules for a whole host."""

OWNED = r"/(?:[~@][^/]+|(?:users?|u|members?|people)/[^/]+)/"
"""Folders that belong to one of many people who share a host, as the beginning of a path."""

_OWNED = re.compile(OWNED)
_PARTS = re.compile(r"(https?)://([^/]+)(/[^?]*)(?:\?(.*))?")
_INDEX = re.compile(
    r"(?<=/)(?:index|default|home)\.(?:html?|xhtml|shtml|php[3-8]?|aspx?|jsp|cgi)\Z", re.IGNORECASE
)
_ESCAPE = re.compile(r"%[0-9a-f]{2}")


class Parts(NamedTuple):
    """A URL of http or https in normal form."""

    scheme: str
    host: str
    """With the port if it is not the scheme's default."""
    path: str
    query: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}" + ("?" + self.query if self.query else "")


class Form(NamedTuple):
    kind: str
    name: str
    """The document (index), the parameters, joined by & (parameter), the other host (host)."""
    url: str


def split_url(url: str) -> Parts | None:
    """The parts of a URL in normal form; None for other schemes."""
    found = _PARTS.fullmatch(url)
    return None if found is None else Parts(*found.groups(""))


def section_of(url: str) -> str:
    """The section of a site: the first folder of the path, or / for what is in none.

    A folder with an owner of its own (OWNED) is a section.
    """
    begin = url.index("/", url.index("://") + len("://"))
    path = url[begin:].partition("?")[0]
    owned = _OWNED.match(path)
    end = path.find("/", 1) + 1 if owned is None else owned.end()
    return path[:end] if 0 < end <= MAX_SECTION else "/"


def is_owned(section: str) -> bool:
    """Whether a section has an owner of its own, to whom the rest of its host is a stranger."""
    return _OWNED.match(section) is not None


def are_strangers(url: str, other: str) -> bool:
    """Whether one of two URLs is in the folder of an owner, and the other is not."""
    one, two = section_of(url), section_of(other)
    return one != two and (is_owned(one) or is_owned(two))


def base_host(host: str) -> str:
    """The host without www, if both belong to the same registrable domain; else the host."""
    bare = host.removeprefix("www.")
    return bare if bare != host and registrable(bare) == registrable(host) else host


def forms_of_url(url: str) -> list[Form]:
    """The forms that differ from a URL, each once. There are at most 6 + 2 MAX_PARAMETERS + 1."""
    parts = split_url(url)
    if parts is None:
        return []
    return [
        Form(kind, name, form.url)
        for kind, name in _applicable(parts)
        if len(name) <= MAX_NAME and (form := apply_form(parts, kind, name)) != parts
    ]


def _applicable(parts: Parts) -> Iterator[tuple[str, str]]:
    for kind in (SCHEME, WWW, SLASH, CASE, ORDER):
        yield kind, ""
    if document := _INDEX.search(parts.path):
        yield INDEX, document[0]
    names = _names(parts.query)
    if 0 < len(names) <= MAX_PARAMETERS:
        rests = [[name for name in names if name != each] for each in names]
        sets = [[each] for each in names] + rests + [names]
        yield from dict.fromkeys((PARAMETER, "&".join(each)) for each in sets if each)


def apply_form(parts: Parts, kind: str, name: str, target: str = "") -> Parts:
    """The form of a kind, or with the second of its TARGETS, the URL in the other direction.

    A URL that the kind does not apply to stays as it is.
    """
    other = bool(target) and target == TARGETS.get(kind, ("", ""))[1]
    return _APPLY[kind](parts, name, other)


def _scheme(parts: Parts, _: str, other: bool) -> Parts:
    if ":" in parts.host or parts.scheme not in WEB:  # a port belongs to one scheme
        return parts
    return parts._replace(scheme="http" if other else "https")


def _www(parts: Parts, _: str, other: bool) -> Parts:
    if not other:
        return parts._replace(host=base_host(parts.host))
    longer = f"www.{parts.host}"
    if base_host(parts.host) != parts.host or base_host(longer) == longer:
        return parts
    return parts._replace(host=longer)


def _slash(parts: Parts, _: str, other: bool) -> Parts:
    last = parts.path.rpartition("/")[2]
    if other:
        return parts._replace(path=parts.path + "/") if last and "." not in last else parts
    bare = parts.path.rstrip("/")
    if not bare or "." in bare.rpartition("/")[2] or len(parts.path) - len(bare) > 1:
        return parts
    return parts._replace(path=bare)


def _index(parts: Parts, name: str, _: bool) -> Parts:
    return parts._replace(path=parts.path.removesuffix(name)) if _ends(parts.path, name) else parts


def _ends(path: str, name: str) -> bool:
    return path.rpartition("/")[2] == name


def _case(parts: Parts, _: str, __: bool) -> Parts:
    lower = _ESCAPE.sub(lambda escape: escape[0].upper(), parts.path.lower())
    return parts._replace(path=lower)


def _parameter(parts: Parts, name: str, _: bool) -> Parts:
    dropped = name.split("&")
    if not set(dropped) <= set(_names(parts.query)):
        return parts
    kept = [each for each in parts.query.split("&") if each.partition("=")[0] not in dropped]
    return parts._replace(query="&".join(kept))


def _order(parts: Parts, _: str, __: bool) -> Parts:
    pairs = parts.query.split("&")
    if not all("=" in pair for pair in pairs):
        return parts
    return parts._replace(query="&".join(sorted(pairs, key=lambda pair: pair.partition("=")[0])))


def _host(parts: Parts, name: str, _: bool) -> Parts:
    return parts._replace(host=name)


def parameter_values(parts: Parts, name: str) -> list[str]:
    """The values of a parameter."""
    pairs = (each.partition("=") for each in parts.query.split("&"))
    return [value for key, _, value in pairs if key == name]


def _names(query: str) -> list[str]:
    """The names of the parameters of a query, sorted."""
    return sorted({each.partition("=")[0] for each in query.split("&")} - {""})


_APPLY = {
    SCHEME: _scheme,
    WWW: _www,
    SLASH: _slash,
    INDEX: _index,
    CASE: _case,
    PARAMETER: _parameter,
    ORDER: _order,
    HOST: _host,
}
