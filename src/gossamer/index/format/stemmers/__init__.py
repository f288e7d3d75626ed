"""Light stemmers of languages for which tantivy has none, ours, written from their grammars.

A light stemmer removes the endings of inflection: of number, case, gender, article and person
(Savoy, "Light stemming approaches for the French, Portuguese, German and Hungarian languages",
SAC 2006). In Slavic languages, nouns made of verbs and adjectives lose their endings, too: a search
for `zobrazit` (to display) should find `zobrazení`. A stemmer is a function of a normalised word in
lower case, which returns its stem.

suffixes.py   how endings are removed
slavic.py     Bulgarian, Croatian and Serbian, Czech, Polish, Slovak, Slovenian, Ukrainian, …
baltic.py     Estonian, Latvian, Lithuanian
indic.py      Bengali, Gujarati, Hindi, Marathi, Nepali, Punjabi, Urdu
western.py    Basque, Catalan, Galician, Irish, Albanian
eastern.py    Armenian, Hebrew, Indonesian, Persian, Vietnamese
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.format.stemmers import baltic, eastern, indic, slavic, western

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIGHT_STEMMERS: Mapping[str, Callable[[str], str]] = {
    **slavic.STEMMERS,
    **baltic.STEMMERS,
    **indic.STEMMERS,
    **western.STEMMERS,
    **eastern.STEMMERS,
}
"""By ISO 639-1."""
