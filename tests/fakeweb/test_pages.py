"""The answers of synthetic hosts, without a server."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.fakeweb import Answer, Mix, Web
from gossamer.fakeweb.link_makers import LINKS
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.special_urls import HANDLERS
from gossamer.fakeweb.vocabulary import VOCABULARIES

WEB = Web(seed=3, hosts=40, pages_per_host=12, page_bytes=3000)


class Links(HTMLParser):
    """Extracts links with the standard library, independently of Gossamer."""

    def __init__(self, body: bytes, url: str) -> None:
        super().__init__()
        self.base = url
        self.found: list[str] = []
        self.lang = ""
        self.feed(body.decode("utf-8", "replace"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "html":
            self.lang = values.get("lang") or ""
        if tag == "a":
            url = urldefrag(urljoin(self.base, values["href"] or "")).url
            self.found.append(url)


def get(web: Web, url: str, **headers: str) -> Answer:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.answer(parts.netloc, target, named)


def walk(web: Web, limit: int = 20_000) -> dict[str, Answer]:
    """Return every http URL that links and redirects reach from the seeds."""
    answers: dict[str, Answer] = {}
    todo = web.seeds()
    while todo and len(answers) < limit:
        url = todo.pop()
        if url in answers or not url.startswith("http:"):
            continue
        answer = answers[url] = get(web, url)
        if location := answer.header("Location"):
            todo.append(urljoin(url, location))
        elif answer.header("Content-Type").startswith("text/html"):
            todo += Links(answer.body, url).found
    return answers


def find(web: Web, trait: str) -> str:
    """Return the first host with a trait."""
    return next(
        host.name for host in map(web._hosts.host, range(web._hosts.count)) if getattr(host, trait)
    )


@pytest.mark.server
def test_same_seed_same_bytes_in_another_process() -> None:
    script = (
        "from gossamer.fakeweb import Web;import hashlib,sys;w=Web(seed=3,hosts=40,"
        "pages_per_host=12,page_bytes=3000);d=hashlib.sha256()\n"
        "for h in w.hosts():\n for u in w.urls(h): d.update(u.encode()+"
        "w.answer(h,u.removeprefix('http://'+h)).body)\nprint(d.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(digests) == 1


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    urls = [url for host in WEB.hosts() for url in WEB.urls(host)]
    forward = {url: get(WEB, url).body for url in urls}
    again = Web(seed=3, hosts=40, pages_per_host=12, page_bytes=3000, cache_bytes=0)
    assert {url: get(again, url).body for url in reversed(urls)} == forward


def test_another_seed_is_another_web() -> None:
    assert get(Web(seed=4), "http://site-0.test/").body != get(Web(), "http://site-0.test/").body


def test_settings_make_the_same_web() -> None:
    web = Web(seed=5, hosts=3, mix=Mix(missing=0.1))
    twin = Web.from_settings(web.settings())
    assert twin.settings() == web.settings()
    assert get(twin, "http://site-0.test/").body == get(web, "http://site-0.test/").body


def test_every_page_is_reachable_and_nothing_else_is_on_a_plain_web() -> None:
    web = Web(seed=3, hosts=40, pages_per_host=12, page_bytes=3000, mix=Mix.plain())
    reached = walk(web)
    assert {answer.status for answer in reached.values()} == {200}
    assert set(reached) == {url for host in web.hosts() for url in web.urls(host)}
    assert len(reached) == web.size()


def test_a_mixed_web_reaches_every_page_and_all_kinds_of_oddness() -> None:
    web = Web(seed=3, hosts=40, pages_per_host=12, page_bytes=3000, mix=Mix(calendars=0))
    reached = walk(web)
    assert {url for host in web.hosts() for url in web.urls(host)} <= set(reached)
    assert {answer.status for answer in reached.values()} == {200, 301, 302, 404, 410, 500}


@pytest.mark.parametrize("kind", sorted(set(LINKS) - {"across"}))
def test_each_rate_makes_its_links_at_that_rate(kind: str) -> None:
    none = dict.fromkeys(Mix().link_shares(), 0.0)
    web = Web(hosts=1, pages_per_host=200, mix=Mix(**(none | {kind: 0.5})))
    plain = Web(hosts=1, pages_per_host=200, mix=Mix(**none))
    home = get(web, "http://site-0.test/").body
    marks = {
        "missing": b"/missing/",
        "gone": b"/gone/",
        "failing": b"/failing/",
        "redirects": b"/go/",
        "copies": b"/copy/",
        "near_copies": b"/near/",
        "texts": b"/notes/",
        "tracked": b"utm_source",
        "sessions": b"PHPSESSID=",
        "fragments": b"#part",
        "dotted": b"/./a",
        "uppercase": b"HTTP://",
        "nofollow": b'rel="nofollow"',
        "unfetchable": b">@</a>",
    }
    drawn = home.count(b"<a ") - 1 - 16
    assert 0.2 * drawn < home.count(marks[kind]) < 0.8 * drawn
    assert marks[kind] not in get(plain, "http://site-0.test/").body


def test_titles_are_unique_and_anchors_carry_them() -> None:
    titles = [WEB.title(host, n) for host in WEB.hosts() for n in range(WEB.size(host))]
    assert len(set(titles)) == WEB.size()
    body = get(WEB, "http://site-0.test/").body.decode()
    assert f">{WEB.title('site-0.test', 1)}</a>" in body
    assert f"<title>{WEB.title('site-0.test', 0)}</title>" in body


def test_sizes_are_zipfian_around_the_mean() -> None:
    web = Web(hosts=1000, pages_per_host=50)
    sizes = sorted(map(web.size, web.hosts()))
    assert 48_000 < web.size() < 52_000
    assert sizes[-1] > 3000
    assert sizes[len(sizes) // 2] < 25
    assert web.size("site-0.test") == sizes[-1]


def test_a_million_hosts_cost_nothing() -> None:
    web = Web(hosts=1_000_000)
    host = web._hosts.name(987_654)
    assert get(web, f"http://{host}/").status == 200


def test_host_names_are_their_own_and_bare_names_redirect() -> None:
    names = list(WEB.hosts())
    assert len(set(names)) == 40
    www = next(name for name in names if name.startswith("www."))
    answer = get(WEB, f"http://{www.removeprefix('www.')}/a?b=c")
    assert (answer.status, answer.header("Location")) == (301, f"http://{www}/a?b=c")
    for stranger in ("site-40.test", "example.com", "", "blog-1.site-999.test", "site-0.test.evil"):
        assert WEB.answer(stranger, "/").status == 404
    assert WEB.answer("SITE-0.TEST.:8081", "/").status == 200


@pytest.mark.parametrize("page_bytes", [3000, 20_000, 90_000])
def test_pages_have_the_size_and_links_asked_for(page_bytes: int) -> None:
    web = Web(hosts=10, page_bytes=page_bytes)
    bodies = [get(web, url).body for url in list(web.urls("site-0.test"))[:150]]
    assert 0.85 < sum(map(len, bodies)) / len(bodies) / page_bytes < 1.15
    links = sum(body.count(b"<a ") for body in bodies) / len(bodies)
    assert 0.8 < links / (page_bytes / 300) < 1.3


def test_languages_are_declared_and_written() -> None:
    web = Web(hosts=200, pages_per_host=2, mix=Mix.plain())
    seen = set()
    for host in web.hosts():
        body = get(web, f"http://{host}/").body
        lang = Links(body, "").lang
        seen.add(lang)
        first = VOCABULARIES[lang].function[0]
        assert first in body.decode()
    assert seen == set(VOCABULARIES)


def test_robots_files_say_what_the_host_is() -> None:
    web = Web(hosts=100)
    private, delayed, without = (
        find(web, trait) for trait in ("private", "crawl_delay", "no_robots")
    )
    assert WEB.answer("site-0.test", "/robots.txt").body == b"User-agent: *\nDisallow:\n"
    assert get(web, f"http://{without}/robots.txt").status == 404
    assert b"Disallow: /private/\n" in get(web, f"http://{private}/robots.txt").body
    assert b"Crawl-delay: 0.2\n" in get(web, f"http://{delayed}/robots.txt").body
    assert b"/private/1" in get(web, f"http://{private}/").body
    assert get(web, f"http://{private}/private/1").status == 200
    assert get(web, "http://site-0.test/private/1").status == 404


def test_redirect_chains_end_and_loops_do_not() -> None:
    url = "http://site-0.test/go/4/5"
    statuses = []
    while location := (answer := get(WEB, url)).header("Location"):
        statuses.append(answer.status)
        url = urljoin(url, location)
    assert (statuses, answer.status) == ([302, 302, 302, 301], 200)
    assert get(WEB, "http://site-0.test/go/9/5").status == 404
    web = Web(hosts=200)
    loop = find(web, "loop")
    seen = [f"http://{loop}/loop/1"]
    for _ in range(3):
        seen.append(urljoin(seen[-1], get(web, seen[-1]).header("Location")))
    assert seen[3] == seen[0]


def test_copies_are_identical_and_near_copies_nearly() -> None:
    url = list(WEB.urls("site-0.test"))[5]
    page, copy, near = (
        get(WEB, u).body for u in (url, "http://site-0.test/copy/5", "http://site-0.test/near/5")
    )
    assert page == copy
    assert near != page
    same = set(page.split(b". ")) & set(near.split(b". "))
    assert len(same) > 0.7 * len(page.split(b". "))


def test_the_calendar_never_ends() -> None:
    web = Web(hosts=200)
    url = f"http://{find(web, 'calendar')}/calendar/2024/1/"
    seen = set()
    for step in range(60):
        seen.add(url)
        onward = Links(get(web, url).body, url).found
        assert len(onward) == 2
        url = onward[step % 2]
    assert len(seen) == 60


def test_slow_hosts_wait_for_the_latency() -> None:
    web = Web(hosts=10, mix=Mix(slow=1), latency_s=0.25)
    assert get(web, "http://site-3.test/").delay_s == 0.25
    assert get(web, "http://site-0.test/").delay_s == 0


def test_charsets_are_declared_rightly_or_wrongly_on_purpose() -> None:
    legacy = Web(hosts=60, pages_per_host=4, mix=Mix(legacy_charsets=1, wrong_charsets=0))
    charsets = set()
    for host in legacy.hosts():
        for url in legacy.urls(host):
            answer = get(legacy, url)
            charset = answer.header("Content-Type").partition("charset=")[2]
            charsets.add(charset)
            assert f'<meta charset="{charset}">' in answer.body.decode(charset)
    assert {"windows-1251", "shift_jis", "utf-16", "iso-8859-1", "gb18030"} <= charsets
    wrong = Web(hosts=60, pages_per_host=4, mix=Mix(wrong_charsets=1))
    for host in wrong.hosts():
        answer = get(wrong, f"http://{host}/")
        named = answer.header("Content-Type").partition("charset=")[2]
        assert f'<meta charset="{named}">'.encode() not in answer.body


def test_conditional_requests() -> None:
    url = "http://site-0.test/"
    fresh = get(WEB, url)
    tag, date = fresh.header("ETag"), fresh.header("Last-Modified")
    for headers in (
        {"if_none_match": tag},
        {"if_none_match": f'"x", W/{tag}'},
        {"if_none_match": "*"},
        {"if_modified_since": date},
    ):
        answer = get(WEB, url, **headers)
        assert (answer.status, answer.body, answer.header("ETag")) == (304, b"", tag)
        assert b"Content-Length" not in answer.head
    for headers in (
        {"if_none_match": '"x"', "if_modified_since": date},
        {"if_modified_since": "Mon, 01 Jan 1990 00:00:00 GMT"},
        {"if_modified_since": "no date"},
        {"if_modified_since": "Mon, 01 Jan 2024 00:00:00"},
    ):
        assert get(WEB, url, **headers).status == 200
    assert get(WEB, "http://site-0.test/gone/1", if_none_match="*").status == 410


def test_only_one_path_leads_to_a_page() -> None:
    for url in list(WEB.urls("site-0.test"))[1:20]:
        assert get(WEB, url).status == 200
        assert get(WEB, url.replace("site-0.test/", "site-0.test/x")).status == 404
        tracked = url + ("&" if "?" in url else "?") + "utm_source=letter"
        assert get(WEB, tracked).body == get(WEB, url).body


def test_no_folder_of_pages_has_the_name_of_an_oddity() -> None:
    for language in VOCABULARIES:
        assert not set(prose(language).slugs) & set(HANDLERS)


@given(
    st.text(),
    st.one_of(
        st.text(),
        st.sampled_from(sorted(HANDLERS)).flatmap(
            lambda first: st.lists(
                st.one_of(st.text(max_size=5), st.integers().map(str)), max_size=4
            ).map(lambda rest: "/" + "/".join([first, *rest]))
        ),
    ),
)
def test_any_host_and_target_has_an_answer(host: str, target: str) -> None:
    assert WEB.answer(host, target).status in {404, 200, 301, 302, 410, 500}
    assert WEB.answer("site-1.test", target).status in {404, 200, 301, 302, 410, 500}


def test_the_cache_stays_within_its_bytes() -> None:
    web = Web(hosts=5, page_bytes=20_000, cache_bytes=100_000)
    assert 0 < web.warm() < 10
    for url in web.urls("site-0.test"):
        get(web, url)
    assert web._cache.used_bytes <= 100_000
    assert len(web._cache) > 1


def test_settings_that_make_no_sense_say_so() -> None:
    for bad in ({"hosts": -1}, {"page_bytes": 10}, {"seed": -1}, {"pages_per_host": 0}):
        with pytest.raises(UsageError):
            Web(**bad)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        Mix(missing=2)
    with pytest.raises(UsageError):
        Mix(missing=0.6, gone=0.6)
    with pytest.raises(UsageError):
        WEB.size("example.com")


def test_a_web_of_folders_only() -> None:
    assert list(Web(hosts=0).hosts()) == []
    assert Web(hosts=0).seeds() == []
    assert Web(hosts=0).answer("site-0.test", "/").status == 404
