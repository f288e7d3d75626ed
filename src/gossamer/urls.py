"""The identity of a page: one spelling for all URLs that name the same thing.

`normalize` parses as browsers do (WHATWG URL, by ada) and then folds what still differs:

    user info         dropped: credentials belong to a visitor, not to what a page is
    host              lower case, punycode, without the DNS root's trailing dot
    port, fragment    the scheme's own port and every fragment are dropped
    path              dot segments resolved, "/" where empty, session ids cut out (sessions.py)
    query             tracking and session parameters dropped, the others sorted; of parameters
                      between `;` the same are dropped, the others stay together
    percent-encoding  RFC 3986 §6.2.2: unreserved characters decoded, hex digits in upper case;
                      what the RFC does not allow is encoded (WHATWG lets `|[]{}` and `%` pass)

Sessions and tracking are matters of http and https alone. Of other schemes in `UrlRules.schemes`

    ftp               has no query (RFC 1738 §3.2.2): it is dropped, and so is `;type=`
    file              has neither host nor query (RFC 8089 §2): `file:///path`, of this machine
    plugins'          need a host, and keep port and query as they are

The result is an RFC 3986 URI in ASCII, as a WARC-Target-URI has to be, and a fixed point:
normalising it again changes nothing. What cannot be crawled gives None: that is a fact about a
stranger's page and never an exception.

Stricter than WHATWG: a host is an IP address or a name that DNS can carry, of letters, digits,
hyphens and underscores (RFC 1035 §2.3.4: labels of 1 to 63 octets, 253 in all). Browsers also
take `http://'+host+'/`, which only broken scripts write; and a `,` or `)` in a host would make
its `surt` ambiguous. And a reference with a control character inside, other than the tabs and
line ends that WHATWG removes, is binary rubbish and gives None. As in browsers, only a file
leads to a file: a page or redirect of another scheme that names one names nothing.

Cost: a fragment, or a reference already met on the page, is a dictionary lookup; a plain path
is one regular expression (see `_PLAIN`); only the rest pays for ada's parser.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import quote, unquote_to_bytes

import ada_url
from msgspec import Meta, Struct
from publicsuffixlist import PublicSuffixList

from gossamer import sessions
from gossamer.sessions import SESSION, without_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import Column

LOCALHOST = "localhost"
"""Host of `file:` URLs, as RFC 8089 §2 has it: an empty string would be no key."""
WEB = ("http", "https")

TRACKING_PARAMETERS = (
    "_ga",  # Google, down to wbraid
    "_gl",
    "dclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "srsltid",
    "utm_*",
    "wbraid",
    "_hsenc",  # HubSpot
    "_hsmi",
    "hsa_*",
    "fbclid",  # Facebook
    "igshid",  # Instagram
    "li_fat_id",  # LinkedIn
    "mc_cid",  # Mailchimp
    "mc_eid",
    "mkt_tok",  # Marketo
    "msclkid",  # Microsoft
    "mtm_*",  # Matomo
    "oly_anon_id",  # Omeda
    "oly_enc_id",
    "s_cid",  # Adobe
    "ttclid",  # TikTok
    "twclid",  # Twitter
    "vero_id",  # Vero
    "_openstat",  # Yandex
    "yclid",
    "ysclid",
)


class UrlRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which URLs can be crawled at all, and which count as the same page."""

    schemes: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[a-z][a-z0-9+.-]*$")], ...],
        Meta(
            min_length=1,
            description="URLs of other schemes are not followed; `http`, `https`, `ftp`, "
            "`file` (see fetch.file_folders), and those of plugins",
        ),
    ] = WEB
    drop_parameters: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[^*]*\*?$")], ...],
        Meta(
            description="query parameters that do not change the page, in any case; "
            "a `*` may stand at the end"
        ),
    ] = sessions.PARAMETERS + TRACKING_PARAMETERS
    sort_parameters: Annotated[
        bool, Meta(description="order query parameters by name, then by value")
    ] = True
    max_length: Annotated[
        int, Meta(ge=32, description="characters; longer URLs are not crawled")
    ] = 2_000


DEFAULT = UrlRules()


class _Base(NamedTuple):
    url: str
    origin: str  # up to, not including, the path
    directory: str  # up to and including the path's last slash


# A reference whose normal form is known without parsing: a lower-case host that cannot be a
# number (of at most 4 labels, so that it is shorter than 253), and segments of unreserved
# characters, none empty and none starting with a dot. The possessive quantifiers make it give
# up without backtracking, which is what it does twice for every URL with a query.
_PLAIN_PATH = re.compile(
    r"/?[A-Za-z0-9_~-][A-Za-z0-9._~-]*+(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)*+/?"
)
_PLAIN = re.compile(
    r"(?:https?://(?:[a-z0-9-]{1,60}\.){1,3}[a-z]{2,60}(?=/))?" + _PLAIN_PATH.pattern
)

