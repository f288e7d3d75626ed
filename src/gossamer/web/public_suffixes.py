"""Which part of a host name has somebody registered? The Public Suffix List, searched rarely.

The list has few rules below most names of two labels, such as example.org, which are therefore
registrable domains. The last two labels of each rule are in a set. A host whose last two labels are
not in it needs no search of the list.

Fact (publicsuffixlist 1.1): reading the list takes 30 ms, as each rule passes through Python's
codec for IDNA. Only those with letters beyond ASCII need it, 459 rules in 20 ms. Hardly any host
can match one of these: its name contains a label that begins with xn--. So they are left out until
there is such a host, and reading the others takes 6 ms.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

END_OF_ICANN = "// ===END ICANN DOMAINS==="
ENCODED = "xn--"
"""What a label with letters beyond ASCII begins with (RFC 5890 §2.3.1)."""
_RULE = re.compile(r"^[^/\s]\S*", re.MULTILINE)


def registrable(host: str, *, only_icann: bool = False) -> str:
    """The public suffix of a host and one label, without a port.

    IP addresses, single labels and public suffixes are returned as they are. With `only_icann` the
    private section of the list does not apply, so a name like github.io is registrable, too.
    """
    port = host.find(":", host.rfind("]") + 1)
    name = host if port < 0 else host[:port]
    dot = name.rfind(".")
    if dot < 0 or is_address(name):
        return name
    foreign = ENCODED in name or not name.isascii()
    ends = _ends(only_icann=only_icann, foreign=foreign)
    end = name[name.rfind(".", 0, dot) + 1 :]
    if end in ends or name[dot + 1 :] in ends:
        return _suffixes(only_icann=only_icann).privatesuffix(name) or name
    return end


def is_public(host: str) -> bool:
    """Whether a host (without port) is a name below a suffix in the Public Suffix List."""
    if is_address(host):
        return False
    return _suffixes(only_icann=False).privatesuffix(host, accept_unknown=False) is not None


def is_address(name: str) -> bool:
    # After WHATWG's host parser, only IPv4 addresses have a last label that is a number.
    return name[0] == "[" or (name[-1].isdigit() and name.replace(".", "").isdigit())


@cache
def _ends(*, only_icann: bool, foreign: bool) -> frozenset[str]:
    """The last two labels of each rule; `foreign`: also of those with letters beyond ASCII."""
    rules = _rules(only_icann=only_icann) if foreign else _ascii_rules(only_icann=only_icann)
    return frozenset(rule if _is_its_end(rule) else _end_of(rule) for rule in rules)


def _is_its_end(rule: str) -> bool:
    return rule.count(".") == 1 and rule[0] not in "!*"


def _end_of(rule: str) -> str:
    """The last two labels of a rule; only the last one if the other is a wildcard, as in *.ck."""
    first, _, last = rule.lstrip("!").rpartition(".")
    second = first.rpartition(".")[2]
    return last if second == "*" else f"{second}.{last}"


@cache
def _suffixes(*, only_icann: bool) -> PublicSuffixList:
    return PublicSuffixList(_rules(only_icann=only_icann), accept_encoded_idn=False)


@cache
def _rules(*, only_icann: bool) -> list[str]:
    """The rules of the list, and the encoded form of those that are not ASCII."""
    rules = _read_rules(only_icann=only_icann)
    foreign = [rule for rule in rules if not rule.isascii()]
    return rules + ["!" * rule.startswith("!") + encode_idn(rule.lstrip("!")) for rule in foreign]


def _ascii_rules(*, only_icann: bool) -> list[str]:
    return [rule for rule in _read_rules(only_icann=only_icann) if rule.isascii()]


def _read_rules(*, only_icann: bool) -> list[str]:
    """The rules as they are written, in lower case."""
    text = Path(PSLFILE).read_text("utf-8").lower()
    if only_icann:  # the first section
        text = text.partition(END_OF_ICANN.lower())[0]
    return _RULE.findall(text)
