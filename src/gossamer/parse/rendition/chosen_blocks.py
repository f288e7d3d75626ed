"""Which blocks of an outline are the main text: as `gossamer.parse.maintext.core.main_text`.

That returns the text of the blocks, which does not say which of several equal ones were chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.maintext.boilerplate import ENOUGH_CHARS
from gossamer.parse.maintext.core import _choose_blocks, _prose
from gossamer.parse.maintext.trim import fold_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.parse.maintext.blocks import Outline


def main_blocks(
    outline: Outline, title: str, revealed: Callable[[], Outline | None] = lambda: None
) -> tuple[Outline, Sequence[int]]:
    """Return the numbers of the blocks, and the outline that has them: the given or revealed one.

    The arguments are those of `main_text`.
    """
    prose = [_prose(block) for block in outline.blocks]
    if not any(prose) and (other := revealed()) is not None:
        shown = [_prose(block) for block in other.blocks]
        if sum(shown) >= ENOUGH_CHARS:
            outline, prose = other, shown
    chosen, _ = _choose_blocks(outline, prose, fold_words(title))
    return outline, chosen
