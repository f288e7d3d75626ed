"""A model of meaning for tests: words of four languages, of which some mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

from gossamer.semantic import models
from gossamer.semantic.models import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest
    from numpy import typing as npt

    from gossamer.engine.engine import Engine, Task

CONCEPTS = {
    word: concept
    for concept, words in enumerate(
        (
            ("cat", "katze", "chat", "猫"),
            ("dog", "hund", "chien"),
            ("tree", "baum", "arbre", "木"),
            ("house", "haus", "maison"),
            ("bridge", "brücke", "pont"),
        )
    )
    for word in words
}


class ConceptEncoder:
    """A text is the sum of its words' concepts. Other words are concepts of their own."""

    dimension = 1000
    least_similarity = 0.3

    def __init__(self, name: str = "concepts") -> None:
        self.name = name
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], *, are_queries: bool = False) -> npt.NDArray[np.float32]:
        if not are_queries:
            self.texts += texts
        rows = [sum(map(self._concept, text.lower().split())) for text in texts]
        return np.array([np.zeros(self.dimension) + row for row in rows], np.float32)

    def _concept(self, word: str) -> npt.NDArray[np.float64]:
        seed = CONCEPTS.get(word, xxhash.xxh32_intdigest(word.encode()))
        return np.random.default_rng(seed).normal(size=self.dimension)


def install(patch: pytest.MonkeyPatch, encoder: ConceptEncoder) -> None:
    """Make an encoder the only model, for tasks in this process."""
    load_model.cache_clear()
    patch.setattr(models, "_factory", lambda _: lambda: encoder)


def run_tasks_here(patch: pytest.MonkeyPatch, engine: Engine) -> None:
    """Let tasks run in this process, which has the encoder of a test."""

    def map_tasks(
        tasks: Sequence[Task], fn: object, *_: object, **__: object
    ) -> list[dict[str, object]]:
        assert callable(fn)
        return [row for task in tasks for row in fn(task)]

    patch.setattr(engine, "map_tasks", map_tasks)


def forget() -> Iterator[None]:
    yield
    load_model.cache_clear()
