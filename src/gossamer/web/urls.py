"""The identity of a page: one spelling for all URLs that lead to it.

`normalize` parses as browsers do (WHATWG URL, by ada) and then removes remaining differences:

    user info         dropped: credentials belong to a visitor, not to what a page is
    host              lower case, punycode, without the DNS root's trailing dot
    port, fragment    the scheme's own port and every fragment are dropped
    path              dot segments resolved, "/" if empty, session ids removed (session_ids.py)
    query             tracking and session parameters dropped, and empty ones; the others keep their
                      order, because some servers read it, and so do rules of robots.txt
    percent-encoding  RFC 3986 §6.2.2: unreserved characters decoded, hex digits in upper case;
                      characters that the RFC forbids encoded (WHATWG permits `|[]{}` and `%`)
    control           as in browsers: tabs and line ends removed, all of them stripped at both ends,
    characters        encoded elsewhere; a host with one is invalid

What is dropped may matter to robots.txt: `Disallow: /*?sid=` forbids links whose normal forms it
allows. So `resolve_all` also returns the spelling of a link that lost something.

Sessions and tracking are handled for http and https only. For other schemes in `UrlRules.schemes`:

    file              has neither host nor query (RFC 8089 §2): `file:///path`, on this machine
    plugins'          need a host, and keep port and query unchanged

The result is an RFC 3986 URI in ASCII, as WARC-Target-URI requires, and a fixed point: normalising
it again changes nothing. A URL that cannot be crawled becomes None, never an exception, since
strangers' pages contain anything.

Stricter than WHATWG: a host is an IP address or a valid DNS name of letters, digits, hyphens and
underscores (RFC 1035 §2.3.4: labels of 1 to 63 octets, 253 in all). Browsers also accept
`http://'+host+'/`, which only broken scripts contain; and a `,` or `)` in a host would make the
keys of CDXJ indexes ambiguous. As in browsers, only files may link to files: on a page of another
scheme, a `file:` URL is None.

Cost: 0.1 µs for a plain path, which is found in C, or without a compiler by a regular expression
(see `_PLAIN` and `_UPWARDS`); only other references go through ada's parser.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import quote, unquote_to_bytes

import ada_url
from msgspec import Meta, Struct

from gossamer.native import native_text
from gossamer.web import session_ids
from gossamer.web.public_suffixes import registrable
from gossamer.web.session_ids import SESSION, strip_session_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import Column

LOCALHOST = "localhost"
"""Host of `file:` URLs, as in RFC 8089 §2, because an empty string would not be a useful key."""
WEB = ("http", "https")

TRACKING_PARAMETERS = (
    "_ga", "_gl", "dclid", "gbraid", "gclid", "gclsrc", "srsltid", "utm_*", "wbraid",  # Google
    "_hsenc", "_hsmi", "hsa_*",  # HubSpot
    "fbclid", "igshid",  # Facebook, Instagram
    "li_fat_id", "mc_cid", "mc_eid",  # LinkedIn, Mailchimp
    "mkt_tok", "msclkid",  # Marketo, Microsoft
    "mtm_*", "oly_anon_id", "oly_enc_id", "s_cid",  # Matomo, Omeda, Adobe
    "ttclid", "twclid", "vero_id",  # TikTok, Twitter, Vero
    "_openstat", "yclid", "ysclid",  # Yandex
)  # fmt: skip

Scheme = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9+.-]*\Z")]
Parameter = Annotated[str, Meta(pattern=r"^[^*]*\*?\Z")]


class UrlRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs can be crawled at all, and which count as the same page."""

    schemes: Annotated[tuple[Scheme, ...], Meta(min_length=1)] = WEB
    """Schemes of URLs that are crawled: `http`, `https`, `file` (see fetch.file_folders), and those
    of plugins."""
    drop_parameters: tuple[Parameter, ...] = session_ids.PARAMETERS + TRACKING_PARAMETERS
    """Names of query parameters that are removed because they do not change the page; case does not
    matter, and a name may end with `*`."""
    max_length: Annotated[int, Meta(ge=32, le=65_536)] = 2_000
    """URLs with more characters are not crawled."""


