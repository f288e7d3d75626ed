"""The pages and the API of sections, on a crawl of a small site and with hostile names."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.schedule.order.sections.section_names import enclosing_sections
from gossamer.serve.drawing import labels, section_map
from gossamer.serve.web import HEADERS
from gossamer.state.workspace import Workspace
from tests.support.command_line import gossamer, lent
from tests.support.crawl_settings import loopback_settings
from tests.support.planted_duplicates import prose
from tests.support.rows import by_url
from tests.support.search_server import dom, one, serving
from tests.support.section_rows import folder_of, put_sections
from tests.support.small_index import crawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx
    from selectolax.lexbor import LexborNode

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.server

SEED = "http://site.test/"
SITE = "site.test"
TAGS: dict[str, Any] = {"domain": SITE, "section": "site.test/tags/"}
NONE = dict.fromkeys(("known", "fetched", "asked", "failed", "changed", "fit"), 0)
HOSTILE = (
    "evil.org/<script>alert(1)<|script>/",
    "evil.org/\"onload='alert(1)'&amp;/",
    f"evil.org/{'long-' * 600}/",
    "evil.org/\N{RIGHT-TO-LEFT OVERRIDE}%E2%80%AE\N{HEBREW LETTER SHIN}%D7%A9/",
    "evil.org/view?</text><script>",
)


@pytest.fixture(scope="module")
def crawled(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Articles are long, tags short, and some links to tags lead nowhere."""
    folder = tmp_path_factory.mktemp("site")
    names = {f"news/2024/{n:02}.html": 150 for n in range(12)}
    names |= {f"tags/{n}.html": 20 for n in range(15)}
    links = "".join(f"<a href='/{name}'>x</a> " for name in (*names, *gone()))
    for seed, (name, words) in enumerate([("index.html", 30), *names.items()]):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"<!doctype html><title>{name}</title><p>{' '.join(prose(seed, words))}{links}"
        file.write_text(text, encoding="utf-8")
    with FakeWeb(Web(hosts=0, docs={SITE: folder})) as fake:
        settings = loopback_settings(fake.address, "parse.wellknown_paths = []")
        made = Crawl.create(str(tmp_path_factory.mktemp("my web")), settings, engine)
        made.inject([SEED])
        made.run()
    made.sections(SITE)
    return made


def gone() -> list[str]:
    return [f"tags/gone{n}" for n in range(5)]


@pytest.fixture(scope="module")
def client(crawled: Crawl) -> Iterator[httpx.Client]:
    with serving(Workspace.open(crawled.work.root)) as asked:
        yield asked


def counts_of(crawled: Crawl, section: str) -> dict[str, int]:
    """By definition, from the rows of pages."""
    pages = by_url(crawled.pages())
    inside = [row for url, row in pages.items() if section in enclosing_sections(folder_of(url))]
    fetched = [row for row in inside if row["status"] == "fetched"]
    asked = sum(row["outcome"] is not None for row in inside)
    return {
        "known": len(inside),
        "fetched": len(fetched),
        "asked": asked,
        "failed": asked - len(fetched),
        "changed": sum((row["changes"] or 0) > 0 for row in fetched),
        "fit": sum(bool(row["fit"]) for row in fetched),
    }


def test_the_api_has_the_counts_of_the_crawl(client: httpx.Client, crawled: Crawl) -> None:
    host = client.get("/api/v1/sections", params={"domain": SITE}).json()
    assert (host["section"], host["around"], host["total"]) == ("site.test/", [], 2)
    assert host["counts"] == counts_of(crawled, "site.test/")
    assert host["parts"] == [
        {"section": name, "counts": counts_of(crawled, name)}
        for name in ("site.test/tags/", "site.test/news/")
    ]
    assert host["rest"] == NONE | {"known": 1, "fetched": 1, "asked": 1}
    tags = client.get("/api/v1/sections", params=TAGS).json()
    assert tags["counts"] == counts_of(crawled, "site.test/tags/")
    assert (tags["counts"]["failed"], tags["counts"]["fit"]) == (5, 0)
    assert (tags["parts"], tags["rest"], tags["around"]) == ([], tags["counts"], ["site.test/"])
    found = client.get("/api/v1/sections/domains", params={"q": "SITE"}).json()
    counted = {"domain": SITE, "hosts": 1, "counts": host["counts"]}
    assert found == {"total": 1, "domains": [counted]}


