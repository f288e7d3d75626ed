"""Filter rules in the store, and their order among those of settings and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from gossamer.config import Config, FilterConfig
from gossamer.errors import ConfigError, UsageError
from gossamer.rules.filter_rules import crawl_rules, stored_rules
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.filter_rules.stored_rules import Evidence
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gossamer.rules.filter_rules.stored_rules import StoredRule
    from gossamer.storage.store import Layer

NOW_MS = 1_795_000_000_000
OWN, TAGS, LOGS = (f"deny prefix http://a.org/{name}/" for name in ("own", "tags", "logs"))
ASKED = Evidence(pages=900, asked=300, domain_fit=60, reached=200)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """Without an engine."""
    config = Config(filter=FilterConfig(scope="any"))
    return Workspace(Store.create(LocalBackend(tmp_path)), config, NOW_MS)


def add(work: Workspace, *rules: str) -> dict[str, int]:
    return dict(stored_rules.add_rules(work, [(rule, "here") for rule in rules]).counts)


def stored(work: Workspace) -> dict[str, StoredRule]:
    return {each.rule: each for each in stored_rules.read_rules(work)}


def commit(work: Workspace, layers: Mapping[str, tuple[Layer, ...]]) -> None:
    with work.step("filter", 0) as draft:
        draft.replace |= layers


def generate(work: Workspace, made: Mapping[str, Evidence]) -> dict[str, int]:
    counts: dict[str, int] = {}
    commit(work, stored_rules.replace_generated(work, made, counts))
    return counts


def test_rules_are_added_once_after_those_that_there_are(work: Workspace) -> None:
    assert stored(work) == {}
    assert add(work, TAGS, f"{OWN}  # ours", "", TAGS) == {"added": 2, "known": 0}
    assert add(work, LOGS, OWN) == {"added": 1, "known": 1}
    found = stored(work)
    assert [*found] == [TAGS, OWN, LOGS]
    assert [each.position for each in found.values()] == [1, 2, 3]
    assert {each.created_ms for each in found.values()} == {NOW_MS}
    assert all(each.enabled and each.source == "owner" for each in found.values())
    assert all(each.evidence is None for each in found.values())


def test_rules_are_removed_and_the_last_place_is_given_again(work: Workspace) -> None:
    add(work, TAGS, OWN, LOGS)
    assert stored_rules.remove_rules(work, [(OWN, "a"), (LOGS, "b")]).counts == {"removed": 2}
    add(work, LOGS)
    assert [(rule, each.position) for rule, each in stored(work).items()] == [(TAGS, 1), (LOGS, 2)]
    with pytest.raises(UsageError, match=LOGS.replace("logs", "none")):
        stored_rules.remove_rules(work, [(TAGS, "a"), (LOGS.replace("logs", "none"), "b")])
    assert TAGS in stored(work), "none is removed if one is not there"


def test_a_disabled_rule_stays_and_is_not_in_force(work: Workspace) -> None:
    add(work, TAGS, OWN)
    assert stored_rules.enable_rule(work, TAGS, enabled=False).counts == {"disabled": 1}
    assert add(work, TAGS) == {"added": 0, "known": 1}
    assert [each.enabled for each in stored(work).values()] == [False, True]
    assert [each.rule.text for each in crawl_rules.rules_in_force(work).placed] == [OWN]
    assert stored_rules.enable_rule(work, TAGS, enabled=True).counts == {"enabled": 1}
    assert [each.rule.text for each in crawl_rules.rules_in_force(work).placed] == [TAGS, OWN]


def test_generated_rules_replace_those_of_before_but_not_the_owner_s(work: Workspace) -> None:
    add(work, OWN)
    assert generate(work, {TAGS: ASKED, LOGS: ASKED, OWN: ASKED}) == {"added": 2, "known": 1}
    assert stored(work)[OWN].source == "owner"
    assert stored(work)[TAGS].evidence == ASKED
    more = ASKED._replace(asked=301)
    assert generate(work, {TAGS: more}) == {"dropped": 1, "added": 0, "known": 1}
    assert [*stored(work)] == [OWN, TAGS]
    assert stored(work)[TAGS].evidence == more
    stored_rules.enable_rule(work, TAGS, enabled=False)
    assert generate(work, {}) == {"added": 0, "known": 0}, "what the owner disabled is not dropped"
    assert generate(work, {TAGS: ASKED}) == {"added": 0, "known": 1}
    assert not stored(work)[TAGS].enabled
    assert add(work, TAGS) == {"added": 0, "known": 1}
    assert stored(work)[TAGS].source == "owner"


def test_evidence_grows_and_rules_of_fallen_sections_go(work: Workspace) -> None:
    add(work, OWN)
    generate(work, {TAGS: ASKED, LOGS: ASKED})
    assert stored_rules.write_followed(work, (), {}, {}) == {}
    assert stored(work)[TAGS].section == "a.org/tags/"
    drawn = {TAGS: 3, OWN: 9}
    commit(work, stored_rules.write_followed(work, {"a.org/logs/"}, {"a.org/tags/": 7}, drawn))
    found = stored(work)
    assert [*found] == [OWN, TAGS]
    assert (found[OWN].drawn, found[OWN].sampled_ms) == (None, None)
    assert (found[TAGS].drawn, found[TAGS].sampled_ms) == (3, 7)
    commit(work, stored_rules.write_followed(work, (), {}, {TAGS: 4}))
    assert (stored(work)[TAGS].drawn, stored(work)[TAGS].sampled_ms) == (7, 7)
    evidence = stored(work)[TAGS].evidence
    assert evidence == ASKED._replace(drawn=7)
    assert evidence.most_fit < ASKED.most_fit
    stored_rules.enable_rule(work, TAGS, enabled=False)
    commit(work, stored_rules.write_followed(work, {"a.org/tags/"}, {}, {TAGS: 1}))
    assert stored(work)[TAGS].drawn == 7, "a disabled rule is the owner's"


def configured(work: Workspace, *rules: str, files: tuple[str, ...] = ()) -> None:
    config = FilterConfig(rules=rules, files=files, scope="any")
    work.config = structs.replace(work.config, filter=config)


def test_rules_of_settings_come_first_then_those_of_files_then_the_store(
    work: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text(f"# ours\n\n{TAGS}\n")
    (tmp_path / "two.txt").write_text("\ufeffallow domain b.org\n")
    add(work, LOGS)
    generate(work, {OWN: ASKED})
    configured(work, "deny suffix .ics", files=("two.txt", "one.txt"))
    listed = crawl_rules.list_rules(work)
    assert [(each.rule.text, each.place, each.source) for each in listed] == [
        ("deny suffix .ics", "filter.rules, rule 1", "settings"),
        ("allow domain b.org", "two.txt, line 1", "file"),
        (TAGS, "one.txt, line 3", "file"),
        (LOGS, "the store", "owner"),
        (OWN, "the store", "generated"),
    ]
    in_force = crawl_rules.rules_in_force(work)
    assert [each.rule for each in in_force.placed] == [each.rule for each in listed]
    without = crawl_rules.rules_in_force(work, generated=())
    assert [each.rule for each in without.placed] == [each.rule for each in listed[:-1]]
    assert crawl_rules.rules_in_force(work, generated={OWN}).digest == in_force.digest
    assert without.digest != in_force.digest
    configured(work, "deny suffix .ics", files=("one.txt", "two.txt"))
    assert crawl_rules.rules_in_force(work).digest != in_force.digest, "the order counts"


def test_rules_have_an_end(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_rules, "MAX_RULES", 2)
    configured(work, OWN)
    add(work, TAGS)
    assert len(crawl_rules.list_rules(work)) == 2
    add(work, LOGS)
    with pytest.raises(ConfigError, match="3 rules, more than 2"):
        crawl_rules.list_rules(work)


def test_tasks_get_a_file_of_the_rules_in_force(work: Workspace) -> None:
    assert crawl_rules.write_rule_file(work) is None
    assert crawl_rules.filter_recipe(work).rules is None
    configured(work, "deny type image/", OWN)
    file = crawl_rules.write_rule_file(work)
    assert file is not None
    assert (file.has_types, file.has_languages) == (True, False)
    assert index_of(file).first("http://a.org/own/x") == 1
    assert file == crawl_rules.write_rule_file(work), "equal rules in another file"
    recipe = crawl_rules.filter_recipe(work)
    assert (recipe.rules, recipe.seed_hosts, recipe.year) == (file, (), 2026)


def test_a_stamp_differs_if_anything_has_changed(work: Workspace, tmp_path: Path) -> None:
    configured(work, OWN, files=("a.txt",))
    stamps = [crawl_rules.rules_stamp(work)]
    assert stamps[0][1] is None, "there is no such file"
    (tmp_path / "a.txt").write_text(TAGS)
    stamps.append(crawl_rules.rules_stamp(work))
    (tmp_path / "a.txt").write_text(f"{TAGS}\n")
    stamps.append(crawl_rules.rules_stamp(work))
    add(work, LOGS)
    stamps.append(crawl_rules.rules_stamp(work))
    configured(work, TAGS, files=("a.txt",))
    stamps.append(crawl_rules.rules_stamp(work))
    assert len(set(map(repr, stamps))) == len(stamps)
    assert crawl_rules.rules_stamp(work) == stamps[-1]
