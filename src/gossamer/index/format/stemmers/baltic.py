"""Lithuanian, Latvian and Estonian: endings of cases in both numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.format.stemmers.suffixes import remove_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_lithuanian = remove_endings(
    """avimas avimo avimą avimu avime avimai avimų inimas inimo inimą inimu inime inimai inimų
    ymas ymo ymui
    ymą ymu yme ymai ymų imas imo imui imą imu ime imai imų uoti avo uoja inti ina ino yti oti
    ėti""",
    "iesiems iesiais uosiuose iuosiuose iasis ajam ajame omis imis umis ėmis iams iais iuose uose "
    "ose yse ėse iuje uje oje yje ėje iojo iai iui iaus ius iau iams ams ems ims ums iais ais iose "
    "iems aus oms ėms ėmis omis ias iam iom ies iu ias iam iaus ai ei ui au as is ys us os ės es ą "
    "ę į ų a ė e i y o u am om em",
    "č>t dž>d",
)
_latvian = remove_endings(
    "ajiem ajām ajam ajos ajās ajai ajā iem ām ēm īm os ās ēs īs us as is es ai ei ij am im um em "
    "ām ā ē ī ū u a e i o s š",
    "š>s ž>z č>c ļ>l ņ>n",
)
_estonian = remove_endings(
    "desse dest dele delt del deks deni dena deta dega tesse test tele telt tel teks teni tena "
    "teta "
    "tega isse ist ile ilt il iks sse st le lt ks ni na ta ga des de te id s l d i",
    "e i u a",
)

STEMMERS: Mapping[str, Callable[[str], str]] = {
    "et": _estonian,
    "lt": _lithuanian,
    "lv": _latvian,
}
