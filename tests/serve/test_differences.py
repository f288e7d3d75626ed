"""Versions of pages from the archive, and what changed between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gossamer import Crawl
from gossamer.errors import UsageError
from gossamer.serve.differences import parse_time
from tests.support.archived_versions import Visit, archive, day_ms
from tests.support.command_line import gossamer
from tests.support.search_server import EVIL, dom, one, serving
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import put_pages, store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.folder]

PROSE = "This is a sentence of prose, long enough that it counts as one of an article's paragraphs."
LATER = "2024-01-01"
"""After what `store_and_parse` stores, which is of 2023-11-14."""
ASKING = ("noindex", "noarchive", "nosnippet")


def body(text: str, head: str = "") -> bytes:
    return f"<title>A page</title>{head}<p>{PROSE}</p><p>{text} {PROSE}</p>".encode()


def asking(wish: str) -> str:
    return f'<meta name="robots" content="{wish}">'


FIRST, SECOND, THIRD = body("It is red."), body("It is green."), body("It is green and blue.")
REFUSED = [*ASKING, "excluded"]


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    moved = "<p>moved"
    archive(
        opened,
        [
            Visit(HOME, "2023-01-01", FIRST),
            Visit(f"{HOME}other", "2023-01-02", SECOND),
            Visit(HOME, "2023-01-03", FIRST),
            Visit(HOME, "2023-01-04", None, FIRST),
            Visit(HOME, "2023-01-05", b"<p>Not found", status=404),
            Visit(HOME, "2023-01-06", moved.encode(), status=301),
            Visit(HOME.replace("//", "//www."), "2023-01-07", THIRD),
            Visit(HOME, "2023-01-08", SECOND),  # a revisit of the body of `other`
            Visit(f"{HOME}hostile", "2023-01-01", body("Nothing.")),
            Visit(f"{HOME}restyled", "2023-01-01", SECOND),
            *(Visit(f"{HOME}{wish}", "2023-01-01", FIRST) for wish in REFUSED),
            *(
                Visit(f"{HOME}was-{wish}", "2023-01-01", body("Was", asking(wish)))
                for wish in ASKING
            ),
            Visit(f"{HOME}was-header", "2023-01-01", FIRST, headers=HEADER),
            Visit("https://noai.example/", "2023-01-01", FIRST),
        ],
    )
    archive(
        opened, [Visit(HOME, "2023-02-01", FIRST), Visit(f"{HOME}gone", "2023-02-01", FIRST)], 2
    )
    store_and_parse(
        opened,
        [
            Fetched(HOME, THIRD),
            Fetched(f"{HOME}other", SECOND),
            Fetched(f"{HOME}hostile", body(EVIL.replace("<", "&lt;"))),
            Fetched(f"{HOME}new", THIRD),
            Fetched(f"{HOME}restyled", SECOND + b"<!-- other styles -->"),
            Fetched(f"{HOME}excluded", SECOND),
            Fetched("https://noai.example/", body("Now", asking("noai"))),
            *(Fetched(f"{HOME}{wish}", body("Now", asking(wish))) for wish in ASKING),
            *(Fetched(f"{HOME}was-{wish}", SECOND) for wish in (*ASKING, "header")),
        ],
        round_=3,
    )
    put_pages(opened, {f"{HOME}excluded": "excluded"})
    return opened


HEADER = ((b"Content-Type", b"text/html"), (b"X-Robots-Tag", b"noarchive"))


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def diff(client: httpx.Client, url: str = HOME, **given: str) -> dict[str, Any]:
    answer = client.get("/api/v1/diff", params={"url": url, **given})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def changed(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The differing pieces of both sides."""
    return [
        ("".join(row["old"][1::2]).strip(), "".join(row["new"][1::2]).strip())
        for row in found["rows"]
        if row["kind"] not in ("same", "skipped")
    ]


