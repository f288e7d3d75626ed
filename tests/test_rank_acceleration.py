"""Anderson acceleration, beside a solution of the linear system."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.rank.acceleration import KEPT, Weights


def accelerated(matrix: np.ndarray, given: np.ndarray, iterations: int) -> np.ndarray:
    """The image of x ← matrix·x + given after some iterations from 0, without looking at errors."""
    weights = Weights()
    images = [np.zeros(given.size)] * KEPT
    changes = [np.zeros(given.size)] * KEPT
    for _ in range(iterations):
        now = sum(weight * image for weight, image in zip(weights.now, images, strict=True))
        image = matrix @ now + given
        images = [image, *images[:-1]]
        changes = [image - now, *changes[:-1]]
        weights.learn([float(changes[0] @ change) for change in changes])
    return images[0]


def test_two_differences_solve_a_system_of_two_unknowns() -> None:
    matrix, given = np.array([[0.9, 0.1], [-0.3, 0.5]]), np.array([1.0, 2.0])
    solved = np.linalg.solve(np.eye(2) - matrix, given)
    assert accelerated(matrix, given, 4) == pytest.approx(solved, rel=1e-9)
    plain = given
    for _ in range(3):
        plain = matrix @ plain + given
    assert plain != pytest.approx(solved, rel=1e-2)


def test_weights_sum_to_one_and_return_to_the_best_image() -> None:
    weights = Weights()
    assert weights.are_plain
    weights.learn([4.0, 0.0, 0.0])
    assert weights.are_plain
    assert weights.now.tolist() == [1, 0, 0]
    weights.learn([2.0, 1.0, 0.0])
    assert not weights.are_plain
    assert weights.now == pytest.approx([0.75, 0.25, 0])
    assert weights.best == 0
    weights.forget()
    assert weights.are_plain
    assert (weights.best, weights.now.tolist()) == (1, [0, 1, 0])
