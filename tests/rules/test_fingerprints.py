"""Fingerprints of pages, which say whether two have the same contents."""

from __future__ import annotations

import numpy as np

from gossamer.rules.url_rules import fingerprints


def test_fingerprints_of_similar_texts_agree() -> None:
    chance = np.random.default_rng(7)
    sketch = chance.integers(0, 2**32, 112, np.uint32)
    near, far = sketch.copy(), sketch.copy()
    near[:3], far[:20] = 1, 1
    prints = [fingerprints.fingerprint(1, each.tobytes(), None) for each in (sketch, near, far)]
    known = [each for each in prints if each is not None]
    assert fingerprints.distinct_contents(known, 9) == [known[0], known[2]]
    others = [fingerprints.fingerprint(None, None, text) for text in ("a", "b")]
    assert None not in others
    assert others[0] != others[1]
    assert fingerprints.fingerprint(None, None, None) is None
