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
    """ováním ování ovaní ovat ovala ovali ovalo oval ováno ována ovány ován ovaný ovaná ované
    ovaných ovaného
    ovanými ovanému ovacích ovací uje ují ujte ujeme ujete ujícím ujících ující>ova
    ením eních eními ení en ena eno eny ený ená ené ených eného enými enému it il ila ili ilo
    ět ěl ěla ěli ělo at al ala ali alo ání áním aný aná ané aných aného án ána áno
    osti ostí ost ostem ostmi""",
    """atech ětem etem atům ech ich ích ého ěmi emi ému ete eti ího iho ími imu ách ata aty ých ama
    ami ové ovi ými em es ém ím ům at ám os us ým mi ou e i í ě u y ů a o á é ý""",
    "ov ův ov in",
    "čt>ck št>sk c>k č>k z>h ž>h ř>r",
)
_slovak = remove_endings(
    """ovaním ovanie ovania ovaniu ovať oval ovala ovali ovalo ovaný ovaná ované ovaných ovaného
    uje ujú ujte
    ujeme ujúci ujúca ujúce
    ením enie enia eniu ený ená ené ených eného iť il ila ili ilo ieť
    ať al ala ali alo aním anie ania aný aná ané aných aného
    osti ostí ost osť ostiam osťami""",
    """atách encami ence ätám och iach ách ami ého ému iami imi ich ími ých ými ovia ovi ové ata aťa
    aťom iemu ieho om em ám iam ím ým ej ou mi ie ia iu ov ev u a e o i y á é í ý ú ô""",
    "ov in",
    "čt>ck št>sk c>k č>k z>h ž>h",
)
_polish = remove_endings(
    """owaniem owania owaniu owanie owań owanych owanym owanego owanej owana owany owane owani
    ować ował owała
    owali owało uje ują ujesz ujący ująca ujące ujących
    eniem eniami enia eniu enie eń onych onym onego onej ony ona one iony iona ione ionych ić ił
    iła ili iło
    yć ył yła yli yło
    aniem aniami ania aniu anie ań anych anym anego anej any ana ane ać ał ała ali ało
    ościach ościami ościom ością ości ość""",
    """iami iach ami ach owie owi om ów iem em iego ego iemu emu ymi imi ych ich iej ej ym im
    iom iów ia ie iu ią ię io ą ę y i u a e o""",
    "ow",
    "dz>g cz>k c>k sz>s ż>g ź>z ś>s ć>t ń>n ó>o",
)
_ukrainian = remove_endings(
    "ся сь",
    """уванням уваннях уванню ування увань увати ував увала ували увало уваний увана уване уваних
    ує ують уйте
    юванням ювання ювань ювати ював ювала ювали ює юють юйте
    енням еннях енню ення ень ений ена ене ених еного ити ив ила или ило ить ять
    анням аннях анню ання ань аний ана ане аних аного ати ав ала али ало ає ають айте
    остями остям остей ості істю ість""",
    """ами ями ові еві єві ого ього ому ьому ими іми їми их іх їх им ім їм ій ої ої ою ею єю ах
    ях ам
    ям ом ем єм ів їв ію ії ія ий ій яти іти ути ать іть уть ють
    а я о е є и і ї у ю ь й""",
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
    """вания ване вани ван вана вано ват ваш ваме вайте вай вам вал вала вали ва
    ения ение ени ен ена ено ене я ания ане ани ан ана ано ам аш ай айте ал ала али
    ости ост ността""",
    "ни>н ова ева ове еве и а я о е ъ ь й",
)
_serbian = remove_endings(
    """ovanjem ovanja ovanju ovanje ovati ovao ovala ovali ovan ovana ovano ovani ovane uje uju ujte
    enjem enja enju enje iti io ila ili ilo en ena eno eni ene
    anjem anja anju anje ati ao ala ali alo an ana ano ani ane aju
    ostima osti ost ošću""",
    """ovima evima ijima ovoga ovome ijega ijemu ijeg ijem ijih ijim ovi evi ove eve ova eva ama ima
    ega emu oga ome omu eg em om og oj ih im iju ija ije iji ju
    eti uti la li lo ući ći ti a e i o u""",
    "k>k c>k č>k z>g ž>g š>h",
)
_slovenian = remove_endings(
    """ovanjem ovanja ovanju ovanje ovati oval ovala ovali ovan ovana ovano uje ujejo
    enjem enja enju enje iti il ila ili en ena eno eni ene
    anjem anja anju anje ati al ala ali an ana ano ani ane
    ostjo osti ost""",
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