def test_the_page_leads_from_domain_to_section_and_back(client: httpx.Client) -> None:
    domains = dom(client, "/sections")
    host = followed(client, one(domains, "table.parts td a"))
    assert one(host, "h1").text() == SITE
    assert shares(host, "wide") == {"tags/": "0 % fit", "news/": "100 % fit"}
    tags = followed(client, box(host, "tags/"))
    assert one(tags, "h1").text() == "site.test/tags/"
    assert not tags.css(".treemap text")
    assert [step.text() for step in tags.css(".way li")] == ["All domains", SITE, "tags/"]
    assert one(tags, ".way [aria-current]").text() == "tags/"
    assert one(followed(client, tags.css(".way a")[1]), "h1").text() == SITE
    year = followed(client, box(followed(client, box(host, "news/")), "2024/"))
    assert [step.text() for step in year.css(".way a")] == ["All domains", SITE, "news/"]


def followed(client: httpx.Client, link: LexborNode) -> LexborHTMLParser:
    return opened(client, link.attributes["href"] or "")


def opened(client: httpx.Client, path: str) -> LexborHTMLParser:
    answer = client.get(path)
    assert answer.status_code == 200
    return LexborHTMLParser(answer.text)


def box(page: LexborHTMLParser, label: str) -> LexborNode:
    return next(
        link for link in page.css(".wide a") if label in [t.text() for t in link.css("text")]
    )


def shares(page: LexborHTMLParser, size: str) -> dict[str, str]:
    boxes = page.css(f".treemap.{size} > a, .treemap.{size} > g")
    texts = [[text.text() for text in each.css(".name, .pages")] for each in boxes]
    return {name: share[0] for name, _, *share in texts if share}


def test_the_colour_is_chosen_by_links_that_stay(client: httpx.Client) -> None:
    page = dom(client, "/sections", domain=SITE)
    links = {link.text(): link for link in page.css(".colours a")}
    assert list(links) == ["fetched", "failed", "changed"]
    failed = followed(client, links["failed"])
    assert one(failed, ".colours b").text() == "failed"
    assert one(failed, ".treemap").attributes["class"] == "treemap wide of-failed"
    assert shares(failed, "wide")["tags/"] == "25 % failed"
    assert "colour=failed" in (box(failed, "tags/").attributes["href"] or "")
    kinds = [one(box(failed, name), "rect").attributes["class"] for name in ("tags/", "news/")]
    assert kinds == ["s2", "s0"]
    assert client.get("/sections", params={"domain": SITE, "colour": "red"}).status_code == 400


def test_the_rules_are_those_that_exclude_what_the_page_says(
    client: httpx.Client, crawled: Crawl
) -> None:
    page = dom(client, "/sections", **TAGS)
    shown, commands = (each.text() for each in page.css("pre.rules code"))
    rules = shown.split("\n")
    assert rules == [f"deny prefix {scheme}://site.test/tags/" for scheme in ("https", "http")]
    assert client.get("/api/v1/sections", params=TAGS).json()["rules"] == rules
    assert "at most 20 known pages, 0 of them fit" in one(page, "#filter ~ p").text()
    assert not page.css(".warning")
    add, apply = map(shlex.split, commands.replace("\\\n", "").split("\n"))
    assert add == ["gossamer", "filter", "add", crawled.work.root, *rules]
    with lent(crawled.work.engine):
        gossamer(*add[1:])
        counted = gossamer(*apply[1:]).stdout
        assert "20 pages would be excluded" in counted  # gone ones are asked for again, too
        warned = one(dom(client, "/sections", **TAGS), ".warning").text()
        assert f"{rules[0]} (the store)" in warned
        gossamer("filter", "remove", crawled.work.root, *rules)
    assert not dom(client, "/sections", **TAGS).css(".warning")


def test_rules_that_cannot_be_read_are_named_and_the_page_goes_on(tmp_path: Path) -> None:
    work = put(tmp_path, {"a.org/": 20})
    Path(work.root, "gossamer.toml").write_text('filter.files = ["rules.txt"]', encoding="utf-8")
    Path(work.root, "rules.txt").write_text("deny nothing", encoding="utf-8")
    with serving(Workspace.open(work.root)) as client:
        warned = one(dom(client, "/sections", domain="a.org"), ".warning").text()
        assert warned.startswith("rules.txt, line 1")


