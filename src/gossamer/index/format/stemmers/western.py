"""Basque, Catalan, Galician, Irish and Albanian."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.index.format.stemmers.suffixes import remove_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_catalan = remove_endings(
    """aments ament ments ment acions>acio ació>acio cions>cio ció>cio ions>io ió>io itats>itat
    adors>ador adores>ador adora>ador ants>ant ents>ent ques>c gues>g
    ons>o ans>a ins>i ens>e ó>o à>a í>i é>e
    ades ats ada at ides its ida it ant ent int ar er ir ava aven aria arà aran
    es os as s""",
    "a e o i",
    "qu>c gu>g ç>c",
)
_galician = remove_endings(
    "amente mente acións>acion ación>acion cións>cion ción>cion óns>on ón>on ores>or eiros>eiro "
    "ares>ar ais>al eis>el adas ados ada ado idas idos ida ido ando endo indo ar er ir es s",
    "a e o i",
    "qu>c gu>g z>c ç>c",
)
_basque = remove_endings(
    """arengatik arentzat arentzako etarako etatik etako etara etaraino etan arekin ekin aren
    aren ari
    arik ak ek ei en entzat entzako aren rako tako tik tzat zat rik ra ren ri ko go an ean in n
    tan tara z az ez""",
    "a e o",
)
_irish = remove_endings(
    """eanna anna acha eacha aithe aí ithe ailí óirí eoirí óir eoir ach each aigh igh amh eamh
    adh eadh
    ann eann aim im idís aidís as eas ís""",
    "a e i í",
)
_LENITED = re.compile(r"^([bcdfgmpst])h(?=.{2})")
_ECLIPSED = re.compile(
    r"^(?:m(?=b)|g(?=c)|n(?=[dg])|bh(?=f)|b(?=p)|d(?=t)|[hnt](?=[aeiouáéíóú].{2}))"
)
_albanian = remove_endings(
    "ave eve ive uar uara imi imit ime të tëve ëve shë it ut in un en ve në së at et i u a e ë t n",
)


def _irish_stem(word: str) -> str:
    """The stem of a word without its mutation, as the `bhf` of `bhfear`."""
    return _irish(_LENITED.sub(r"\1", _ECLIPSED.sub("", word)))


STEMMERS: Mapping[str, Callable[[str], str]] = {
    "ca": _catalan,
    "eu": _basque,
    "ga": _irish_stem,
    "gl": _galician,
    "sq": _albanian,
}