# Splits what ada serialised. The userinfo holds no raw "@", "/" or "?" by then. Of schemes that
# WHATWG does not know it leaves the case of the host, and the path empty.
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

# Triplets, stray percent signs, and what neither RFC 3986 §3.3 nor §3.4 allows but WHATWG keeps.
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

_C0_OR_SPACE = "".join(map(chr, range(0x21)))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

# HTML 4 §B.2.2 lets servers separate parameters so; without a `=` behind it, it is of a value.
_SEMICOLON = re.compile(r";(?=[^;=]*=)")

# How to transfer a file (RFC 1738 §3.2.2), which is no part of its name.
_FTP_TYPE = re.compile(r"(?:;type=[aid])+\Z", re.IGNORECASE)
# What stays as it is in the names of files. Not `:`: WHATWG takes `/C:/` for a Windows drive.
_NAME = "!$&'()*+,=@"


def normalize(href: str, base: str | None = None, rules: UrlRules = DEFAULT) -> str | None:
    """The normal form of `href`, resolved against `base`; None where it cannot be crawled.

    `base` is itself normalised first; one that cannot be crawled lets only absolute references
    resolve. Only without a base, or from a file, may `href` be a `file:`. Never raises.
    """
    return normalize_all((href,), base, rules)[0]


def normalize_all(
    hrefs: Sequence[str], base: str | None, rules: UrlRules = DEFAULT
) -> list[str | None]:
    """`normalize` of all references of a page, in their order, many times faster."""
    start = None if base is None else _base(base, rules)
    from_file = base is None or (start is not None and start.origin == "file://")
    plain, fold = _form(rules, from_file and "file" in rules.schemes)
    found: dict[str, str | None] = {}
    normal: list[str | None] = []
    for href in hrefs:
        head, mark, _ = href.partition("#")
        if mark and head[-1:] <= " ":
            head += mark  # WHATWG strips blanks at the end, but not those before a fragment
        if head not in found:
            found[head] = _resolve(head, start, rules.max_length, plain, fold)
        normal.append(found[head])
    return normal


def refusal(href: str, base: str, rules: UrlRules = DEFAULT) -> str:
    """Why a reference that has no normal form cannot be crawled, in a word to count.

    `scheme`, of others than the rules'; `long_url`; else `no_url`. `base` is normalised.
    """
    try:
        url = ada_url.join_url(base, href)
    except ValueError:
        return "no_url"
    if url.partition(":")[0] not in rules.schemes:
        return "scheme"
    return "long_url" if len(url) > rules.max_length else "no_url"


def host_of(url: str) -> str:
    """Host of a normalised URL, with the port where it is not the scheme's own.

    It is the authority that robots.txt (RFC 9309 §2.3) and politeness apply to, hence the port.
    Of a `file:` URL it is `localhost`.
    """
    return url.split("/", 3)[2] or LOCALHOST


def host_column(url: Column) -> Column:
    """`host_of`, as an expression that the engine runs."""
    from pyspark.sql import functions as F

    host = F.split_part(url, F.lit("/"), F.lit(3))
    return F.when(host == "", LOCALHOST).otherwise(host)


def origin_of(url: str) -> str:
    """Scheme and authority of a normalised URL: `https://example.org:8080`, `file://`."""
    return url[: url.index("/", url.index("://") + len("://"))]


def domain_of(url: str) -> str:
    """Registrable domain of a normalised URL, without port: the public suffix and one label.

    The Public Suffix List's private section counts: alice.github.io and bob.github.io are two
    sites. IP addresses, single labels and public suffixes stand for themselves.
    """
    return _domain(host_of(url))


def surt(url: str) -> str:
    """Sort key of a normalised URL that keeps a domain's hosts together (as in CDXJ indexes).

    `http://www.example.org:8080/a?b` gives `org,example,www:8080)/a?b`: the labels reversed and
    joined by ",", the port, ")", path and query. IP addresses are not reversed. The scheme is
    dropped: http and https share a key, so break ties by URL.
    """
    _, _, host, rest = url.split("/", 3)
    name, port = _split_port(host or LOCALHOST)
    if not _is_address(name):
        name = ",".join(reversed(name.split(".")))
    return f"{name}{port})/{rest}"


