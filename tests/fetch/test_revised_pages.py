"""Where the bodies of pages are whose headers a 304 has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from gossamer.api.crawl import Crawl
from gossamer.fetch.revised_pages import place_revised_pages
from gossamer.flow import rounds
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import HOSTS, PAGES, RESPONSES
from tests.support.loopback import Loopback, page
from tests.support.rows import by_url, put
from tests.support.stored_rounds import rows_of

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

NOINDEX = "x-robots-tag: noindex"


def test_a_revised_page_names_the_last_record_with_its_body(work: Workspace) -> None:
    stored = {"outcome": "ok", "url": "u", "digest": "D", "body_bytes": 7, "truncated": True}
    put(
        work,
        "responses",
        [
            stored | {"round": 1, "warc_file": "w1", "warc_offset": 1},
            stored | {"round": 2, "warc_file": "w2", "warc_offset": 2},
            stored | {"round": 3, "outcome": "unchanged"},
            stored | {"round": 3, "url": "other", "warc_file": "w3", "warc_offset": 3},
            stored
            | {"round": 1, "url": "changed", "digest": "E", "warc_file": "w1", "warc_offset": 4},
            stored | {"round": 1, "url": "lost"},
        ],
    )
    writer = ParquetWriter(work.root, SCRATCH, work.scratch_attempt(), schema=RESPONSES.schema)
    revised = {"round": 4, "outcome": "unchanged", "digest": "D", "headers": NOINDEX}
    urls = ("u", "changed", "lost")
    writer.write(rows_of(RESPONSES.schema, [revised | {"url": url} for url in urls]))
    layer = place_revised_pages(work, layers_of(writer.close(), 4)[SCRATCH])
    assert layer.round == 4
    table = parquet.read_table([f"{work.root}/{file.path}" for file in layer.files])
    rows = {row["url"]: row for row in table.to_pylist()}
    assert [rows[url]["outcome"] for url in urls] == ["ok", "unchanged", "unchanged"]
    found = rows["u"]
    assert (found["warc_file"], found["warc_offset"], found["headers"]) == ("w2", 2, NOINDEX)
    assert (found["body_bytes"], found["truncated"], found["round"]) == (7, True, 4)
    assert rows["lost"]["warc_file"] is rows["changed"]["warc_file"] is None
    assert rows["lost"]["truncated"] is False


ETAG, HTML = 'ETag: "1"', "Content-Type: text/html"
TITLED = b"<title>\xf0\xf2</title><a href=/x>x</a>"


def test_headers_that_come_with_an_unchanged_body_or_a_304_take_effect_at_that_visit(
    work: Workspace, server: Loopback
) -> None:
    first = page(TITLED, (HTML, ETAG))
    noindex, koi8 = "X-Robots-Tag: noindex", "Content-Type: text/html; charset=koi8-r"
    server.answers = {
        "/304": [first, page(b"", (ETAG, noindex, koi8), status="304 Not Modified")],
        "/same": [first, page(TITLED, (HTML, ETAG, "X-Robots-Tag: nofollow"))],
        "/plain": [first, page(b"", (ETAG,), status="304 Not Modified")],
    }
    own = f"http://{server.address}"
    settings = {"delay_s": 0, "allow_networks": ("127.0.0.0/8",)}
    work.clock_ms = None
    work.config = structs.replace(work.config, fetch=structs.replace(work.config.fetch, **settings))
    crawl = Crawl(work)
    crawl.inject([f"{own}/{name}" for name in ("304", "same", "plain")])
    counts: list[dict[str, int]] = []
    for _ in range(2):
        reports = list(rounds.round_(work, lambda _step, _round: None))
        counts += [dict(done.counts) for done in reports if done.step == "fetch"]
        crawl.refresh()
    documents = {(row["round"], row["url"].removeprefix(own)): row for row in _rows(work)}
    assert {path for round_, path in documents if round_ == 2} == {"/304", "/same"}
    revised, same = documents[2, "/304"], documents[2, "/same"]
    assert (revised["noindex"], revised["title"], revised["nofollow"]) == (True, "ПР", False)
    assert (same["noindex"], same["nofollow"]) == (False, True)
    pages = by_url(lsm.current(work, PAGES))
    assert pages[f"{own}/304"]["headers"] == f"{koi8.lower()}\n{noindex.lower()}"
    assert pages[f"{own}/304"]["etag"] == '"1"'
    assert [count["ok"] for count in counts] == [3, 1]


def test_what_publishers_say_is_kept_of_each_page_and_takes_effect_at_the_next_visit(
    work: Workspace, server: Loopback
) -> None:
    first = page(TITLED, (HTML, ETAG))
    robots = b"User-agent: *\nContent-Signal: ai-train=no\nContent-Signal: /free ai-train=yes\n"
    server.answers = {
        "/robots.txt": page(robots, ("Content-Type: text/plain",)),
        "/a": first,
        "/free": [first, page(b"", (ETAG, "TDM-Reservation: 1"), status="304 Not Modified")],
    }
    own = f"http://{server.address}"
    settings = {"delay_s": 0, "allow_networks": ("127.0.0.0/8",)}
    work.clock_ms = None
    work.config = structs.replace(work.config, fetch=structs.replace(work.config.fetch, **settings))
    crawl = Crawl(work)
    crawl.inject([f"{own}/a", f"{own}/free"])
    for _ in range(2):
        list(rounds.round_(work, lambda _step, _round: None))
        crawl.refresh()
    found = {(row["round"], row["url"].removeprefix(own)): row["wishes"] for row in _rows(work)}
    assert found == {
        (1, "/a"): "ai-train=no",
        (1, "/free"): "ai-train=yes",
        (2, "/free"): "ai-input=no ai-train=no",
    }
    row = next(row for row in _rows(work) if row["round"] == 2)
    assert row["wishes_said"].split("\n") == [
        "header tdm-reservation: 1",
        "robots.txt Content-Signal: ai-train=yes",
    ]


TDMREP = b'[{"location": "/b", "tdm-reservation": 1}]'
RSL = b"<rsl><content url='/'><license><permits>ai-input</permits></license></content></rsl>"


def test_files_of_a_site_about_uses_take_effect_at_the_next_visit(
    work: Workspace, server: Loopback
) -> None:
    """Also if the page is the same, whether that is said by a 304 or by its body."""
    own = f"http://{server.address}"
    link = b'<link rel=license type="application/rsl+xml" href=/rsl.xml>'
    license_line, none = page(b"License: %s/rsl.xml" % own.encode()), page(status="404 No")
    server.answers = {
        "/robots.txt": [page(b""), license_line],
        "/.well-known/tdmrep.json": [none, page(TDMREP)],
        "/rsl.xml": page(RSL),
        "/a": [page(TITLED + link, (HTML, ETAG)), page(b"", (ETAG,), status="304 Not Modified")],
        "/b": page(TITLED, (HTML,)),
    }
    settings = {"delay_s": 0, "allow_networks": ("127.0.0.0/8",)}
    work.clock_ms = None
    work.config = structs.replace(work.config, fetch=structs.replace(work.config.fetch, **settings))
    crawl = Crawl(work)
    crawl.inject([f"{own}/a", f"{own}/b"])
    for round_ in (1, 2):
        list(rounds.round_(work, lambda _step, _round: None))
        crawl.refresh()
        (row,) = [each.asDict(recursive=True) for each in lsm.current(work, HOSTS).collect()]
        assert len(row["wish_files"]) == round_
        put(work, "hosts", [row | {"robots": [], "wish_files": []}], round_)  # a day later
    found = {(row["round"], row["url"].removeprefix(own)): row for row in _rows(work)}
    assert {place: row["wishes"] for place, row in found.items()} == {
        (1, "/a"): "ai-input=no ai-train=no",
        (1, "/b"): None,
        (2, "/a"): "ai-input=yes ai-train=no",
        (2, "/b"): "ai-input=no ai-train=no",
    }
    assert found[2, "/b"]["wishes_said"].split("\n") == [
        f"robots.txt RSL: ai-input=yes, ai-train=no; {own}/rsl.xml",
        "tdmrep.json TDM-Reservation: 1",
    ]


def test_files_of_a_site_that_its_robots_txt_forbids_are_left_alone(
    work: Workspace, server: Loopback
) -> None:
    own = f"http://{server.address}"
    server.answers = {
        "/robots.txt": page(b"User-agent: *\nDisallow: /.well-known/\nDisallow: /rsl"),
        "/.well-known/tdmrep.json": page(TDMREP),
        "/b": page(TITLED, (HTML,)),
    }
    settings = {"delay_s": 0, "allow_networks": ("127.0.0.0/8",)}
    work.clock_ms = None
    work.config = structs.replace(work.config, fetch=structs.replace(work.config.fetch, **settings))
    Crawl(work).inject([f"{own}/b"])
    list(rounds.round_(work, lambda _step, _round: None))
    assert server.paths == ["/robots.txt", "/b"]
    assert [row["wishes"] for row in _rows(work)] == [None]


def _rows(work: Workspace) -> list[dict[str, Any]]:
    return [row.asDict() for row in work.read("documents").collect()]