def test_versions_are_bodies_with_the_time_in_which_they_were_seen(client: httpx.Client) -> None:
    found = diff(client)["versions"]
    seen = [(version["fetched_ms"], version["seen_ms"]) for version in found]
    days = [
        *(("2023-01-01", "2023-01-04"), ("2023-01-08", "2023-01-08"), ("2023-02-01", "2023-02-01")),
    ]
    assert seen[:3] == [(day_ms(first), day_ms(last)) for first, last in days]
    assert len(seen) == 4
    assert found[0]["digest"] == found[2]["digest"] != found[1]["digest"]


def test_the_newest_version_is_compared_with_the_one_before(client: httpx.Client) -> None:
    found = diff(client)
    assert changed(found) == [("red", "green and blue")]
    assert (found["removed"], found["added"]) == (1, 3)


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"from": "2023-01-08", "to": "2023-01-31"}, []),
        ({"from": "2023-01-07", "to": "2023-01-08"}, [("red", "green")]),
        ({"from": "2023-01-20"}, [("", "and blue")]),
        ({"from": "2000-01-01", "to": "2023-01-20T00:00:00Z"}, [("red", "green")]),
        ({"from": "20230108000000", "to": "20230201000000"}, [("green", "red")]),
        ({"from": "2023-01-07T23:59:59+01:00", "to": "2023-01-10"}, [("red", "green")]),
        ({"to": "2000-01-01"}, []),
        ({"from": "2030-01-01"}, []),
        ({"from": "2030-01-01", "to": "2023-01-08"}, []),
    ],
)
def test_versions_are_those_of_two_times(
    client: httpx.Client, given: dict[str, str], seen: list[tuple[str, str]]
) -> None:
    assert changed(diff(client, **given)) == seen


@pytest.mark.parametrize(
    "text", ["x", "2023-13-01", "2023-02-30", "9" * 14, "9" * 40, "２０２３-０１-０１"]
)
def test_what_is_not_a_time_is_refused(client: httpx.Client, text: str) -> None:
    for name in ("from", "to"):
        assert client.get("/api/v1/diff", params={"url": HOME, name: text}).status_code == 400


@pytest.mark.parametrize("name", REFUSED)
def test_a_page_that_must_not_be_shown_has_no_versions(client: httpx.Client, name: str) -> None:
    for path in ("/api/v1/diff", "/diff"):
        for times in ({}, {"from": "2023-01-01", "to": "2023-01-02"}):
            answer = client.get(path, params={"url": f"{HOME}{name}", **times})
            assert answer.status_code == 403
            assert "red" not in answer.text


@pytest.mark.parametrize("name", [f"was-{wish}" for wish in (*ASKING, "header")])
def test_a_version_that_asked_for_it_is_not_shown(client: httpx.Client, name: str) -> None:
    answer = client.get("/api/v1/diff", params={"url": f"{HOME}{name}"})
    assert answer.status_code == 403
    assert "2023-01-01" in answer.json()["detail"]
    newest = diff(client, f"{HOME}{name}", **{"from": LATER, "to": LATER})
    assert newest["old"] == newest["new"]


def test_texts_that_must_not_be_input_of_ai_are_for_people_only(client: httpx.Client) -> None:
    answer = client.get("/api/v1/diff", params={"url": "https://noai.example/"})
    assert (answer.status_code, PROSE in answer.text) == (403, False)
    assert "ai-input=no" in answer.json()["detail"]
    page = client.get("/diff", params={"url": "https://noai.example/"})
    assert page.status_code == 200


def test_what_the_crawl_does_not_hold_is_not_found(client: httpx.Client) -> None:
    for url in (f"{HOME}gone", f"{HOME}unknown", "nonsense"):
        assert client.get("/api/v1/diff", params={"url": url}).status_code == 404


def test_both_versions_are_shown_side_by_side(client: httpx.Client) -> None:
    page = dom(client, "/diff", url=HOME)
    assert one(page, "del").text() == "red"
    assert one(page, "ins").text() == "green and blue"
    chosen = [each.text() for each in page.css("select option[selected]")]
    assert chosen == ["2023-02-01 00:00:00", "2023-11-14 22:13:20"]
    assert len(page.css("select[name=from] option")) == 4
    known = dom(client, "/page", url=HOME)
    assert [each.text() for each in known.css(".address a")][:3] == [HOME, "Stored copy", "Changes"]


