"""`gossamer duplicates rules`, `test`, `disable` and `enable`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from tests.support.command_line import gossamer
from tests.support.rows import by_url, put
from tests.support.url_rule_rows import url_rule

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.usefixtures("shared_engine")
HOST = "a.example"
ALIAS = f"http://{HOST}/d/1?sid=1"
ACTIVE, LEARNING = "00000000000000aa", "00000000000000bb"
HOSTILE = f"http://{HOST}/e/\x1b[2J"
EXAMPLES = [f"{ALIAS[:-1]}2", ALIAS]


@pytest.fixture
def crawl(work: Workspace) -> str:
    numbers = {"supports": 1_234, "rewritten": 5, "sampled": 1}
    put(
        work,
        "url_rules",
        [
            url_rule(ACTIVE, HOST, "/d/", "sid", "active", examples=EXAMPLES, **numbers),
            url_rule(
                *(LEARNING, HOST, "/e/", "v", "learning"),
                examples=EXAMPLES,
                counterexamples=[HOSTILE, ALIAS],
            ),
        ],
        1,
    )
    alias = {"url": ALIAS, "target": ALIAS[:-6], "rules": [ACTIVE], "active": True}
    put(work, "aliases", [alias | {"fetched": False, "depth": 1, "hops": 0}], 1)
    put(work, "pages", [{"url": ALIAS, "host": HOST, "status": "alias"}], 1)
    return work.root


def test_rules_are_listed_with_their_evidence(crawl: str) -> None:
    bound = " (at most 0.2% do, with 95 % confidence)"
    assert gossamer("duplicates", "rules", crawl).stdout.splitlines() == [
        f"{ACTIVE}  active        {HOST}/d/: without the parameter sid",
        f"    1,234 agree, 0 differ{bound}, in rounds 1 to 2; 5 URLs rewritten, 1 of them sampled",
        f"    {ALIAS[:-1]}2",
        f"  = {ALIAS}",
        f"{LEARNING}  learning      {HOST}/e/: without the parameter v",
        "    0 agree, 0 differ, in rounds 1 to 2; 0 URLs rewritten, 0 of them sampled",
        f"    {ALIAS[:-1]}2",
        f"  = {ALIAS}",
        f"    http://{HOST}/e/\ufffd[2J",
        f"  ≠ {ALIAS}",
    ]
    limited = gossamer("duplicates", "rules", crawl, HOST, "--limit", "1")
    assert LEARNING not in limited.stdout
    assert limited.stderr == "and 1 more: --limit\n"
    assert gossamer("duplicates", "rules", crawl, "b.example").stdout == ""


def test_rules_as_json(crawl: str) -> None:
    found = json.loads(gossamer("duplicates", "rules", crawl, "--limit", "1", "--json").stdout)
    assert found["total"] == 2
    (only,) = found["rules"]
    assert (only["rule"], only["state"], only["supports"]) == (ACTIVE, "active", 1_234)
    assert only["title"] == f"{HOST}/d/: without the parameter sid"


def test_what_a_url_becomes(crawl: str) -> None:
    asked = ("duplicates", "test", crawl, f"HTTP://{HOST}/d/7?sid=3&x=4")
    becomes = f"http://{HOST}/d/7?x=4"
    title = f"{HOST}/d/: without the parameter sid"
    assert gossamer(*asked).stdout.splitlines() == [becomes, f"  {ACTIVE}  {title}"]
    found = json.loads(gossamer(*asked, "--json").stdout)
    assert (found["target"], found["rules"]) == (becomes, [ACTIVE])
    other = f"http://{HOST}/e/7?v=3"
    assert gossamer("duplicates", "test", crawl, other).stdout == f"{other}\n"
    assert "is not a URL" in gossamer("duplicates", "test", crawl, "mailto:x", code=1).stderr


def test_a_disabled_rule_gives_its_urls_back(crawl: str, engine: Engine) -> None:
    def status() -> str:
        found: str = by_url(Crawl.open(crawl, engine).pages())[ALIAS]["status"]
        return found

    done = json.loads(gossamer("duplicates", "disable", crawl, ACTIVE, "--json").stdout)
    assert done["counts"]["pages"] == 1
    assert status() == "unfetched"
    assert "disabled" in gossamer("duplicates", "rules", crawl).stdout
    gossamer("duplicates", "enable", crawl, ACTIVE)
    assert status() == "alias"
    unknown = gossamer("duplicates", "enable", crawl, "nothing", code=1).stderr
    assert f"gossamer duplicates rules {crawl}" in unknown
