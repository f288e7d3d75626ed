"""Slavic languages: endings of nouns and adjectives by case, number and gender, and of verbs.

The consonant before an ending may change (Czech `ruka`, `ruce`; Polish `noga`, `nodze`), and so may
the vowel in a closed syllable (Ukrainian `ніч`, `ночі`); the most frequent changes are undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.format.stemmers.suffixes import remove_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_czech = remove_endings(
    """atech ětem etem atům ech ich ích ého ěmi emi ému ete eti ího iho ími imu ách ata aty ých ama
    ami ové ovi ými em es ém ím ům at ám os us ým mi ou e i í ě u y ů a o á é ý""",
    "ov ův ov in",
    "čt>ck št>sk c>k č>k z>h ž>h ř>r",
)
_slovak = remove_endings(
    """atách encami ence ätám och iach ách ami ého ému iami imi ich ími ých ými ovia ovi ové ata aťa
    aťom iemu ieho om em ám iam ím ým ej ou mi ie ia iu ov ev u a e o i y á é í ý ú ô""",
    "ov in",
    "čt>ck št>sk c>k č>k z>h ž>h",
)
_polish = remove_endings(
    """owaniem owania owaniu owanie owanych owanym owana owany owane ościach ościami ościom ością
    ości>ość iami iach ami ach owie owi om ów iem em iego ego iemu emu ymi imi ych ich iej ej ym im
    iom iów ia ie iu ią ię io ą ę y i u a e o""",
    "owan ow",
    "dz>g cz>k c>k sz>s ż>g ź>z ś>s ć>t ń>n ó>o",
)
_ukrainian = remove_endings(
    "ся сь",
    """ованого ованому ованими ованих ованим овання ованню ованням ості>ість остей>ість остями>ість
    ювання ування ення енням енню
    ами ями ові еві єві ого ього ому ьому ими іми їми их іх їх им ім їм ій ої ої ою ею єю ах ях ам
    ям ом ем єм ів їв ію ії ія ий ій ити ати яти іти ути ить ать ять іть уть ють ила ала или али
    ив ав а я о е є и і ї у ю ь й""",
    "ьн>н ч>к ц>к ж>г ш>х",
)
_belarusian = remove_endings(
    "ся цца",
    """амі ямі ага яга аму яму ымі імі ых іх ым ім ой ей ай яй аю яю ою ею аў яў оў ёў ах ях ам
    ям ом
    ем ый ій ая яя ае яе ыя ія ць а я о е ё ы і у ю ь й""",
)
_bulgarian = remove_endings(
    "ища ище овци евци ове еве овете евете>ев ят ът ия ият ата ята ото ето ите та то те",
    "ни>н ова ева ове еве и а я о е ъ ь й",
)
_serbian = remove_endings(
    """ovima evima ijima ovoga ovome ijega ijemu ijeg ijem ijih ijim ovi evi ove eve ova eva ama ima
    ega emu oga ome omu eg em om og oj ih im iju ija ije iji ju
    ati iti eti uti ao la li lo ući ći ti a e i o u""",
    "k>k c>k č>k z>g ž>g š>h",
)
_slovenian = remove_endings(
    """ovoma evoma ovima ovega ovemu ami ama imi ima ega emu oma ema om em ih im oč ov ev ah eh
    ah ju
    mi ja je ji jo i a e o u""",
    "č>k c>k ž>g š>h",
)
_macedonian = remove_endings(
    "овите евите овци иња иште ови еви ата ото ето ите от та то те",
    "и а о е",
)
_LATIN = dict(
    zip(
        "абвгдђежзијклљмнњопрстћуфхцчџш",
        (*"abvgd", "đ", *"ežzijkl", "lj", *"mn", "nj", *"oprst", "ć", *"ufhcč", "dž", "š"),
        strict=True,
    )
)
_TO_LATIN = str.maketrans(_LATIN)


def _in_latin(word: str) -> str:
    """The stem of a word of Serbian, which is written in two alphabets, or of Croatian."""
    return _serbian(word.translate(_TO_LATIN))


STEMMERS: Mapping[str, Callable[[str], str]] = {
    "be": _belarusian,
    "bg": _bulgarian,
    "cs": _czech,
    "mk": _macedonian,
    "pl": _polish,
    "sk": _slovak,
    "sl": _slovenian,
    "sr": _in_latin,
    "uk": _ukrainian,
}