def test_sections_of_all_hosts(client: httpx.Client) -> None:
    page = dom(client, "/sections", domain="*")
    assert one(page, "h1").text() == "all hosts"
    assert not page.css("#filter")
    tags = followed(client, box(page, "tags/"))
    assert one(tags, "pre.rules").text() == r"deny pattern ^[^/]*//[^/]*/tags/"


def test_files_have_no_host(tmp_path: Path) -> None:
    with serving(put(tmp_path, {"/": 90, "/usr/": 60, "/usr/share/": 50})) as client:
        files = followed(client, one(dom(client, "/sections"), "table.parts td a"))
        assert one(files, "h1").text() == "files"
        folder = followed(client, box(followed(client, box(files, "usr/")), "share/"))
    assert [step.text() for step in folder.css(".way li")] == [
        *("All domains", "files", "usr/", "share/")
    ]
    assert one(folder, "pre.rules").text() == "deny prefix file:///usr/share/"


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("", 400, "domain is missing"),
        ("?domain=none.test", 404, "none.test: no section"),
        ("?domain=site.test&section=site.test/none/", 404, "site.test/none/: no section"),
        ("?domain=site.test&limit=501", 400, "limit may be at most 500"),
        ("/domains?offset=x", 400, "offset must be a whole number"),
    ],
)
def test_what_is_refused_as_a_problem(
    client: httpx.Client, query: str, status: int, detail: str
) -> None:
    answer = client.get(f"/api/v1/sections{query}")
    assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (status, detail)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_crawl_without_counts_says_how_to_get_them(work: Workspace) -> None:
    with serving(Workspace.open(work.root)) as client:
        assert f"gossamer sections {work.root}" in one(dom(client, "/sections"), ".note").text()
        for path in ("/api/v1/sections?domain=a.org", "/api/v1/sections/domains"):
            answer = client.get(path)
            assert (answer.status_code, "gossamer sections" in answer.text) == (503, True)
        put_sections(work, {"a.org/": 20})
        assert dom(client, "/sections").css("table.parts")


def test_a_damaged_file_is_a_problem(tmp_path: Path) -> None:
    work = put(tmp_path, {"a.org/": 20})
    (file,) = work.store.files("sections")
    Path(work.root, file.path).write_bytes(b"")
    with serving(Workspace.open(work.root)) as client:
        for path in ("/sections", "/sections?domain=a.org", "/api/v1/sections?domain=a.org"):
            assert client.get(path).status_code == 503


def test_domains_and_parts_are_paged(tmp_path: Path) -> None:
    sizes = {f"{n:03}.org/": 300 - n for n in range(120)}
    sizes |= {"000.org/": 50_000} | {f"000.org/{n:03}/": 300 - n for n in range(120)}
    with serving(put(tmp_path, sizes)) as client:
        for path, prefix, suffix in (
            ("/sections", "", ".org"),
            ("/sections?domain=000.org", "000.org/", "/"),
        ):
            seen, pages = [], 0
            following: str | None = path
            while following:
                page = opened(client, following)
                seen += [link.text() for link in page.css("table.parts td a")]
                following = next((n.attributes["href"] for n in page.css("[rel=next]")), None)
                pages += 1
            assert (seen, pages) == ([f"{prefix}{n:03}{suffix}" for n in range(120)], 3)
            assert "offset=50" in (one(page, "[rel=prev]").attributes["href"] or "")
        found = dom(client, "/sections", q="11")
        assert [link.text() for link in found.css("table.parts td a")] == [
            f"{n:03}.org" for n in (11, *range(110, 120))
        ]


def test_ten_thousand_parts_are_one_page_with_the_small_ones_in_one_box(tmp_path: Path) -> None:
    sizes = {f"a.org/{n}/": 12_000 - n for n in range(10_000)}
    sizes["a.org/"] = sum(sizes.values()) + 5
    with serving(put(tmp_path, sizes)) as client:
        answer = client.get("/sections", params={"domain": "a.org"})
        page = dom(client, "/sections", domain="a.org")
    assert len(answer.content) < 100_000
    names = [text.text() for text in page.css(".wide .name")]
    assert names[0] == "10,000 parts"
    href = one(page, ".wide a").attributes["href"] or ""
    assert href == "/sections?domain=a.org#parts"
    assert len(page.css("table.parts tbody tr")) == 51


