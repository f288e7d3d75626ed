"""Which filter rules refuse the pages of a section, or of a domain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.rules.filter_rules.rule_syntax import Rule
from gossamer.schedule.order.sections.section_names import ANYWHERE, EVERYTHING, MAX_NAME_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable


def schemes_of(section: str) -> tuple[str, ...]:
    """The schemes of URLs of the Web, or of files, which have no host."""
    return ("file",) if section.startswith("/") else ("https", "http")


def url_prefixes(section: str, schemes: Iterable[str]) -> list[str]:
    """How the URLs of its pages begin, for each scheme."""
    return [f"{scheme}://{_beginning(section)}" for scheme in schemes]


def rules_against_section(section: str) -> list[Rule]:
    """The rules that refuse a section of the Web or of files, one for each scheme.

    A section of all hosts takes a pattern. For all pages, there is none.
    """
    if section == EVERYTHING:
        return []
    if section.startswith(f"{ANYWHERE}/"):
        path = re.escape(_beginning(section).removeprefix(ANYWHERE))
        return [Rule("deny", "pattern", f"^[^/]*//[^/]*{path}")]
    return [Rule("deny", "prefix", prefix) for prefix in url_prefixes(section, schemes_of(section))]


def rules_against_domain(domain: str) -> list[Rule]:
    """The rule that refuses all hosts of a domain. It cannot name an IPv6 address."""
    return [] if ":" in domain else [Rule("deny", "domain", domain)]


def _beginning(section: str) -> str:
    """How its URLs go on after ://. The name of a parameter ends before `=`."""
    parameter = section.partition("?")[2]
    ends = 0 < len(parameter) < MAX_NAME_CHARS
    return f"{section}=" if ends else section