DEFAULT = UrlRules()


class Target(NamedTuple):
    """Where a reference leads."""

    url: str
    """In normal form."""
    spelling: str | None = None
    """The URL with everything that the normal form lacks, in the same percent-encoding; None if it
    lacks nothing that a rule of robots.txt could match (RFC 9309 §2.2.2)."""


class _Base(NamedTuple):
    url: str
    origin: str  # up to, not including, the path
    directory: str  # up to and including the path's last slash


# A reference that is already in normal form, which saves parsing it: a lower-case host that cannot
# be a number (of at most 4 labels, so it is shorter than 253), and segments of unreserved
# characters, none empty and none starting with a dot. The possessive quantifiers make it fail
# without backtracking, which happens twice for every URL with a query.
_PLAIN_NAMES = r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*+(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)*+/?"
_PLAIN_PATH = re.compile(f"/?{_PLAIN_NAMES}")
_PLAIN = re.compile(
    r"(?:https?://(?:[a-z0-9-]{1,60}\.){1,3}[a-z]{2,60}(?=/))?" + _PLAIN_PATH.pattern
)
# A reference to a folder above, or to something in it: most links of generated manuals.
_UPWARDS = re.compile(rf"((?:\.\./)++)(?:{_PLAIN_NAMES})?")

# Splits a URL that ada serialised. Its userinfo holds no raw "@", "/" or "?" any more. For schemes
# that WHATWG does not define, ada keeps the case of the host and may leave the path empty.
_PARTS = re.compile(
    r"""
    (?: (?P<file> file ) | (?!file:) (?P<scheme> [a-z][a-z0-9+.-]* ) ) ://
    (?(file) |
        (?: [^/?@]* @ )?
        (?P<host>
            \[[0-9a-f:]+\]
            | (?=[^/:?]{1,253}\.?(?:[:/?]|\Z)) [A-Za-z0-9_-]{1,63} (?:\.[A-Za-z0-9_-]{1,63})*
        )
        \.?
        (?P<port> :[0-9]+ )?
    )
    (?P<path> (?: /[^?]* )? )
    (?: \? (?P<query> .* ) )?
    """,
    re.VERBOSE,
)

# Triplets, stray percent signs, and characters that RFC 3986 §3.3 and §3.4 forbid but WHATWG keeps.
_ESCAPES = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[][\\^`{|}]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX = "0123456789ABCDEFabcdef"
_CANONICAL = {
    **{f"%{high}{low}": f"%{high}{low}".upper() for high in _HEX for low in _HEX},
    **{f"%{high}{low}": character
       for character in _UNRESERVED
       for high in {f"{ord(character):02X}"[0]}
       for low in _HEX if low.upper() == f"{ord(character):02X}"[1]},
    **{character: f"%{ord(character):02X}" for character in "%[]\\^`{|}"},
}  # fmt: skip

# HTML 4 §B.2.2 permits `;` between parameters; without `name=` after it, it is part of a value.
_SEMICOLON = re.compile(r";(?=[^;=]*=)")

# Characters not encoded in file names. `:` is: WHATWG would take `/C:/` for a Windows drive.
_NAME = "!$&'()*+,=@"


def normalize(href: str, base: str | None = None, rules: UrlRules = DEFAULT) -> str | None:
    """The normal form of `href`, resolved against `base`; None if it cannot be crawled.

    `base` is normalised first; if it cannot be crawled, only absolute references resolve. `href`
    may be a `file:` URL only if there is no base or the base is one, too. Never raises.
    """
    return normalize_all((href,), base, rules)[0]


def normalize_all(
    hrefs: Sequence[str], base: str | None, rules: UrlRules = DEFAULT
) -> list[str | None]:
    """Normalise all references of a page, in order; many times faster than one by one."""
    return resolve_all(hrefs, base, rules)[0]


