"""`gossamer inspect`: a file, a URL, a page that a crawl has stored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from gossamer import Crawl
from gossamer.cli import app
from gossamer.engine import engine
from gossamer.errors import ConfigError, MissingFile, NotACrawl, UsageError
from gossamer.parse import ParsedPage
from tests.support.loopback import SILENCE, Loopback, page
from tests.support.stored_rounds import HOME, Fetched, archive_of, store_round
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("shared_parsers")]

PAGE = b"""<!doctype html><html lang=en-GB><title>A rose</title>
<meta name=description content="Of roses."><meta name=author content="Ann Gardener">
<meta name=robots content=noarchive><link rel=canonical href=/rose>
<h1>The rose</h1><p>It is a plant with flowers and thorns that people like very much indeed.
<a href=/tulip>tulip</a> <a rel=nofollow href=//b.example/>shop</a> <a href=mailto:a@b.example>m</a>
"""
SETTINGS = """
parse.max_text_chars = 20
fetch.allow_networks = ["127.0.0.0/8"]
fetch.head_timeout_s = 0.2
fetch.max_body_bytes = 1024
fetch.host_overrides = {{ "*.test" = "{address}" }}
"""


def run(*words: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["inspect", *map(str, words)], input=stdin)


def shown(*words: object, stdin: bytes | None = None) -> Result:
    ended = run(*words, stdin=stdin)
    assert ended.exit_code == 0, ended.exception or ended.output
    return ended


def as_json(*words: object, stdin: bytes | None = None) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(shown(*words, "--json", stdin=stdin).stdout)
    return told


def of(work: Workspace) -> tuple[str, ...]:
    return "--crawl", work.root, "--stored"


def complaint(*words: object) -> UsageError:
    ended = run(*words)
    assert isinstance(ended.exception, UsageError), ended.output
    return ended.exception


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a rose.html"
    path.write_bytes(PAGE)
    return path


@pytest.fixture
def crawl(server: Loopback, tmp_path: Path) -> str:
    """One that may go to the server."""
    folder = str(tmp_path / "crawl")
    Crawl.create(folder, SETTINGS.format(address=server.address)).close()
    return folder


def test_all_that_a_page_gives_is_shown_in_80_columns(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in shown(file, "--url", HOME + "x").stdout.splitlines()]
    assert lines == [
        "A rose",
        "https://example.org/x",
        "",
        "outcome      parsed",
        "type         text/html, utf-8",
        "language     en (declared: en-GB)",
        "description  Of roses.",
        "authors      Ann Gardener",
        "canonical    https://example.org/rose",
        "robots       noarchive",
        "headings     The rose",
        "links        2 a, 1 canonical",
        "refused      1 scheme",
        "",
        "link        anchor text  target",
        "canonical                /rose",
        "a           tulip        /tulip",
        "a nofollow  shop         https://b.example/",
        "",
        f"main text, 85 of 94 characters {49 * '─'}",
        "It is a plant with flowers and thorns that people like very much indeed. tulip",
        "shop m",
    ]


def test_as_json_it_is_all_of_a_parsed_page_and_its_url(file: Path) -> None:
    told = as_json(file, "--url", HOME)
    assert told.keys() == {"url", "farms", "duplicates", *ParsedPage.__struct_fields__}
    assert (told["url"], told["authors"]) == (HOME, ["Ann Gardener"])
    assert told["robots"]["noarchive"]
    assert told["links"][-1] == {
        "dst": "https://b.example/",
        "anchor": "shop",
        "relation": "a",
        "nofollow": True,
        "dated": None,
        "spelling": None,
        "announced": False,
    }


def test_text_prints_only_the_main_text(file: Path) -> None:
    file.write_bytes(PAGE * 60)
    said = shown(file, "--text").stdout
    assert said == as_json(file)["main_text"] + "\n"
    assert len(said) > 2_000


RULES = """
[[rule]]
name = "roses"
url = "https://example.org/*"
title = "h1"
author = ".nobody"
"""


def test_rules_for_sites_are_tried(file: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    told = as_json(file, "--url", HOME + "x", "--rules", rules)
    assert (told["title"], told["unmatched"]) == ("The rose", ["roses.author"])
    said = shown(file, "--url", HOME + "x", "--rules", rules).stdout.splitlines()
    assert [line.split() for line in said if line.startswith(("rule ", "unmatched "))] == [
        ["rule", "roses"],
        ["unmatched", "roses.author"],
    ]
    said = shown(file, "--url", "https://other.example/", "--rules", rules).stdout.splitlines()
    assert "none matches this URL" in next(line for line in said if line.startswith("rule "))
    assert not any(line.startswith("rule ") for line in shown(file).stdout.splitlines())
    rules.write_text(RULES + "what = 1")
    assert isinstance(run(file, "--rules", rules).exception, ConfigError)


def test_rules_of_the_crawl_hold_unless_others_are_given(crawl: str, file: Path) -> None:
    with Path(crawl, "gossamer.toml").open("a") as settings:
        settings.write('parse.site_rules = "rules.toml"')
    Path(crawl, "rules.toml").write_text(RULES)
    words = [file, "--url", HOME, "--crawl", crawl]
    assert as_json(*words)["title"] == "The rose"
    (file.parent / "none.toml").write_text("")
    assert as_json(*words, "--rules", file.parent / "none.toml")["title"] == "A rose"


def test_a_file_has_a_url_by_its_name(file: Path) -> None:
    told = as_json(file)
    assert told["url"] == "http://localhost/a%20rose.html"
    assert told["canonical"] == "http://localhost/rose"


def test_the_standard_input(file: Path) -> None:
    assert as_json("-", stdin=file.read_bytes())["title"] == "A rose"
    assert as_json("-", stdin=b"")["outcome"] == "empty"


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("x", b"<p>a paragraph", "text/html"),
        ("x.html", b"<section>no element that the standard sniffs", "text/html"),
        ("x.html", b"%PDF-1.7 that is called otherwise", "application/pdf"),
        ("x.md", b"# A title\n\nAnd words.", "text/markdown"),
        ("x.json", b'{"title": "x"}', "application/json"),
        ("x", b"words", "text/plain"),
    ],
)
def test_the_type_is_sniffed_and_for_texts_guessed_from_the_file_name(
    tmp_path: Path, name: str, body: bytes, kind: str
) -> None:
    (tmp_path / name).write_bytes(body)
    ended = run(tmp_path / name, "--json")
    assert json.loads(ended.stdout)["content_type"] == kind


def test_control_characters_of_a_page_are_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a \x1b]0;title b \x9b31m \u202egnp", encoding="utf-8")
    for form in ([], ["--text"]):
        said = shown(path, *form).stdout
        assert {"\x1b", "\x9b", "\u202e"}.isdisjoint(said)
        assert "a \ufffd]0;title b \ufffd31m gnp" in said


def test_an_unsupported_type_is_an_error_with_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(range(256)))
    for form in ([], ["--text"], ["--json"]):
        ended = run(path, *form)
        assert isinstance(ended.exception, UsageError)
        assert str(ended.exception) == f"{path}: unsupported: application/octet-stream"
        assert bool(ended.stdout) == (form == ["--json"])
    assert json.loads(ended.stdout)["outcome"] == "unsupported"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    error = complaint(tmp_path / "none")
    assert "No such file" in error.what
    assert "a URL with its scheme" in error.remedy


def test_settings_of_the_crawl_are_used(file: Path, crawl: str) -> None:
    assert len(as_json(file, "--crawl", crawl)["main_text"]) == 20
    file.write_bytes(PAGE + b" " * 1024)
    assert "cut after 1,024 bytes" in shown(file, "--crawl", crawl).stderr


def test_a_url_is_requested_once_and_redirects_are_reported(server: Loopback, crawl: str) -> None:
    server.answers["/old"] = page(headers=["Location: /new"], status="301 Moved")
    server.answers["/new"] = page(
        gzip.compress(PAGE), ["Content-Type: text/html; charset=utf-8", "Content-Encoding: gzip"]
    )
    ended = shown("http://a.test/old", "--crawl", crawl, "--json")
    told = json.loads(ended.stdout)
    assert (told["url"], told["title"], told["charset"]) == ("http://a.test/new", "A rose", "utf-8")
    assert ended.stderr == "gossamer: http://a.test/old: HTTP 301, to http://a.test/new\n"
    assert server.paths == ["/old", "/new"]


def test_redirects_without_end(server: Loopback, crawl: str) -> None:
    server.answers["/"] = page(headers=["Location: /"], status="302 Found")
    assert "after 11 redirects" in complaint("http://a.test/", "--crawl", crawl).what
    assert len(server.asked) == 11


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (page(b"sorry", status="404 Not Found"), "not_found: HTTP 404"),
        (page(b"no", status="403 Forbidden"), "refused: HTTP 403"),
        (page(headers=["Location: mailto:x"], status="302 Found"), "bad_redirect: HTTP 302"),
        (SILENCE, "timeout: "),
        (b"SSH-2.0\r\n\r\n", "broken: not HTTP"),
    ],
)
def test_why_there_is_no_page(server: Loopback, crawl: str, answer: bytes, what: str) -> None:
    server.answers["/"] = answer
    assert complaint("http://a.test/", "--crawl", crawl).what.startswith(what)


def test_a_private_address_is_refused_unless_a_crawl_allows_it(server: Loopback) -> None:
    error = complaint(f"http://{server.address}/")
    assert error.what == "forbidden_address: 127.0.0.1 is not in fetch.allow_networks"
    assert "--crawl" in error.remedy
    assert not server.opened


def test_a_body_that_is_cut(server: Loopback, crawl: str) -> None:
    server.answers["/"] = page(PAGE + b" " * 1024)
    assert "cut after 1,024 bytes" in shown("http://a.test/", "--crawl", crawl).stderr


def test_an_invalid_url_is_an_error() -> None:
    assert complaint("gopher://a.example/").what == "is not a URL that can be crawled"
    assert complaint("http://a b/").what == "is not a URL that can be crawled"


def test_a_page_as_the_crawl_has_it(work: Workspace) -> None:
    headers = ((b"X-Robots-Tag", b"noindex"),)
    store_round(work, [Fetched(HOME, b"<title>old</title>")])
    store_round(work, [Fetched(HOME, PAGE, headers=headers)], [Fetched(HOME + "x")], round_=2)
    store_round(work, [Fetched(HOME, outcome="unchanged")], round_=3)
    ended = shown("https://EXAMPLE.org", *of(work), "--json")
    told = json.loads(ended.stdout)
    assert (told["url"], told["title"], told["charset"]) == (HOME, "A rose", "utf-8")
    assert told["robots"]["noindex"]
    assert ended.stderr == ""


def test_a_stored_page_is_shown_without_engine_or_change(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_round(work, [Fetched(HOME, PAGE)])
    before = {path: path.stat().st_mtime_ns for path in Path(work.root).rglob("*")}
    monkeypatch.delattr(engine, "Engine")
    assert as_json(HOME, *of(work))["title"] == "A rose"
    assert {path: path.stat().st_mtime_ns for path in Path(work.root).rglob("*")} == before


def test_a_page_that_is_gone_since_is_shown_as_it_was(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, PAGE)])
    store_round(work, [Fetched(HOME, outcome="not_found")], round_=2)
    store_round(work, [Fetched(HOME, outcome="timeout")], round_=3)
    ended = shown(HOME, *of(work))
    assert ended.stderr == ("gossamer: round 3: timeout; shown is the page that round 1 stored\n")


def test_signs_of_a_link_farm_are_shown(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, PAGE)])
    assert as_json(HOME, *of(work))["farms"] == []
    sign = {"kind": "host", "name": "example.org", "reason": "exchange", "owner": "b.example"}
    counts = {"members": 2, "supporters": 1, "links": 200, "of_links": 210, "factor": 0.5}
    put_rows(work, "farms", [sign | counts])
    assert as_json(HOME, *of(work))["farms"] == [sign | counts]
    assert "200 of its 210 links" in " ".join(shown(HOME, *of(work)).stdout.split())


def test_a_page_that_no_round_stored(work: Workspace) -> None:
    moved = Fetched(HOME + "a", outcome="redirect", redirect_url=HOME + "b")
    store_round(work, [moved])
    error = complaint(HOME + "a", *of(work))
    assert error.what == f"no page is stored; round 1: redirect, {HOME}b"
    assert error.remedy == f"gossamer inspect {HOME}a --crawl {work.root}"
    assert complaint(HOME + "c", *of(work)).what == "no page is stored"


@pytest.mark.folder
def test_a_record_that_is_damaged_or_gone(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, PAGE)])
    archive = Path(archive_of(work))
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 0xFF
    archive.write_bytes(data)
    assert "its record is damaged or missing: warc/" in complaint(HOME, *of(work)).what
    archive.unlink()
    assert isinstance(run(HOME, *of(work)).exception, MissingFile)


def test_a_folder_that_is_no_crawl(tmp_path: Path) -> None:
    assert "Is a directory" in complaint(tmp_path).what
    assert isinstance(run(HOME, "--crawl", tmp_path).exception, NotACrawl)


def test_options_that_do_not_belong_together(file: Path, tmp_path: Path) -> None:
    for words in (
        [HOME, "--url", HOME],
        [HOME, "--stored"],
        [file, "--stored", "--crawl", tmp_path],
        [file, "--text", "--json"],
    ):
        assert run(*words).exit_code == 2, words


def test_a_text_that_was_cut_is_marked(file: Path, crawl: str) -> None:
    assert as_json(file)["truncated"] is False
    assert "truncated" not in shown(file).stdout
    assert as_json(file, "--crawl", crawl)["truncated"] is True
    assert "text beyond a limit was left out" in shown(file, "--crawl", crawl).stdout
