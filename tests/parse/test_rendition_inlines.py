"""Runs of text as Markdown, one by one (CommonMark 0.31 §6)."""

from __future__ import annotations

import pytest

from gossamer.parse.rendition.blocks import BREAK, CODE, EMPHASIS, IMAGE, STRONG, Run
from gossamer.parse.rendition.inlines import IN_CELL, inline

URL = "http://a.test/"


@pytest.mark.parametrize(
    ("runs", "markdown"),
    [
        ([], ""),
        ([Run("  a \n b ")], "a b"),
        ([Run("a"), Run(""), Run("b")], "ab"),
        ([Run("a", EMPHASIS), Run(""), Run("b", EMPHASIS)], "*ab*"),
        ([Run("a"), Run(" ", EMPHASIS), Run("b")], "a b"),
        ([Run("a"), Run(" ", STRONG), Run(" "), Run("b")], "a b"),
        ([Run("a"), Run(" b ", EMPHASIS), Run("c")], "a *b* c"),
        ([Run("a"), Run("b", EMPHASIS)], "a*b*"),
        ([Run("a "), Run("b", STRONG), Run(" c")], "a **b** c"),
        ([Run("b", STRONG | EMPHASIS)], "**b**"),
        ([Run("a"), Run("(b)", EMPHASIS), Run("c")], "a(b)c"),
        ([Run("a "), Run("(b)", EMPHASIS), Run("c")], "a (b)c"),
        ([Run("a"), Run("(b)", EMPHASIS), Run(" c")], "a(b) c"),
        ([Run("a "), Run("(b)", EMPHASIS), Run(", c")], "a *(b)*, c"),
        ([Run("a", EMPHASIS), Run("b", STRONG)], "a**b**"),
        ([Run("a*"), Run("b", EMPHASIS)], "a\\*b"),
        ([Run("b", EMPHASIS), Run("*a")], "b\\*a"),
        ([Run("a)", EMPHASIS), Run("b")], "a)b"),
        ([Run("(a", EMPHASIS), Run("b")], "*(a*b"),
        ([Run("b"), Run("(a", EMPHASIS)], "b(a"),
        ([Run("a", EMPHASIS), Run("b", CODE)], "*a*`b`"),
        ([Run("a)", EMPHASIS), Run("b", CODE)], "a)`b`"),
        ([Run("a)", EMPHASIS), Run("b", 0, URL)], f"*a)*[b]({URL})"),
        ([Run("a", 0, URL), Run("b", 0, URL)], f"[ab]({URL})"),
        ([Run("(a)", STRONG, URL)], f"[**(a)**]({URL})"),
        ([Run("a", CODE, URL)], f"[`a`]({URL})"),
        ([Run("a")] + [Run("", BREAK)] * 2 + [Run("# b")], "a\\\n\\# b"),
        ([Run("", BREAK), Run("a"), Run("", BREAK)], "a"),
        ([Run("a"), Run("", BREAK), Run(" "), Run("", BREAK), Run("b")], "a\\\nb"),
        ([Run("x` `y", CODE)], "``x` `y``"),
        ([Run("`", CODE)], "`` ` ``"),
        ([Run("``x", CODE)], "``` ``x ```"),
        ([Run("a"), Run(" b  c ", IMAGE, URL), Run("d")], f"a![b c]({URL})d"),
        ([Run("a"), Run(" ", IMAGE, URL), Run("b")], "ab"),
        ([Run("a", IMAGE, URL), Run("b", IMAGE, URL)], f"![a]({URL})![b]({URL})"),
        ([Run("a)", EMPHASIS), Run("b", IMAGE, URL)], f"*a)*![b]({URL})"),
    ],
)
def test_runs(runs: list[Run], markdown: str) -> None:
    assert inline(runs) == markdown


def test_lines_in_a_cell_begin_no_block() -> None:
    assert inline([Run("# a"), Run("", BREAK), Run("- b")], IN_CELL) == "# a<br>- b"
    assert inline([Run("# a"), Run("", BREAK), Run("- b")]) == "\\# a\\\n\\- b"
