"""The pages that mean nearly the same as a text, by the passages that are most similar to it.

A search process opens the vectors of its shards beside the index. Which of their pages the index
still holds, and which of them pass the filters of a query, is decided there (`search/node.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.semantic.models import load_model
from gossamer.semantic.quantizing import Vectors, quantize
from gossamer.semantic.scanning import nearest
from gossamer.semantic.segments import is_member, open_segment
from gossamer.semantic.vector_parts import group_by_part
from gossamer.storage import local_copies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Self

    from gossamer.config import SemanticConfig
    from gossamer.semantic.models import Model
    from gossamer.semantic.segments import Segment
    from gossamer.storage.store import File

    Stack = Sequence[Segment]

MAX_TEXTS = 400
"""The most similar texts of a part, whose owners are found."""


class Meanings:
    """The vectors of some shards, and the model that made them."""

    @classmethod
    def open(
        cls, config: SemanticConfig, root: str, files: Iterable[File], shards: Collection[int] = ()
    ) -> Self | None:
        """The vectors in files of `vectors`, or of these shards; None if there are none.

        Vectors of another model than that of the settings are not used. Raises ConfigError,
        StoreError and MissingFile.
        """
        model = load_model(config)
        parts = group_by_part(files, model.digest)
        stacks: dict[str, list[Stack]] = {}
        for (shard, language), held in parts.items():
            if not shards or shard in shards:
                paths = [(f"{root}/{file.path}", file.xxh3) for file in held]
                stack = [open_segment(local_copies.local_copy(*each), each[0]) for each in paths]
                stacks.setdefault(language, []).append(stack)
        if not stacks:
            return None
        model.encode_query("")  # so that no search has to load it
        return cls(model, stacks)

    def __init__(self, model: Model, stacks: Mapping[str, Sequence[Stack]]) -> None:
        """`stacks`: by language, the segments of each shard, oldest first."""
        self._model = model
        self._stacks = stacks

    def vector_of_text(self, text: str) -> Vectors:
        return self._model.encode_query(text)

    def vector_of_page(self, page: int) -> Vectors | None:
        """The mean of the vectors of a page, by its key; None if it has none here."""
        _, rows = self._rows_of(page)
        if rows is None:
            return None
        mean = (rows.numbers * rows.scales[:, None]).mean(axis=0, keepdims=True)
        return quantize(mean.astype(np.float32))

    def similarity(self, page: int, query: Vectors) -> tuple[float, str]:
        """That of the most similar passage of a page, by its key, and the language of the page.

        0 and "" if it has no vectors here.
        """
        language, rows = self._rows_of(page)
        if rows is None:
            return 0.0, ""
        products = rows.numbers.astype(np.int64) @ query.numbers[0].astype(np.int64)
        return float((products * rows.scales).max() * query.scales[0]), language

    def _rows_of(self, page: int) -> tuple[str, Vectors | None]:
        """The language of a page, and its vectors."""
        held = ((language, stack) for language in self._stacks for stack in self._stacks[language])
        for language, stack in held:
            for segment in reversed(stack):
                places = segment.places_of(page)
                if len(places):
                    numbers, scales, signs = segment.vectors
                    return language, Vectors(numbers[places], scales[places], signs[places])
                if is_member(np.array([page]), segment.covered)[0]:
                    break
        return "", None

    def nearest_pages(self, language: str, query: Vectors, most: int) -> dict[int, float]:
        """The keys of the `most` pages in a language with the most similar passages.

        With their similarities, the cosines of the best passages, in descending order.
        """
        found: dict[int, float] = {}
        for stack in self._stacks.get(language, ()):
            for number, segment in enumerate(stack):
                newer = stack[number + 1 :]
                for page, similarity in self._nearest_in(segment, newer, query):
                    found[page] = max(similarity, found.get(page, 0.0))
        best = sorted(found.items(), key=lambda each: (-each[1], each[0]))
        return dict(best[:most])

    def _nearest_in(
        self, segment: Segment, newer: Stack, query: Vectors
    ) -> Iterable[tuple[int, float]]:
        vectors = segment.vectors
        places, products = nearest(vectors.signs, vectors.numbers, query.signs[0], query.numbers[0])
        similarities = products * vectors.scales[places] * query.scales[0]
        order = np.argsort(-similarities, kind="stable")[:MAX_TEXTS]
        for place, similarity in zip(places[order], similarities[order], strict=True):
            if similarity < self._model.least_similarity:
                break
            owners = segment.owners_of(int(place))
            for each in newer:
                owners = owners[~is_member(owners, each.covered)]
            for page in owners:
                yield int(page), float(similarity)
