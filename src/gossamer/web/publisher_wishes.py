"""What publishers say about the use of their pages: for search, as input of AI, to train it.

A statement is a line `SOURCE FIELD: VALUE`, as it was found: it is the evidence, and everything
else follows from it. `judge` combines the statements about a page. Whoever publishes wins: if any
statement forbids a use, it is forbidden, as in draft-ietf-aipref-vocab-08 §5.1.

    Content-Signal   contentsignals.org: `search=yes, ai-input=no, ai-train=no`, in a group of
                     robots.txt, maybe with a path before it, or as a header
    Content-Usage    draft-ietf-aipref-attach-05: a path and a structured dictionary (RFC 9651)
                     `train-ai=n, ai-use=n, search=y` in a group of robots.txt, or as a header
    tdm-reservation  TDMRep (W3C community group): 1 reserves text and data mining, 0 does not; a
                     header, a meta element or a rule of tdmrep.json (`tdmrep.py`). `tdm-policy`
                     names the terms, and is kept beside it
    License          RSL 1.0: a record of robots.txt, a link of the type application/rsl+xml in the
                     header Link or in the page, or a script of this type. Terms that are not read
                     count as a reservation of both uses by AI: most such files ask for a contract
    RSL              the terms for this page in a file that was read (`rsl.py`), and its URL;
                     links to that file have no further effect
    noai, noimageai  directives in robots meta elements and X-Robots-Tag, without a standard. noai
                     forbids both uses by AI; noimageai is about images, of which we hand out none

What the standards leave open is read as the publisher's wish: `no` counts as `n`, names of former
drafts are known, and a line above the first user-agent of robots.txt is for everybody. Nothing here
raises, whatever a publisher writes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from gossamer.web.robots_rules import Rule, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SEARCH, AI_INPUT, AI_TRAIN = "search", "ai-input", "ai-train"
USES: Final = (SEARCH, AI_INPUT, AI_TRAIN)
BOTH_BY_AI: Final = (AI_INPUT, AI_TRAIN)

ROBOTS_TXT: Final = "robots.txt"
"""The name under which the statements of robots.txt are kept among the headers of a response, with
those of the RSL file that it names."""
TDMREP: Final = "tdmrep.json"
"""The name of those of /.well-known/tdmrep.json."""
SITE_FILES: Final = (ROBOTS_TXT, TDMREP)
HEADERS: Final = ("content-signal", "content-usage", "tdm-policy", "tdm-reservation")
"""Headers that are statements. Links and X-Robots-Tag also have other contents."""
META_NAMES: Final = frozenset(HEADERS)
"""Names of meta elements that are statements. The standards define only those of TDMRep."""
RSL_TYPE: Final = "application/rsl+xml"
MAX_VALUE_CHARS: Final = 300
"""What `statement` keeps of a value."""
MAX_STATEMENTS: Final = 20
"""Statements that are kept per page. Those that forbid something are kept first."""
MAX_EXPRESSIONS: Final = 50
"""Different values per field and agent of a robots.txt that are told apart."""

# RFC 9651 §3: keys, bare items, parameters, inner lists, members of a dictionary.
_KEY = r"[a-z*][a-z0-9_.*-]*+"
_ITEM = (
    r"""(?:[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*+|%?"(?:[ !#-\[\]-~]|\\["\\])*+\""""
    r"""|@?-?[0-9]{1,15}+(?:\.[0-9]{1,3}+)?+|\?[01]|:[A-Za-z0-9+/=]*+:)"""
)
_PARAMETERS = rf"(?:; *+{_KEY}(?:={_ITEM})?+)*+"
_INNER_LIST = rf"\( *+(?:{_ITEM}{_PARAMETERS}(?: ++|(?=\))))*+\)"
_MEMBER = re.compile(rf"({_KEY})(?:=({_ITEM}|{_INNER_LIST}))?+{_PARAMETERS}")
_NEXT_MEMBER = re.compile(r"[ \t]*+,[ \t]*+(?=.)", re.DOTALL)
_USAGE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "search": (SEARCH,),
    "train-ai": (AI_TRAIN,),
    "ai-use": (AI_INPUT,),
    # of former drafts, and of those who mix the vocabularies
    **dict.fromkeys(("train-genai", "genai", "ai-train"), (AI_TRAIN,)),
    **dict.fromkeys(("ai-output", "ai-input"), (AI_INPUT,)),
    **dict.fromkeys(("ai", "tdm"), BOTH_BY_AI),
}
_FORBIDDEN = re.compile(r"(?<![\w.*-])([\w-]+)[ \t]*+=[ \t]*+\"?no?(?![\w-])", re.IGNORECASE)
_BEFORE_URL: Final = "; "
"""Between the terms and the URL in the value of an RSL statement."""
_YES_OR_NO: Final[Mapping[str, bool]] = {"y": True, "yes": True, "n": False, "no": False}
_SIGNAL = re.compile(
    r"(?<![\w-])(search|ai[-_]input|ai[-_]train)[ \t]*+=[ \t]*+\"?(yes|no|y|n)(?![\w-])",
    re.IGNORECASE,
)
_NOT_IN_LINES = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+"
)


class Preference(NamedTuple):
    """A line of a group of robots.txt: the name of the field, the path and the value."""

    field: str
    pattern: bytes
    value: str


def statement(source: str, field: str, value: str) -> str:
    """Return a statement, as one line. `source`: robots.txt, header or page.

    A value that is too long is replaced by its meaning, so that no long prefix hides a `no`.
    """
    line = _NOT_IN_LINES.sub(" ", value).strip()
    if len(line) > MAX_VALUE_CHARS:
        found = said(f"{source} {field}: {line}")
        short = ", ".join(f"{use}={'yes' if found[use] else 'no'}" for use in USES if use in found)
        if field.lower() == "content-usage":
            short = short.replace(AI_TRAIN, "train-ai").replace(AI_INPUT, "ai-use")
            short = short.replace("=yes", "=y").replace("=no", "=n")
        line = short or line[:MAX_VALUE_CHARS]
    return f"{source} {field}: {line}"


def said(line: str) -> dict[str, bool]:
    """Return the uses that a statement allows or forbids."""
    _, _, rest = line.partition(" ")
    field, _, value = rest.partition(": ")
    match field.lower():
        case "content-signal":
            return read_content_signal(value)
        case "content-usage":
            return read_content_usage(value)
        case "tdm-reservation":
            return read_tdm_reservation(value)
        case "rsl":
            return read_content_signal(value.partition(_BEFORE_URL)[0])
        case "license" | "robots" | "x-robots-tag" if value != "noimageai":
            return dict.fromkeys(BOTH_BY_AI, False)
    return {}


def rsl_statement(uses: Mapping[str, bool], url: str) -> str:
    """Return the statement about a page in the RSL file at `url`, which robots.txt names."""
    judged = (encode(uses) or "").replace(" ", ", ")
    return statement(ROBOTS_TXT, "RSL", f"{judged}{_BEFORE_URL}{url}")


def judge(statements: Iterable[str]) -> dict[str, bool]:
    """Return the uses about which something is said, and whether all statements allow them.

    A link to an RSL file says nothing beside the terms of the same file.
    """
    lines = list(statements)
    parts = [line.partition(" ")[2].partition(": ") for line in lines]
    read = {value.partition(_BEFORE_URL)[2] for field, _, value in parts if field == "RSL"}
    judged: dict[str, bool] = {}
    for line, (field, _, value) in zip(lines, parts, strict=True):
        if field == "License" and value in read:
            continue
        for use, allowed in said(line).items():
            judged[use] = judged.get(use, True) and allowed
    return {use: judged[use] for use in USES if use in judged}


def encode(judged: Mapping[str, bool]) -> str | None:
    """The text that datasets and the index keep, such as `search=yes ai-train=no`; None for {}."""
    return " ".join(f"{use}={'yes' if yes else 'no'}" for use, yes in judged.items()) or None


def forbids(encoded: str | None, use: str) -> bool:
    """Whether an encoded judgement forbids a use."""
    return encoded is not None and f"{use}=no" in encoded.split()


def keep(statements: Iterable[str]) -> tuple[str, ...]:
    """Return the statements that are kept of a page, each once, what forbids something first."""
    lines = dict.fromkeys(statements)
    ordered = sorted(lines, key=lambda line: all(said(line).values()) or not said(line))
    return tuple(ordered[:MAX_STATEMENTS])


def condense(statements: Sequence[str], most: int) -> Sequence[str]:
    """Return the statements of robots.txt, or if there are too many, one with their meaning."""
    if len(statements) <= most:
        return statements
    judged = encode(judge(statements)) or ""
    return [statement(ROBOTS_TXT, "Content-Signal", judged.replace(" ", ", "))]


def header_statements(headers: Mapping[str, str]) -> list[str]:
    """Return the statements in files of the site and in headers, by lower-case names of headers."""
    found = [
        f"{name} {line}"
        for name in SITE_FILES
        for line in headers.get(name, "").split("\n")
        if line
    ]
    found += [statement("header", name, headers[name]) for name in HEADERS if name in headers]
    return found


def read_content_signal(value: str) -> dict[str, bool]:
    """Read `search=yes, ai-train=no`. Other names have no effect, and of two values no counts."""
    found: dict[str, bool] = {}
    for name, word in _SIGNAL.findall(value):
        use = name.lower().replace("_", "-")
        found[use] = found.get(use, True) and _YES_OR_NO[word.lower()]
    return found


def read_content_usage(value: str) -> dict[str, bool]:
    """Read a structured dictionary. Values that are not tokens have no effect.

    Of equal keys the last one counts (RFC 9651 §4.2.2), of different keys for a use the strictest.
    For the standard, a value that is no dictionary says nothing; here, what it forbids counts.
    """
    members = _dictionary(value.strip(" \t"))
    if members is None:
        members = [(key.lower(), "n") for key in _FORBIDDEN.findall(value)]
    found: dict[str, bool] = {}
    for key, token in dict(members).items():
        allowed = _YES_OR_NO.get(token)
        if allowed is not None:
            for use in _USAGE_KEYS.get(key, ()):
                found[use] = found.get(use, True) and allowed
    return found


def _dictionary(text: str) -> list[tuple[str, str]] | None:
    """Return the members of a structured dictionary; None if it is not one (RFC 9651 §4.2.2)."""
    members: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        member = _MEMBER.match(text, place)
        if member is None:
            return None
        members.append((member[1], member[2] or ""))
        place = member.end()
        if place < len(text):
            following = _NEXT_MEMBER.match(text, place)
            if following is None:
                return None
            place = following.end()
    return members


def read_tdm_reservation(value: str) -> dict[str, bool]:
    """Read 1 or 0; several headers are joined by commas. Other values are protocol errors."""
    values = {each.strip(" \t\"'") for each in value.split(",")}
    if "1" in values:
        return dict.fromkeys(BOTH_BY_AI, False)
    return dict.fromkeys(BOTH_BY_AI, True) if values == {"0"} else {}


def split_path(value: bytes) -> tuple[bytes, bytes]:
    """Split the value of a Content-Usage or Content-Signal rule into its path and the rest.

    A rule without a path is for the whole host.
    """
    if value[:1] not in (b"/", b"*"):
        return b"/", value
    path, _, rest = value.replace(b"\t", b" ").partition(b" ")
    return path, rest.strip()


class Preferences:
    """The lines about uses that apply to an agent, by paths.

    Of the lines of a field, those with the longest matching path count, as for Allow and Disallow;
    lines with equally long paths apply together (draft-ietf-aipref-attach-05 §3.1).
    """

    __slots__ = ("_rules",)

    def __init__(self, lines: Sequence[Preference]) -> None:
        patterns: dict[tuple[str, str], list[Rule]] = defaultdict(list)
        for field, pattern, value in lines:
            if (field, value) in patterns or len(patterns) < 2 * MAX_EXPRESSIONS:
                patterns[field, value].append(Rule(False, pattern))
        self._rules = [(*key, Rules(rules)) for key, rules in patterns.items()]

    def about(self, url: str) -> list[str]:
        """Return the statements about an absolute URL."""
        best: dict[str, int] = {}
        found: dict[str, list[str]] = {}
        for field, value, rules in self._rules:
            rank = rules.rank(url)
            if rank is None or rank < best.get(field, 0):
                continue
            if rank > best.get(field, 0):
                best[field], found[field] = rank, []
            found[field].append(statement(ROBOTS_TXT, field, value))
        return [line for lines in found.values() for line in lines]
