"""Authors of one field, split as people write them, without those who are nobody.

Facts: a field of authors may hold "Lee, Ann; Ray, Bob", "Ann Lee, Bob Ray and Eve Fox", or one name
that has commas or conjunctions itself: "Lee, Ann", "Ann Lee, Jr.", "Acme, Inc.", "Ministry of Trade
and Industry". Programs write an account, or themselves ("Administrator", "openpyxl").

Decision: what may be one name stays one. Only parts that all look like names of persons are
separated by a comma, a slash or a conjunction; other separators are used for nothing else.
"""

from __future__ import annotations

import re

from gossamer.parse.reading.titles import says_nothing

MAX_AUTHORS = 100
MAX_FIELD_CHARS = 20_000
MAX_NAME_WORDS = 5

_BLANKS = re.compile(r"[^\S\r\n]+")
_SEPARATOR = re.compile(r"\s*(?:[;\n\r；、，،؛•·]|\s[|/]\s)\s*")
_AND = r"(?:and|und|et|&|og|och|en|y|e|i|и|та|ja|ve|és|with)"
_COMMA = re.compile(rf"\s*,\s*(?:{_AND}\s+)?|\s+{_AND}\s+|\s*[/&]\s*")
_ROLE = re.compile(
    r"(?:\w+ ){0,4}(?:reporter|correspondent|writer|editor|staff|columnist|contributor|journalist"
    r"|producer|redakteurin|redakteur|redacción|rédaction|redazione|redactie|professor)"
    r"(?: \w+){0,3}",
    re.IGNORECASE,
)
"""What people do, which stands behind their names."""
_AFFIX = re.compile(
    r"(?:jr|sr|i{2,3}|iv|ph\.? ?d|m\.?d|m\.?sc|b\.?sc|m\.?a|b\.?a|esq|inc|ltd|llc|gmbh|co|corp"
    r"|s\.?a|ag|e\.? ?v|dr|prof)\.?",
    re.IGNORECASE,
)
"""What follows a comma within a name."""
_PARTICLES = frozenset(
    (
        *("al", "bin", "da", "das", "de", "degli", "dei", "del", "della", "den", "der", "di", "do"),
        *("dos", "du", "el", "ibn", "la", "las", "le", "los", "ten", "ter", "van", "von", "y"),
        *("zu", "zum", "zur"),
    )
)
_ADDRESS = re.compile(r"<[^<>]*>|\(?(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+\)?")
_AROUND = " \t,;()<>\"'"
_NOBODY = frozenset(
    """
    admin|administrator|administrador|administrateur|amministratore|author|autor|auteur|benutzer
    |beheerder|default|editor|gebruiker|guest|home|ich|me|microsoft office user|microsoft|office
    |owner|pc|root|student|system|test|unbekannt|user|username|usuario|usuário|utente|utilisateur
    |utilisateur windows|webmaster|windows-benutzer|windows user|www-data|пользователь|админ|用户
    |微软用户|microsoft corporation|apache poi|docx4j|openpyxl|phpexcel|phpoffice|phpword|pptxgenjs
    |python-docx|python-pptx|sheetjs|steve canny|un-named|xlsxwriter|your name|author name
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
"""Accounts and programs, which leave their name where nobody wrote one."""


def split_authors(field: str) -> tuple[str, ...]:
    """Return the names in a field of authors, each once.

    >>> split_authors("Ann Lee, Bob Ray and Eve Fox")
    ('Ann Lee', 'Bob Ray', 'Eve Fox')
    >>> split_authors("Lee, Ann")
    ('Lee, Ann',)
    """
    names: dict[str, None] = {}
    text = _BLANKS.sub(" ", _ADDRESS.sub(" ", field[:MAX_FIELD_CHARS]))
    for part in _SEPARATOR.split(text):
        for name in _persons(part.strip(_AROUND)):
            clean = " ".join(name.split())
            if not is_nobody(clean):
                names[clean] = None
    return tuple(names)[:MAX_AUTHORS]


def is_nobody(name: str) -> bool:
    """Whether a name is a placeholder, an account or a program."""
    return name.lower() in _NOBODY or says_nothing(name)


def _persons(part: str) -> list[str]:
    """Return the persons of a part, or the part itself if it may be one name."""
    names: list[str] = []
    for name in _COMMA.split(part):
        if names and _AFFIX.fullmatch(name):
            names[-1] = f"{names[-1]}, {name}"
        else:
            names.append(name)
    persons = [name for name in names if not _ROLE.fullmatch(name)]
    if len(persons) < len(names) and persons:
        return persons if all(map(_is_person, persons)) else [part]
    return names if len(names) > 1 and all(map(_is_person, names)) else [part]


def _is_person(name: str) -> bool:
    """Whether a name is that of a person with a given name, such as "Ludwig van Beethoven"."""
    words = name.partition(",")[0].split()
    if not 1 < len(words) <= MAX_NAME_WORDS:
        return False
    return all(word in _PARTICLES or not word[0].islower() for word in words) and any(
        word[0].isupper() for word in words
    )
