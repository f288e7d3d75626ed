from __future__ import annotations

import hmac
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from gossamer.errors import ConfigError
from gossamer.serve.mcp import tokens as tokens_module
from gossamer.serve.mcp.tokens import Rates, Tokens, hash_of, new_token, parse_tokens

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_token_is_accepted_by_its_line(tmp_path: Path) -> None:
    made, other = new_token("reader"), new_token("writer")
    file = tmp_path / "tokens"
    file.write_text(f"# for the assistant\n{made.line}\n\n{other.line} # two\n", encoding="utf-8")
    tokens = Tokens(file)
    assert tokens.name_of(f"Bearer {made.token}") == "reader"
    assert tokens.name_of(f"bearer  {other.token} ") == "writer"
    assert made.token not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer x", "Basic {}", "{}", "Bearer {}x"]
)
def test_everything_else_is_refused(tmp_path: Path, header: str | None) -> None:
    made = new_token("reader")
    file = tmp_path / "tokens"
    file.write_text(made.line, encoding="utf-8")
    assert Tokens(file).name_of(header and header.format(made.token)) is None


@pytest.mark.parametrize("sent", ["", "x", "{}", "{}x", "x{}", "x" * 100_000, "é\udcff"])
@pytest.mark.parametrize("kind", ["Bearer", "Basic", ""])
def test_every_request_costs_the_same_comparisons_of_whole_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: str, kind: str
) -> None:
    """Whether the first token fits, the last one or none, and whatever is sent as one."""
    made = [new_token(f"reader{number}") for number in range(3)]
    file = tmp_path / "tokens"
    file.write_text("\n".join(each.line for each in made), encoding="utf-8")
    tokens = Tokens(file)
    compared: list[tuple[str, str]] = []

    def compare(known: str, given: str) -> bool:
        compared.append((known, given))
        return hmac.compare_digest(known, given)

    monkeypatch.setattr(tokens_module, "hmac", SimpleNamespace(compare_digest=compare))
    for each in made:
        compared.clear()
        found = tokens.name_of(f"{kind} {sent}".format(each.token))
        assert (found is not None) is (kind == "Bearer" and sent == "{}")
        assert [known for known, _ in compared] == [hash_of(one.token) for one in made]
        (digest,) = {given for _, given in compared}
        assert len(digest) == len(hash_of(""))


def test_a_hash_is_no_token(tmp_path: Path) -> None:
    made = new_token("reader")
    file = tmp_path / "tokens"
    file.write_text(made.line, encoding="utf-8")
    assert Tokens(file).name_of(f"Bearer {hash_of(made.token)}") is None


def test_a_token_is_revoked_without_a_restart(tmp_path: Path) -> None:
    made = new_token("reader")
    file = tmp_path / "tokens"
    file.write_text(made.line, encoding="utf-8")
    tokens = Tokens(file)
    file.write_text("# none\n", encoding="utf-8")
    os.utime(file, (1, 1))
    assert tokens.name_of(f"Bearer {made.token}") is None


@pytest.mark.parametrize("line", ["reader", "reader x", f"two words {'0' * 64}", f"a {'G' * 64}"])
def test_invalid_lines_are_named(line: str) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        parse_tokens(["# tokens", line], "tokens")


def test_a_missing_file_and_an_invalid_name_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="tokens"):
        Tokens(tmp_path / "tokens")
    with pytest.raises(ConfigError, match="no name"):
        new_token("two words")


def test_a_token_may_be_used_a_number_of_times_per_minute() -> None:
    now = 100.0
    rates = Rates(60, 3, lambda: now)
    assert [rates.wait_s("a") for _ in range(3)] == [0, 0, 0]
    assert rates.wait_s("a") == pytest.approx(1)
    assert rates.wait_s("b") == 0
    now += 1
    assert rates.wait_s("a") == 0
    assert rates.wait_s("a") > 0
    now += 60
    assert [rates.wait_s("a") for _ in range(3)] == [0, 0, 0]
    assert rates.wait_s("a") > 0
