"""The user's synonyms: their file, queries with them, and what the answer says about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.result_printing import print_results
from gossamer.config import Config, SearchConfig
from gossamer.errors import ConfigError
from gossamer.index.format.analysis import OTHER, analyzer_for, index_language_of
from gossamer.search import synonyms as synonyms_module
from gossamer.search.messages import Question
from gossamer.search.query import And, Not, Or, Words, parse
from gossamer.search.query_cost import affordable, first_terms, query_terms
from gossamer.search.searcher import Searcher
from gossamer.search.synonyms import (
    MAX_ALTERNATIVES,
    MAX_EXPANDED,
    MAX_LINES,
    MAX_WORDS,
    Rule,
    Synonyms,
    read_synonyms,
)
from gossamer.state.workspace import Workspace
from tests.support.search_server import dom, one, serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

FILE = """
# What people call things.
car = automobile = motor car
k8s, kube => kubernetes     # not the other way round
random access memory => ram
[de] Handy = Mobiltelefon
C# = csharp
"""
SHELF = {
    "automobile": ("The automobile", "An automobile has four wheels.", "en"),
    "motor": ("Engines", "A motor car has an engine.", "en"),
    "car": ("Cars", "Cars have wheels, and a car is fast.", "en"),
    "cluster": ("Kubernetes", "Containers run on kubernetes.", "en"),
    "k8s": ("Notes", "k8s is short.", "en"),
    "ram": ("Computers", "A computer with much RAM.", "en"),
    "phone": ("Mobiltelefone", "Ein Mobiltelefon ist klein.", "de"),
    "handy": ("Handy", "A handy mobiltelefon is a tool.", "en"),
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("crawl")
    made = crawl(folder)
    pages: list[dict[str, Any]] = [
        {"url": f"http://a.example/{name}", "title": title, "text": text, "language": language}
        for name, (title, text, language) in SHELF.items()
    ]
    put_index(made, pages)
    (folder / "words.txt").write_text(FILE, "utf-8")
    config = msgspec.structs.replace(Config(), search=SearchConfig(synonyms="words.txt"))
    return Workspace(made.store, config)


@pytest.fixture(scope="module")
def searcher(work: Workspace) -> Searcher:
    return Searcher.open(work)


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("car", "car automobile motor"),
        ("CARS", "car automobile motor"),
        ("automobile", "automobile car motor"),
        ("motor car", "motor car automobile"),
        ("car wheels", "car automobile"),
        ("wheels cars", "car automobile"),
        ("k8s", "k8s cluster"),
        ("kube", "cluster"),
        ("kubernetes", "cluster"),
        ("random access memory", "ram"),
        ("computer random access memory", "ram"),
        ("wheels AND car", "car automobile"),
        ("engine OR kube", "motor cluster"),
        ("car -engine", "car automobile"),
        ("wheels -car", "automobile"),
        ('"car"', "car motor"),
        ("+car wheels", "car"),
    ],
)
def test_pages_may_have_a_synonym_instead(searcher: Searcher, query: str, names: str) -> None:
    hits = searcher.search(query).hits
    found = [hit.url.rpartition("/")[2] for hit in hits if not hit.partial]
    assert {*found} == {*names.split()}
    if query in ("automobile", "k8s"):
        assert found[0] == names.split(maxsplit=1)[0], "what was typed counts more"


def test_a_rule_of_a_language_holds_there(searcher: Searcher) -> None:
    assert {hit.language for hit in searcher.search("Handy").hits} == {"de", "en"}
    assert searcher.search("Handy").synonyms == ["Mobiltelefon"]


def test_the_answer_names_the_synonyms(
    searcher: Searcher, capsys: pytest.CaptureFixture[str]
) -> None:
    found = searcher.search("cars kubernetes")
    assert found.synonyms == ["automobile", "motor car"]
    print_results(found)
    printed = capsys.readouterr().out
    assert "Also searched: automobile, motor car. --verbatim searches only" in printed
    verbatim = searcher.search("car", verbatim=True)
    assert (verbatim.synonyms, verbatim.whole) == ([], 2)
    assert "<b>automobile</b>" in "".join(hit.snippet for hit in searcher.search("car").hits)


def test_an_explanation_shows_the_synonyms(searcher: Searcher) -> None:
    explained = {
        hit.url.rpartition("/")[2]: str(hit.explanation)
        for hit in searcher.search("car", explain=True).hits
    }
    assert "automobil" in explained["automobile"]


def test_the_page_links_to_a_search_without_them(client: httpx.Client) -> None:
    page = dom(client, "/search", q="car")
    hint = one(page, ".hint")
    assert "Also searched: automobile, motor car." in " ".join(hint.text().split())
    assert len(page.css(".hits li")) == 3
    without = client.get(one(hint, "a").attributes["href"] or "")
    assert "Also searched" not in without.text
    assert client.get("/api/v1/search", params={"q": "k8s"}).json()["synonyms"] == ["kubernetes"]


def test_a_server_reads_the_file_again(
    work: Workspace, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synonyms_module, "CHECK_S", 0)
    path = Path(work.root, "words.txt")

    def replace_file(text: str) -> None:
        path.with_suffix(".new").write_text(text, "utf-8")
        path.with_suffix(".new").replace(path)

    def asked() -> list[str]:
        found: list[str] = client.get("/api/v1/search", params={"q": "k8s"}).json()["synonyms"]
        return found

    try:
        assert asked() == ["kubernetes"]
        replace_file("k8s = containers")
        assert asked() == ["containers"]
        replace_file("nonsense")
        assert asked() == ["containers"]
        path.unlink()
        assert asked() == ["containers"]
    finally:
        path.write_text(FILE, "utf-8")
    assert asked() == ["kubernetes"]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("car = automobile\nnonsense", 2, "'nonsense' has neither = nor =>"),
        ("car =", 1, "one side is empty"),
        ("= car", 1, "one side is empty"),
        ("a => b => c", 1, "has more than one =>"),
        ("car = !!!", 1, "'!!!' has no word"),
        ("car = " + "word " * 7, 1, "has more than 6 words"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        read_synonyms(path)
    assert str(refused.value.subject) == f"{path}, line {line}"
    assert what in str(refused.value)
    assert "car = automobile" in (refused.value.remedy or "")


def test_a_file_that_is_missing_or_too_long_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_synonyms(tmp_path / "none.txt")
    path = tmp_path / "many.txt"
    path.write_text("a = b\n" * (MAX_LINES + 1), "utf-8")
    with pytest.raises(ConfigError, match="more than 50,000 lines"):
        read_synonyms(path)


def test_rules_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\ufeffa = b c #x\n\n# y\n[de] d, e => f, d # z\nC# = csharp\n", "utf-8")
    assert read_synonyms(path) == (
        Rule("a", ("b c",)),
        Rule("b c", ("a",)),
        Rule("d", ("f",), "de"),
        Rule("e", ("f", "d"), "de"),
        Rule("C#", ("csharp",)),
        Rule("csharp", ("C#",)),
    )


@given(st.text(st.sampled_from("ab =>#,[de]\n")) | st.text())
def test_any_file_has_rules_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(text.encode("utf-8", "replace"))
    try:
        rules = read_synonyms(path)
    except ConfigError:
        return
    assert all(rule.typed not in rule.others for rule in rules)


def test_trees_with_synonyms(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("car = automobile\nbig apple => new york\n", "utf-8")
    known = Synonyms(path)
    car = Words("cars", also=("automobile",))
    apple = Words("Big Apple", also=("new york",))

    def expanded(text: str) -> object:
        return known.expand(parse(text), ["en"])

    assert expanded("cars") == car
    assert expanded("the Big Apple cars") == And((Words("the"), apple, car))
    assert expanded("cars OR bus") == Or((car, Words("bus")))
    assert expanded("bus -cars") == And((Words("bus"), Not(Words("cars"), unless="-cars")))
    assert expanded('"cars"') == Words("cars", exact=True)
    assert expanded("big site:a.org apple") == parse("big site:a.org apple")
    assert known.expand(parse("cars"), []) == Words("cars"), "no language in which they are stemmed"


def test_a_rule_of_a_language_holds_in_the_index_that_has_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("[ja] 車 = 自動車\n[hr] auto = vozilo\n[de] Auto = Wagen\n", "utf-8")
    known = Synonyms(path)
    assert (index_language_of("ja"), index_language_of("hr")) == (OTHER, "sr")
    assert known.expand(parse("車"), []) == Words("車", also=("自動車",))
    assert known.expand(parse("auto"), ["sr"]) == Words("auto", also=("vozilo",))
    assert known.expand(parse("auto"), ["de"]) == Words("auto", also=("Wagen",))
    assert known.expand(parse("auto"), ["en"]) == Words("auto")


def test_what_synonyms_cost_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    lines = [
        f"w{n} => " + ", ".join(f"{'x ' * MAX_WORDS}".strip() + f"{n}{m}" for m in range(20))
        for n in range(40)
    ]
    path.write_text(
        "\n".join(line.replace("x x x x x x", "x y z u v q") for line in lines), "utf-8"
    )
    tree = Synonyms(path).expand(parse(" ".join(f"w{n}" for n in range(40))), ["en"])
    assert isinstance(tree, And)
    also = [part.also for part in tree.parts if isinstance(part, Words)]
    assert max(map(len, also)) == MAX_ALTERNATIVES
    assert sum(map(len, also)) == MAX_EXPANDED
    assert query_terms(tree) > 40 + MAX_EXPANDED
    assert query_terms(first_terms(parse(" OR ".join(f"w{n}" for n in range(40))))) == 40

    class Often:
        documents, deleted = 1_000_000, 0

        def pages(self, _: str, __: str) -> int:
            return 500_000

        pages_for_weight = pages

    kept = affordable(tree, analyzer_for("en"), Often())
    assert query_terms(kept) < query_terms(tree)


def test_a_question_names_the_version_that_the_server_has_seen(work: Workspace) -> None:
    searcher = Searcher.open(work)
    assert searcher.answer(Question("k8s", synonyms=1)).synonyms == ["kubernetes"]
