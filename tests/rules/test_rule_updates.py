"""Which rules rewrite URLs, of more than there are places for: url_rules/rule_updates.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.rules.url_rules import rule_updates
from gossamer.storage import parquet
from tests.support.rows import put
from tests.support.url_rule_rows import url_rule

if TYPE_CHECKING:
    import pytest

    from gossamer.state.workspace import Workspace


def test_a_host_with_many_rules_leaves_others_a_place(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: it proves more about its parameters than others do. Before, they had no rule left."""
    monkeypatch.setattr(rule_updates, "MAX_RULES", 3)
    many = [url_rule(f"e{n}", "0.evil", "", f"p{n}", "active", supports=900) for n in range(5)]
    put(work, "url_rules", [*many, url_rule("own", "a.example", "", "s", "active", supports=30)])
    (path,) = rule_updates.write_active_rules(work)
    hosts = parquet.read_table(path, columns=["host"]).column("host").to_pylist()
    assert sorted(hosts) == ["0.evil", "0.evil", "a.example"]
