"""What follows from draws of which none was otherwise?"""

from __future__ import annotations

CONFIDENCE = 0.95


def largest_share(draws: int) -> float:
    """The largest share of others among things of which none was drawn, with CONFIDENCE.

    The bound of Clopper and Pearson (Biometrika 26, 1934) for no success: (1 - p)^n = 0.05. It is
    a little below 3/n, which is the rule of three.
    """
    return 1 - (1 - CONFIDENCE) ** (1 / draws) if draws else 1.0