def resolve_all(
    hrefs: Sequence[str], base: str | None, rules: UrlRules = DEFAULT
) -> tuple[list[str | None], dict[str, str]]:
    """As `normalize_all`, with the spellings (`Target.spelling`) of references that have one."""
    start = None if base is None else _base(base, rules)
    from_file = base is None or (start is not None and start.origin == "file://")
    form = _form(rules, from_file and "file" in rules.schemes)
    origin, directory = ("", "") if start is None else (start.origin, start.directory)
    urls = plain_urls(list(hrefs), origin, directory, form.is_web)
    found: dict[str, Target | None] = {}
    spellings: dict[str, str] = {}
    for place, url in enumerate(urls):
        if url is None:
            href = hrefs[place]
            head, mark, _ = href.partition("#")
            if mark and head[-1:] <= " ":
                head += mark  # WHATWG strips blanks at the end, but not those before a fragment
            if head not in found:
                found[head] = _resolve(head, start, form)
            if (target := found[head]) is not None:
                urls[place] = target.url
                if target.spelling is not None:
                    spellings[href] = target.spelling
        elif len(url) > form.max_length:
            urls[place] = None
    return urls, spellings


def browser_spelling(href: str, base: str, url: str) -> str:
    """The URL that browsers request for a reference whose normal form is `url`.

    It is on the same origin, and may differ in anything else. For other schemes than the Web's, it
    is `url`.
    """
    if url.partition(":")[0] not in WEB:
        return url
    written = ada_url.join_url(base, href).partition("#")[0]
    return origin_of(url) + written.removeprefix(origin_of(written))


def refusal(href: str, base: str, rules: UrlRules = DEFAULT) -> str:
    """Why a reference has no normal form: `scheme` (not in the rules), `long_url` or `no_url`.

    `base` must be normalised.
    """
    try:
        url = ada_url.join_url(base, href)
    except ValueError:
        return "no_url"
    if url.partition(":")[0] not in rules.schemes:
        return "scheme"
    return "long_url" if len(url) > rules.max_length else "no_url"


def host_of(url: str) -> str:
    """Host of a normalised URL, with the port if it is not the scheme's default.

    robots.txt (RFC 9309 §2.3) and politeness apply to this authority, hence the port. The host of
    a `file:` URL is `localhost`.
    """
    return url.split("/", 3)[2] or LOCALHOST


def host_column(url: Column) -> Column:
    """`host_of` as an expression for the engine."""
    from pyspark.sql import functions as F

    host = F.split_part(url, F.lit("/"), F.lit(3))
    return F.when(host == "", LOCALHOST).otherwise(host)


def origin_of(url: str) -> str:
    """Scheme and authority of a normalised URL: `https://example.org:8080`, `file://`."""
    return url[: url.index("/", url.index("://") + len("://"))]


_registrable = lru_cache(maxsize=1 << 16)(registrable)


def domain_of(url: str) -> str:
    """Registrable domain of a normalised URL, without port: the public suffix and one label.

    It includes the private section of the Public Suffix List: alice.github.io and bob.github.io
    are two sites. IP addresses, single labels and public suffixes are their own domains.
    """
    return _registrable(host_of(url))


def _base(base: str, rules: UrlRules) -> _Base | None:
    url = normalize(base, None, rules)
    if url is None:
        return None
    path = url.partition("?")[0]
    return _Base(url, origin_of(url), path[: path.rindex("/") + 1])


@native_text
def plain_urls(hrefs: list[str], origin: str, directory: str, is_web: bool) -> list[str | None]:
    """Resolve the plain references of a page, without their fragments; None for the others.

    `origin` and `directory` are those of the base, or empty without one. Absolute references are
    plain only if both schemes of the Web are crawled (`is_web`).
    """
    pattern = _PLAIN if is_web else _PLAIN_PATH
    return [_plain_url(href.partition("#")[0], origin, directory, pattern) for href in hrefs]