def _base(base: str, rules: UrlRules) -> _Base | None:
    url = normalize(base, None, rules)
    if url is None:
        return None
    path = url.partition("?")[0]
    return _Base(url, origin_of(url), path[: path.rindex("/") + 1])


def _resolve(
    href: str,
    base: _Base | None,
    max_length: int,
    plain: re.Pattern[str],
    fold: Callable[[str], str | None],
) -> str | None:
    if plain.fullmatch(href):
        if ":" in href:
            url = href
        elif base is None:
            return None
        else:
            url = (base.origin if href[0] == "/" else base.directory) + href
        return url if len(url) <= max_length else None
    try:
        url = ada_url.normalize_url(href) if base is None else ada_url.join_url(base.url, href)
    except ValueError:  # lone surrogates too
        return None
    if "%" in url and _CONTROL.search(href.strip(_C0_OR_SPACE)):
        return None
    # Bounded twice: here for the work and memory that a hostile reference takes, and once
    # more when escapes have made it longer.
    url = url.removesuffix("#")
    return fold(url) if len(url) <= max_length else None


@lru_cache(maxsize=8)
def _form(rules: UrlRules, files: bool) -> tuple[re.Pattern[str], Callable[[str], str | None]]:
    """What is plain by these rules, and a `_fold` that remembers: a host's pages share links."""
    schemes = frozenset(rules.schemes) - (frozenset() if files else {"file"})
    plain = _PLAIN if schemes.issuperset(WEB) else _PLAIN_PATH
    fold = partial(_fold, rules=rules, schemes=schemes, plain=plain)
    return plain, lru_cache(maxsize=1 << 15)(fold)


def _fold(url: str, rules: UrlRules, schemes: frozenset[str], plain: re.Pattern[str]) -> str | None:
    if plain.fullmatch(url):
        return url
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return None
    file, scheme, host, port, path, query = parts.groups("")
    scheme = scheme or file
    if scheme not in schemes:
        return None
    if scheme in WEB:
        path, query = without_sessions(_fold_escapes(path)), _fold_query(query, rules)
    elif scheme == "ftp":
        path, query = _fold_names(_FTP_TYPE.sub("", path)), ""
    elif scheme == "file":
        path, query = _fold_names(path), ""
    else:
        host, path, query = host.lower(), _fold_escapes(path) or "/", _fold_escapes(query)
    folded = f"{scheme}://{host}{port}{path}" + ("?" + query if query else "")
    return folded if len(folded) <= rules.max_length else None


def _fold_query(query: str, rules: UrlRules) -> str:
    parameters = _fold_escapes(query).split("&")
    if ";" in query:
        parameters = [
            ";".join(map("".join, _kept(_SEMICOLON.split(each), rules))) for each in parameters
        ]
    pairs = _kept(filter(None, parameters), rules)
    if rules.sort_parameters:
        pairs.sort()
    return "&".join(map("".join, pairs))


def _kept(parameters: Iterable[str], rules: UrlRules) -> list[tuple[str, str, str]]:
    """Those that are part of the page, each as name, `=` and value."""
    names, prefixes = _dropped(rules.drop_parameters)
    kept = []
    for parameter in parameters:
        pair = parameter.partition("=")
        name = pair[0].lower()
        if not (name in names or name.startswith(prefixes) or SESSION.fullmatch(parameter)):
            kept.append(pair)
    return kept


def _fold_names(path: str) -> str:
    """Of a path to a file, in which no character but the slash has a meaning of its own."""
    return "/".join(quote(unquote_to_bytes(name), _NAME) for name in path.split("/"))


def _fold_escapes(text: str) -> str:
    return _ESCAPES.sub(lambda escape: _CANONICAL[escape[0]], text)


@lru_cache(maxsize=64)
def _dropped(parameters: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Exact names, and prefixes (of the names with a trailing wildcard), in lower case."""
    folded = [name.lower() for name in parameters]
    return (
        frozenset(name for name in folded if not name.endswith("*")),
        tuple(name[:-1] for name in folded if name.endswith("*")),
    )


def _split_port(host: str) -> tuple[str, str]:
    """`example.org`, `:8080`; the second is empty without a port."""
    end = host.find(":", host.rfind("]") + 1)
    return (host, "") if end < 0 else (host[:end], host[end:])


def _is_address(name: str) -> bool:
    # WHATWG's host parser leaves no name whose last label is a number, but IPv4 addresses.
    return name[0] == "[" or (name[-1].isdigit() and name.replace(".", "").isdigit())


@lru_cache(maxsize=1 << 16)
def _domain(host: str) -> str:
    name, _ = _split_port(host)
    return name if _is_address(name) else _suffixes().privatesuffix(name) or name


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