def test_pages_say_if_nothing_changed(client: httpx.Client) -> None:
    assert "holds one version" in one(dom(client, "/diff", url=f"{HOME}new"), ".note").text()
    times: dict[str, Any] = {"from": LATER, "to": LATER}
    same = dom(client, "/diff", url=HOME, **times)
    assert "are the same" in one(same, ".note").text()


def test_words_of_strangers_stay_words(client: httpx.Client) -> None:
    page = dom(client, "/diff", url=f"{HOME}hostile")
    assert EVIL in one(page, ".diff").text()
    assert page.css(".diff script, .diff b") == []


def test_changed_pages_of_a_site_are_listed(work: Workspace) -> None:
    crawl = Crawl(work)
    since = list(crawl.versions.changed("Example.org", "2023-10-01"))
    listed = {each.url.removeprefix(HOME): each for each in since}
    assert set(listed) == {"", "hostile", "new"}
    assert (listed[""].kind, listed[""].removed, listed[""].added) == ("changed", 1, 3)
    assert listed["new"].kind == "new"
    assert list(crawl.versions.changed("example.org", "2024-01-01")) == []
    assert list(crawl.versions.changed("example", "2023-01-01")) == []


def test_a_page_whose_text_is_the_same_again_has_not_changed(work: Workspace) -> None:
    since = Crawl(work).versions.changed("example.org", "2023-01-02")
    assert f"{HOME}other" not in {each.url for each in since if each.kind == "changed"}


def test_the_command_prints_lines(work: Workspace) -> None:
    told = gossamer("diff", work.root, HOME).stdout.splitlines()
    assert told[1] == "2023-02-01 00:00:00 → 2023-11-14 22:13:20: 1 word removed, 3 added"
    assert f"- It is red. {PROSE}" in told
    assert f"+ It is green and blue. {PROSE}" in told
    same = gossamer("diff", work.root, f"{HOME}new").stdout
    assert "fetched 2023-11-14 22:13:20, last seen 2023-11-14 22:13:20; one version is" in same
    listed = gossamer("diff", work.root, "--site", "example.org", "--from", "2023-10-01").stdout
    assert len(listed.splitlines()) == 3


def test_wrong_arguments_are_errors_with_a_remedy(work: Workspace) -> None:
    crawl = Crawl(work)
    for url, since in (("::", None), (f"{HOME}unknown", None), (HOME, "yesterday")):
        with pytest.raises(UsageError):
            crawl.versions.diff(url, since)
    for words in (
        (),
        (HOME, "--site", "a"),
        ("--site", "a"),
        ("--site", "a", "--to", "2023-01-01"),
    ):
        assert "--site" in gossamer("diff", work.root, *words, code=2).stderr


def test_a_day_begins_or_ends() -> None:
    assert parse_time("2023-01-02") == day_ms("2023-01-02")
    assert parse_time("2023-01-02", ends=True) == day_ms("2023-01-03") - 1


@pytest.mark.parametrize("ending", [".cdxj", ".warc.gz"])
@pytest.mark.parametrize("garbage", [None, b"", b"org,example)/ x {\n", bytes(range(256)) * 9])
def test_damaged_archives_are_errors_that_name_the_file(
    new_work: Callable[[], Workspace], ending: str, garbage: bytes | None
) -> None:
    work = new_work()
    archive(work, [Visit(HOME, "2023-01-01", FIRST)])
    store_and_parse(work, [Fetched(HOME, SECOND)], round_=2)
    [path] = (path for path in work.paths("warc", 1) if path.endswith(ending))
    file = Path(path)
    file.unlink() if garbage is None else file.write_bytes(garbage)
    with serving(work) as client:
        answer = client.get("/api/v1/diff", params={"url": HOME})
    if ending == ".cdxj" and garbage in (b"", bytes(range(256)) * 9):
        assert len(answer.json()["versions"]) == 1  # nothing is said of it there
    else:
        assert answer.status_code == 503
        assert file.name in answer.json()["detail"]