def _plain_url(href: str, origin: str, directory: str, pattern: re.Pattern[str]) -> str | None:
    if pattern.fullmatch(href):
        if ":" in href:
            return href
        if directory:
            return (origin if href[0] == "/" else directory) + href
    elif directory and (upwards := _UPWARDS.fullmatch(href)):
        folder = _folder_above(directory, len(origin) + 1, upwards.end(1) // len("../"))
        return folder + href[upwards.end(1) :]
    return None


def _folder_above(directory: str, root: int, levels: int) -> str:
    """The folder this many levels above a directory; the root has none above it."""
    end = len(directory)
    while levels and end > root:
        end = directory.rindex("/", 0, end - 1) + 1
        levels -= 1
    return directory[:end]


def _resolve(href: str, base: _Base | None, form: _Form) -> Target | None:
    """Return where a reference leads that is not plain."""
    try:
        url = ada_url.normalize_url(href) if base is None else ada_url.join_url(base.url, href)
    except ValueError:  # lone surrogates too
        return None
    # The length is checked twice: here to bound the work on a hostile reference, and again after
    # escapes have made it longer.
    url = url.removesuffix("#")
    return form.fold(url) if len(url) <= form.max_length else None


class _Form(NamedTuple):
    """How URLs are normalised under some rules. Pages of a site share links, so much is cached."""

    max_length: int
    is_web: bool
    """Whether both schemes of the Web are crawled."""
    fold: Callable[[str], Target | None]
    """Cached `_fold`."""


@lru_cache(maxsize=8)
def _form(rules: UrlRules, files: bool) -> _Form:
    schemes = frozenset(rules.schemes) - (frozenset() if files else {"file"})
    is_web = schemes.issuperset(WEB)
    fold = partial(_fold, rules=rules, schemes=schemes, plain=_PLAIN if is_web else _PLAIN_PATH)
    return _Form(rules.max_length, is_web, lru_cache(maxsize=1 << 15)(fold))


def _fold(
    url: str, rules: UrlRules, schemes: frozenset[str], plain: re.Pattern[str]
) -> Target | None:
    if plain.fullmatch(url):
        return Target(url)
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return None
    file, scheme, host, port, path, query = parts.groups("")
    scheme = scheme or file
    if scheme not in schemes:
        return None
    if scheme == "file":
        path, query = _fold_names(path), ""
    else:
        path, query = _fold_escapes(path) or "/", _fold_escapes(query)
    origin = f"{scheme}://{host.lower()}{port}"
    whole = origin + path + ("?" + query if "?" in url else "")
    if scheme in WEB:
        path, query = strip_session_ids(path), _drop_parameters(query, rules)
    folded = origin + path + ("?" + query if query else "")
    if len(folded) > rules.max_length:
        return None
    return Target(folded, whole if scheme in WEB and whole != folded else None)


def _drop_parameters(query: str, rules: UrlRules) -> str:
    """Remove what does not change the page from a query in normal percent-encoding."""
    parameters: Iterable[str] = query.split("&")
    if ";" in query:
        parameters = [
            ";".join(_kept_parameters(_SEMICOLON.split(each), rules)) for each in parameters
        ]
    return "&".join(_kept_parameters(filter(None, parameters), rules))


def _kept_parameters(parameters: Iterable[str], rules: UrlRules) -> list[str]:
    names, prefixes = _split_dropped_names(rules.drop_parameters)
    kept = []
    for parameter in parameters:
        name = parameter.partition("=")[0].lower()
        if not (name in names or name.startswith(prefixes) or SESSION.fullmatch(parameter)):
            kept.append(parameter)
    return kept


def _fold_names(path: str) -> str:
    """Normalise the path of a file, in which only the slash is special."""
    return "/".join(quote(unquote_to_bytes(name), _NAME) for name in path.split("/"))


def _fold_escapes(text: str) -> str:
    return _ESCAPES.sub(lambda escape: _CANONICAL[escape[0]], text)


@lru_cache(maxsize=64)
def _split_dropped_names(parameters: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Split names into exact ones and prefixes (those that end with `*`), in lower case."""
    folded = [name.lower() for name in parameters]
    return (
        frozenset(name for name in folded if not name.endswith("*")),
        tuple(name[:-1] for name in folded if name.endswith("*")),
    )
