"""Chinese characters that are forms of one another: see gossamer.index.format.han_variants."""

from __future__ import annotations

import pytest

from gossamer.index.format import han_variants
from gossamer.index.format.han_variants import _Forms, _is_in


def test_forms_of_forms_are_one_character() -> None:
    """The one that is simple for most others, or the first of those."""
    forms = _Forms()
    for one, other in ("ab", "cd", "bc", "da", "xy", "zz"):
        forms.relate(one, other)
    simple = {"c": 3, "d": 2, "y": 0}
    assert dict(forms.replaced(simple)) == {"a": "c", "b": "c", "d": "c", "y": "x"}
    assert dict(forms.replaced({"d": 3, "y": 1})) == {"a": "d", "b": "d", "c": "d", "x": "y"}
    assert dict(forms.replaced({"b": 1, "d": 1})) == {"a": "b", "c": "b", "d": "b", "y": "x"}


def test_each_form_is_replaced_by_the_same_character() -> None:
    """A Japanese form is left alone if Chinese has it with another meaning."""
    found = han_variants.replaced_variants.__wrapped__()
    assert found == han_variants.replaced_variants()
    for forms in ("发發髮発", "台臺檯颱", "国國", "与與"):
        assert len({found.get(form, form) for form in forms}) == 1
        assert not found.keys() >= {*forms}
    assert found.get("欠", "欠") != found.get("缺", "缺")
    assert not found.keys() & {*found.values()}
    held = han_variants.characters_with_variants.__wrapped__()
    assert held == found.keys() | {*found.values()}


@pytest.mark.parametrize(
    ("standard", "char", "is_there"),
    [("gb2312", "国", True), ("gb2312", "國", False), ("big5", "國", True), ("big5", "国", False)],
)
def test_a_standard_has_a_character(standard: str, char: str, is_there: bool) -> None:
    assert _is_in(standard, char) is is_there
