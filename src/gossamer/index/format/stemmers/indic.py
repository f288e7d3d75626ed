"""Languages of India and its neighbours: endings of number and case, and postpositions.

The list of Hindi follows the grammar as in Ramanathan and Rao, "A Lightweight Stemmer for Hindi"
(EACL 2003): plural and oblique forms of nouns, and the endings of verbs by tense and gender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.format.stemmers.suffixes import remove_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_hindi = remove_endings(
    """ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयां ाइयों ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं
    नाओं नाएं
    ताओं ताएं ियां ियों ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं
    ुआं कर ाओ
    िए ाई ाए ने नी ना ते ती ता ीं ां ों ें ो े ू ु ी ि ा""",
    least=2,
)
_marathi = remove_endings(
    """मध्ये साठी पासून पर्यंत वरून मधून कडून ांनी ांना ांचा ांची ांचे ांच्या ामध्ये ासाठी ाला
    ाने ाचा ाची ाचे ाच्या ीला
    ीने ीचा ीची ीचे ीच्या च्या ला ने नी ना शी चा ची चे त हून ून ांत ात ीत ेत ांवर ावर वर ां""",
    "ी ा े ू ो ि ु",
    least=2,
)
_nepali = remove_endings(
    "हरूलाई हरूको हरूका हरूमा हरूले हरूबाट हरू हरु",
    "लाई बाट सँग संग देखि सम्म द्वारा ले को का की मा",
    "हरू हरु",
    "ी ा े ो ि ु ू",
    least=2,
)
_bengali = remove_endings(
    "গুলোর গুলির গুলোকে গুলো গুলি দেরকে দের েরা রা টির টিকে টি টা খানা খানি",
    "েরকে ের কে তে য়ের য় র ে",
    "া ি ী ো",
    least=2,
)
_gujarati = remove_endings(
    "ઓનું ઓની ઓના ઓનો ઓમાં ઓને ઓથી ઓએ નું ની ના નો માં ને થી એ ઓ",
    "ા ી ો ે ું ુ ં",
    least=2,
)
_punjabi = remove_endings("ਾਂ ੀਆਂ ਿਆਂ ੀਏ ੀਓ ਾ ੀ ੇ ੋ ਂ", "ੀ ਿ", least=2)
_urdu = remove_endings("يوں ياں ئيں ئے وں يں ات اں تے تي تا نے ني نا ے ي ا و ه", least=2)

STEMMERS: Mapping[str, Callable[[str], str]] = {
    "bn": _bengali,
    "gu": _gujarati,
    "hi": _hindi,
    "mr": _marathi,
    "ne": _nepali,
    "pa": _punjabi,
    "ur": _urdu,
}
