from __future__ import annotations

from gossamer.index.format.document_builder import skip_known


def test_parts_that_a_text_or_another_part_repeats_are_left_out() -> None:
    parts = ["Roses", "roses", "", "Tulips", "Lilies"]
    assert [*skip_known(parts, ["tulips"])] == ["Roses", "Lilies"]
