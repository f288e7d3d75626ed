"""Queries as programmers and other people type them, over one index of a small shelf of manuals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.index.format.analysis import analyzer_for
from gossamer.search.messages import Question
from gossamer.search.node import Node
from gossamer.search.searcher import Searcher
from gossamer.search.statistics import SummedStatistics
from gossamer.search.typed_forms import typed_words
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

FILLER = " ".join(f"about{number}" for number in range(30))


def page(name: str, text: str, title: str = "", language: str = "en") -> dict[str, Any]:
    return {
        "url": f"http://{name}.example/",
        "title": title or f"Page {name}",
        "text": f"{text} {FILLER}",
        "language": language,
    }


SHELF = [
    page("modem", "How to set up the router and the modem at home"),
    page("router", "The router has a setup page. Setup takes a minute."),
    page("joined", "The router-setup wizard"),
    page("tutorial", "A Python tutorial for beginners"),
    page("gelubde", "Die Bodhisattvas legten ihre Gelübde ab, jeder Bodhisattva", language="de"),
    page("optional", "T get(), T orElse(T other), T orElseThrow()", "Optional"),
    page("mention", "See Optional.orElse for a default. Optional.orElse is short"),
    page("otherwise", "Say it or else it throws, or else not"),
    page("override", "Says that a method has the same in a superclass", "Override"),
    page("annotated", "class A { @Override public String toString() }"),
    page("swap", "The kernel parameter swappiness of the vm subsystem"),
    page("pdf", "文書をPDF形式でエクスポートする方法", language="ja"),
    page("cran", "Run R CMD check --as-cran before a release"),
    page("nocran", "Run R CMD check"),
    page("cargo", "cargo build --release makes an optimized build"),
    page("debug", "cargo build makes a debug build"),
    page("erl", "erl starts a node; -sname Name makes it distributed, with -setcookie"),
    page("erlang", "erl starts a node; erl erl"),
    page("node", "An sname for erl is a short name"),
    page("apple", "red apple, a fruit"),
    page("brick", "red brick"),
    page("executor", "An object", "ThreadPoolExecutor (Java SE 17 & JDK 17)"),
    page("threads", "A pool of threads: each thread pool has an executor"),
    page("jdk", "Java SE 17 & JDK 17 " * 5, "Java SE 17 & JDK 17 (all classes)"),
    page("et", "The et event tracer. et et et et et", "et"),
    page("ets", "Built-in term storage, the ets tables", "Term storage"),
    page("ordered", "Ordered data has an order. Ordered, ordered, see Ordering", "Ordered"),
    page("ordering", "Strategies for sorting. Ordering", "Ordering"),
    page("c", "C is a language. C C C C", "C"),
    page("cpp", "Templates of C++11 are Turing complete", "Templates"),
    page("csharp", "Properties in C# are methods", "Properties"),
    page("net", "The net of a fisherman. Net net net", "Net"),
    page("dotnet", "The .NET runtime", "Runtime"),
    page("derive", "Put #[derive(Debug, Clone)] before a struct"),
    page("debugging", "How to debug: derive the cause. Derive debug derive debug", "Causes"),
    page("bashrc", "Aliases belong in ~/.bashrc, which bash reads"),
    page("bash", "bashrc bashrc is a word", "Words"),
    page("vec", "use std::vec::Vec; makes a growable array", "Arrays"),
    page("std", "vec std vec std", "Vectors"),
    page("sum", "Type =SUM(A1:A10) in the cell", "Formulas"),
    page("total", "The sum of A1 and A10. Sum sum", "Sum"),
    page("regex", "The operator ~* matches, ignoring case", "Patterns"),
    page("hba", 'The file "pg_hba.conf", which lists hosts', "Authentication"),
    page("conf", "hba conf pg conf hba pg", "Files"),
    page("member", "The object has a member this.array_len, among others", "Members"),
    page("lengths", "Sizes are array len, then max_len", "Sizes"),
    page("iter", "To make a class iterable, give it the method __iter__", "Methods"),
    page("iterable", "Make a class iterable: iter makes class iter iterable", "Classes"),
    page(
        "wall",
        "The kernel has a wall. 局部防火墙 The wall runs nft rules",
        "14. 防火墙或",
    ),
    page("paper", "On 防空 and 灭火 and 城墙 they wrote, in paper after paper", "Papers"),
    page("ancestor", "The commit master~3 is three commits before master, HEAD its own"),
    page("head", "Heads! Head the ball with two heads, heads up, then 3", "Heads"),
    page("lambda", "Anonymous functions: λ x", "Functions"),
    page("loc", "Access rows by label with .loc[], or by position with .iloc[]", "Indexing"),
    page("str", "The slice &str, and String, which owns its bytes", "Slices"),
    page("string", "Strings: str, str and string; strs", "Strings"),
]
NAMES = {each["url"].split("//")[1].split(".")[0] for each in SHELF}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, SHELF)
    return work


@pytest.fixture(scope="module")
def searcher(work: Workspace) -> Searcher:
    return Searcher.open(work)


def names(searcher: Searcher, query: str) -> list[str]:
    return [hit.host.removesuffix(".example") for hit in searcher.search(query).hits]


def whole(searcher: Searcher, query: str) -> Iterator[str]:
    hits = searcher.search(query).hits
    return (hit.host.removesuffix(".example") for hit in hits if not hit.partial)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("HOW TO SET UP THE ROUTER AND MODEM", "modem"),
        ("CHECK OR RELEASE --AS-CRAN", "cran"),
        ("check --as-cran", "cran"),
        ("cargo --release", "cargo"),
        ("erl -sname", "erl"),
        ("-sname", "erl"),
        ("ThreadPoolExecutor (Java SE 17 & JDK 17)", "executor"),
        ("thread pool executor java", "executor"),
        ("orElseThrow", "optional"),
        ("or else throw optional", "optional"),
        ("or else throw", "optional"),
        ("@Override", "override"),
        ("ets", "ets"),
        ("Ordering", "ordering"),
        ("Ordered", "ordered"),
        ("C++", "cpp"),
        ("c++ templates", "cpp"),
        ("C#", "csharp"),
        ("c", "c"),
        (".NET", "dotnet"),
        ("net", "net"),
        ("#[derive(Debug)]", "derive"),
        (".bashrc", "bashrc"),
        ("std::vec", "vec"),
        ("=SUM(A1:A10)", "sum"),
        ("~*", "regex"),
        ("operator ~*", "regex"),
        ("pg_hba.conf", "hba"),
        ("array_len", "member"),
        ("make a class iterable __iter__", "iter"),
        ("防火墙", "wall"),
        ("nft 防火墙", "wall"),
        ("HEAD~3", "ancestor"),
        ("λ", "lambda"),
        ("loc vs iloc", "loc"),
        ("String vs &str", "str"),
        ("&str", "str"),
    ],
)
def test_what_is_typed_is_found_first_as_it_is_written(
    searcher: Searcher, query: str, first: str
) -> None:
    assert names(searcher, query)[0] == first


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("router-setup", ["joined", "router"]),
        ("tutorial-python", ["tutorial"]),
        ("Bodhisattva-Gelübde", ["gelubde"]),
        ("Optional.orElseThrow", ["optional"]),
        ("vm.swappiness", ["swap"]),
        ("PDFにエクスポート", ["pdf"]),
        ("red -apple", ["brick"]),
        ("erl -sname", ["erl", "erlang"]),
        ("erl NOT sname", ["erlang"]),
        ('erl -"sname"', ["erlang"]),
        ("ThreadPoolExecutor", ["executor", "threads"]),
        ('"router-setup"', ["joined"]),
        ("event-tracer-nothing", []),
        ("防火墙", ["wall"]),
        ("火墙", ["wall"]),
        ("防火墙或", ["wall"]),
        ('"防火墙"', ["wall"]),
        ('"火防"', []),
    ],
)
def test_joined_words_find_their_parts_and_first_the_phrase(
    searcher: Searcher, query: str, found: list[str]
) -> None:
    assert list(whole(searcher, query)) == found


def test_the_page_about_a_name_counts_as_if_it_had_the_qualified_name(searcher: Searcher) -> None:
    assert set(names(searcher, "Optional.orElse")[:2]) == {"mention", "optional"}
    scores = {hit.host: hit.score for hit in searcher.search("Optional.missing orElse").hits}
    assert scores["optional.example"] > scores["mention.example"]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("router-setup", "<b>router-setup</b>"),
        ("std::vec", "<b>std::vec</b>"),
        ("#[derive(Debug)]", "#[<b>derive(Debug</b>"),
        ("erl -sname", "<b>-sname</b>"),
        ("防火墙", "局部<b>防火墙</b>"),
    ],
)
def test_snippets_mark_joined_words_as_one(searcher: Searcher, query: str, marked: str) -> None:
    assert marked in searcher.search(query).hits[0].snippet


@pytest.mark.parametrize(
    "query", ["C++", "or else throw", "erl -sname", "~* operator", "Optional.orElse", "@Override"]
)
def test_several_nodes_find_the_same_as_one(
    work: Workspace, searcher: Searcher, query: str
) -> None:
    folders = [Path(path).parent for path in work.paths("index") if path.endswith("meta.json")]
    nodes = [Node([folder], work.config.ranking) for folder in folders]
    assert len(nodes) > 1
    many, one = asked(work, nodes, Question(query)), searcher.search(query)
    assert many.hits[0].url == one.hits[0].url
    assert {hit.url for hit in many.hits} == {hit.url for hit in one.hits}


@settings(deadline=None, max_examples=60)
@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(["C++", "-", "--", "(", "~*", "&", "OR", '"', "λ", "エク", "aB", "_x", " "])
    ).map("".join)
)
def test_any_text_has_an_answer(searcher: Searcher, text: str) -> None:
    assert searcher.search(text, explain=True).total >= 0


def test_a_joined_word_is_no_code_that_other_words_end_with() -> None:
    pages = SummedStatistics(
        {"": {"": 9}, "exact_form": {"box": 2, "settings": 3}, "code": {"-settings": 1}}
    )
    typed = typed_words(["box-settings"], analyzer_for("en"), pages)
    assert [each.terms for each in typed] == [("box",), ("settings",)]
