"""Which part of a host name has somebody registered? The Public Suffix List, searched rarely.

The list has few rules below most names of two labels, such as example.org, which are therefore
registrable domains. The last two labels of each rule are in a set. A host whose last two labels are
not in it needs no search of the list.
"""

from __future__ import annotations

from functools import cache

from publicsuffixlist import PublicSuffixList


class _Suffixes(PublicSuffixList):
    def __init__(self, *, only_icann: bool) -> None:
        super().__init__(only_icann=only_icann)
        self.ends = frozenset(map(_end_of, self._publicsuffix))


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
    suffixes = _suffixes(only_icann=only_icann)
    end = name[name.rfind(".", 0, dot) + 1 :]
    if end in suffixes.ends or name[dot + 1 :] in suffixes.ends:
        return suffixes.privatesuffix(name) or name
    return end


def is_public(host: str) -> bool:
    """Whether a host (without port) is a name below a suffix in the Public Suffix List."""
    return not is_address(host) and _known_suffixes().privatesuffix(host) is not None


def is_address(name: str) -> bool:
    # After WHATWG's host parser, only IPv4 addresses have a last label that is a number.
    return name[0] == "[" or (name[-1].isdigit() and name.replace(".", "").isdigit())


def _end_of(rule: str) -> str:
    """The last two labels of a rule; only the last one if the other is a wildcard, as in *.ck."""
    first, _, last = rule.lstrip("!").rpartition(".")
    second = first.rpartition(".")[2]
    return last if second == "*" else f"{second}.{last}"


@cache
def _suffixes(*, only_icann: bool) -> _Suffixes:
    return _Suffixes(only_icann=only_icann)


@cache
def _known_suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)