def test_others_lead_to_the_rows_of_the_table_that_are_not_drawn(tmp_path: Path) -> None:
    sizes = {f"a.org/large{n}/": 5_000 for n in range(7)} | {f"a.org/{n}/": 10 for n in range(90)}
    sizes["a.org/"] = sum(sizes.values())
    with serving(put(tmp_path, sizes)) as client:
        page = dom(client, "/sections", domain="a.org")
        others = box(page, "90…ers")
        assert "90 others: 900 known" in one(others, "title").text()
        rows = followed(client, others).css("table.parts td a")
    assert [row.text()[:11] for row in rows][:1] == ["a.org/0/"]
    assert len(rows) == 50


@pytest.mark.parametrize("section", HOSTILE)
def test_hostile_names_stay_text(tmp_path: Path, section: str) -> None:
    with serving(put(tmp_path, {"evil.org/": 100, section: 90})) as client:
        asked: tuple[dict[str, Any], ...] = ({}, {"section": section})
        for params in ({"domain": "evil.org"} | each for each in asked):
            answer = client.get("/sections", params=params)
            assert answer.status_code == 200
            for name, value in HEADERS.items():
                assert answer.headers[name] == value
            page = dom(client, "/sections", **params)
            assert not page.css("script, [onload], [style]")
            assert page.css("bdi")
        assert one(page, "h1").text() == section
        drawn = one(dom(client, "/sections", domain="evil.org"), ".treemap.wide")
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in drawn.text()
        assert all(len(text.text()) < 120 for text in drawn.css("text"))


def put(folder: Path, known: Mapping[str, int]) -> Workspace:
    return put_sections(crawl(folder / "crawl"), known)


@pytest.mark.parametrize("size", section_map.SIZES)
def test_boxes_are_as_large_as_their_pages(tmp_path: Path, size: str) -> None:
    sizes = {f"a.org/{n}/": 7 * n * n + 100 for n in range(12)}
    known = sum(sizes.values()) + 400
    with serving(put(tmp_path, sizes | {"a.org/": known})) as client:
        page = dom(client, "/sections", domain="a.org")
    width, height = section_map.SIZES[size]
    expected = {f"{n}/": pages for n, pages in enumerate(sizes.values())} | {"other pages": 400}
    drawn = {}
    for window in page.css(f".treemap.{size} > * > svg"):
        name = one(window, ".name").text()
        drawn[name] = float(window.attributes["width"] or 0) * float(
            window.attributes["height"] or 0
        )
    assert drawn.keys() == expected.keys()
    for name, pages in expected.items():
        assert drawn[name] == pytest.approx(width * height * pages / known, rel=1e-3)


def test_parts_of_a_part_are_drawn_in_it(tmp_path: Path) -> None:
    sizes = {"a.org/": 1_000, "a.org/x/": 800, "a.org/x/u/": 500, "a.org/x/v/": 200}
    with serving(put(tmp_path, sizes)) as client:
        inner = box(dom(client, "/sections", domain="a.org"), "x/")
    areas = [
        float(rect.attributes["width"] or 0) * float(rect.attributes["height"] or 0)
        for rect in inner.css("rect")
    ]
    outer = 960 * 520 * 0.8
    assert areas == [pytest.approx(outer * n / 800, rel=1e-3) for n in (800, 500, 200, 800)]
    assert [text.text() for text in inner.css(".inner")] == ["u/", "v/"]


def test_labels() -> None:
    assert section_map.label("a.org/", "") == "a.org"
    assert section_map.label("a.org/%C3%BC/", "a.org/") == "ü/"
    assert labels.visible("a\N{RIGHT-TO-LEFT OVERRIDE}b\n") == "a\ufffdb\ufffd"
    assert labels.fitting_label("abcdefghijkl", 8) == "ab…hijkl"
    assert labels.fitting_label("漢字漢字漢字", 8) == "漢…漢字"
