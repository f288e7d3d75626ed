"""The dataset of filter rules: see gossamer.filter_rules."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

FILTER_RULES = Dataset(
    "filter_rules",
    "the filter rules of `gossamer filters add`, which come after those of the settings and files",
    key=("rule",),
    writer="filters",
    readers=("fetch", "parse", "filters"),
    newest_wins=False,
    columns=(
        Column("rule", "string", "action, kind and value: see docs/operating.md, Filter rules"),
        Column("position", "long", "rules are tried in ascending order"),
        Column("source", "string", "who made it: owner"),
        Column("enabled", "boolean", "false: it is kept, but does not apply"),
        Column("created_ms", "long", "when it was added"),
    ),
)
