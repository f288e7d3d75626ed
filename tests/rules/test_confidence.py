"""How large a share of others may there be if none was drawn?"""

from __future__ import annotations

import pytest

from gossamer.rules.confidence import largest_share
from gossamer.rules.filter_rules.stored_rules import Evidence


@pytest.mark.parametrize("draws", [1, 20, 50, 428])
def test_with_that_share_the_draws_have_a_chance_of_one_in_twenty(draws: int) -> None:
    share = largest_share(draws)
    assert (1 - share) ** draws == pytest.approx(0.05)
    assert share < 3 / draws


def test_without_draws_all_may_be_others() -> None:
    assert largest_share(0) == 1.0


def test_drawn_pages_add_to_the_proof_of_a_generated_rule() -> None:
    proof = Evidence(pages=900, asked=50, domain_fit=20, reached=20, drawn=50).proof()
    assert proof["most_fit"] == round(largest_share(100), 4) == 0.0295
