from __future__ import annotations

import time
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.config import FilterConfig
from gossamer.errors import ConfigError, UsageError
from gossamer.rules import filters
from gossamer.rules.filters import Allow, Deny, Extension, Filters, Scope, UrlFilter, check

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize(
    ("url", "on_hosts", "on_domains"),
    [
        ("https://www.example.org/x", None, None),
        ("https://example.org/x", "scope", None),
        ("https://a.b.example.org/x", "scope", None),
        ("https://www.example.org:8443/x", "scope", None),
        ("https://example.com/www.example.org/", "scope", "scope"),
        ("https://notexample.org/", "scope", "scope"),
        ("http://alice.github.io/", None, None),
        ("http://bob.github.io/", "scope", "scope"),
        ("http://127.0.0.1:8080/", None, None),
        ("http://127.0.0.1/", "scope", None),
    ],
)
def test_scope(url: str, on_hosts: str | None, on_domains: str | None) -> None:
    seeds = ["www.example.org", "alice.github.io", "127.0.0.1:8080"]
    by_host, by_domain = (Scope(seeds, whole_domains=whole) for whole in (False, True))
    for _ in "known", "remembered":
        assert by_host.reject(url) == on_hosts
        assert by_domain.reject(url) == on_domains


def test_scope_remembers_a_bounded_number_of_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "MAX_REMEMBERED_HOSTS", 10)
    scope = Scope(["h1.org"], whole_domains=False)
    rejected = [scope.reject(f"http://h{n}.org/") for n in range(100)]
    assert rejected.count(None) == 1
    assert len(scope._known) <= 10


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://e.org/a.png", "extension"),
        ("https://e.org/a.PNG?x=1", "extension"),
        ("https://e.org/a.tar.gz", "extension"),
        ("https://e.org/a-xml.gz", "extension"),
        ("https://e.org/a.gz?file=sitemap.xml.gz", "extension"),
        ("https://e.org/sitemap.xml.gz", None),
        ("https://e.org/Sitemap.XML.GZ?page=2", None),
        ("https://e.org/urls.txt.gz", None),
        ("https://e.org/a.html", None),
        ("https://e.org/a?file=b.png", None),
        ("https://e.org/a.png/", None),
        ("https://e.org/png", None),
        ("https://e.org/", None),
        ("https://files.zip/", None),
    ],
)
def test_extensions(url: str, reason: str | None) -> None:
    assert Extension(["png", ".GZ", "zip"]).reject(url) == reason


@pytest.mark.parametrize(
    "path",
    [
        # wikis, by a namespace in any language, or by their folder
        "/wiki/File:Sun.jpg",
        "/wiki/%D0%A4%D0%B0%D0%B9%D0%BB%3ASun.JPG",
        "/Datei:Sonne.svg",
        "/wiki/Node.js",
        "/wiki/.zip",
        "/index.php/Sun.jpg",
        "/wiki/Sun.jpg?action=history",
        "/wiki/Sun.jpg?title=Sun&action=history",
        # tags, with queries and without
        "/questions/tagged/node.js?tab=Newest",
        "/questions/tagged/node.js",
        "/tags/three.js/",
        "/t/node.js?page=2",
        "/topics/chart.js",
        "/download/sort.zip?sort=name",
        # repositories and packages
        "/vercel/next.js",
        "/package/d3.js?activeTab=code",
        "/o/r/blob/main/img/logo.png",
        "/o/r/tree/main/x.zip",
        "/gtk.css/docs/index.css",
    ],
)
def test_a_page_about_a_file_is_not_a_file(path: str) -> None:
    assert reasons(FilterConfig(), [f"https://e.org{path}"]) == [None]


@pytest.mark.parametrize(
    "path",
    [
        "/photo.jpg",
        "/photo.jpg?w=300",
        "/a/b/photo.JPG",
        "/wiki/images/a/ab/Sun.jpg",
        "/setup.zip?v=2",
        "/main.js",
        "/static/js/app.js",
        "/node_modules/d3/d3.js",
        "/x/jquery-3.6.0.js",
        "/x/app.min.js?ver=1",
        "/x/app.0f1e2d3c4b.css",
        "/project/x.tar.gz",
    ],
)
def test_files_are_skipped(path: str) -> None:
    assert reasons(FilterConfig(), [f"https://e.org{path}"]) == ["extension"]


def test_patterns() -> None:
    allow, deny = Allow([r"/docs/", r"(?i)\.HTML$"]), Deny([r"[?&]sort=", "^http:"])
    assert allow.reject("https://e.org/docs/x") is None
    assert allow.reject("https://e.org/x.html") is None
    assert allow.reject("https://e.org/x") == "allow"
    assert deny.reject("https://e.org/?a=1&sort=up") == "deny"
    assert deny.reject("http://e.org/") == "deny"
    assert deny.reject("https://e.org/") is None


@pytest.mark.parametrize("key", ["allow", "deny"])
def test_a_bad_pattern_names_its_key(key: str) -> None:
    config = FilterConfig(allow=("(",)) if key == "allow" else FilterConfig(deny=("(",))
    with pytest.raises(ConfigError, match=rf"filter\.{key}: '\('"):
        check(config)


def reasons(config: FilterConfig, urls: Sequence[str], depth: int = 1) -> list[str | None]:
    return Filters.from_config(config, ["e.org"], plugins={}).reject_all(urls, depth)


def test_each_url_has_its_first_reason() -> None:
    config = FilterConfig(scope="host", deny=("private",), allow=("e.org",), max_depth=5)
    urls = [
        "https://e.org/",
        "https://f.org/private.png",
        "https://e.org/private.png",
        "https://e.org/private",
    ]
    assert reasons(config, urls, depth=5) == [None, "scope", "extension", "deny"]
    assert reasons(config, urls, depth=6) == ["depth"] * 4
    assert reasons(config, []) == []


def test_redirects_in_a_row_end() -> None:
    made = Filters.from_config(FilterConfig(max_redirects=2, max_depth=5), ["e.org"], plugins={})
    assert made.reject("https://e.org/", 5, hops=2) is None
    assert made.reject("https://e.org/", 5, hops=3) == "redirects"
    assert made.reject("https://e.org/", 6, hops=3) == "depth"
    assert made.reject_all(["https://e.org/", "https://f.org/"], 1, hops=3) == ["redirects"] * 2


def test_traps_are_judged_before_patterns_and_after_the_scope() -> None:
    config = FilterConfig(deny=("calendar",))
    made = Filters.from_config(config, ["e.org"], plugins={}, year=2026)
    urls = [f"https://{host}.org/calendar/{year}/1/" for host in "ef" for year in (2027, 2099)]
    assert made.reject_all(urls, 1) == ["deny", "calendar", "scope", "scope"]


def test_calendars_are_judged_from_the_year_it_is() -> None:
    made = Filters.from_config(FilterConfig(), ["e.org"], plugins={})
    this = datetime.now(UTC).year
    urls = [f"https://e.org/{year}/01/" for year in (this, this + 10)]
    assert made.reject_all(urls, 1) == [None, "calendar"]


def test_what_was_said_of_a_url_is_remembered_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filters, "REMEMBERED_URLS", 10)
    made = Filters.from_config(FilterConfig(), ["e.org"], plugins={})
    urls = [f"https://{host}.org/{n}" for n in range(100) for host in "ef"]
    for _ in "first", "second":
        assert made.reject_all(urls, 1) == [None, "scope"] * 100
    assert made._reason.cache_info().currsize == 10


def test_any_scope_and_no_extensions_let_all_pass() -> None:
    assert reasons(FilterConfig(scope="any", skip_extensions=()), ["https://f.org/a.png"]) == [None]


def test_one_url() -> None:
    made = Filters.from_config(FilterConfig(), ["e.org"], plugins={})
    assert made.reject("https://e.org/", 0) is None
    assert made.reject("https://f.org/", 0) == "scope"


class NoQuestions:
    """What a package might bring."""

    def reject(self, url: str) -> str | None:
        return "question" if "?" in url else None


class Careless:
    def reject(self, url: str) -> str | None:
        raise KeyError(url)


def install(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    found = EntryPoints(EntryPoint(name, v, filters.ENTRY_POINTS) for name, v in values.items())
    monkeypatch.setattr(filters, "entry_points", lambda group: found.select(group=group))
    monkeypatch.setattr(filters, "find_plugins", filters.find_plugins.__wrapped__)


def test_installed_filters_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, quiet=f"{__name__}:NoQuestions")
    made = Filters.from_config(FilterConfig(), ["e.org"])
    urls = ["https://e.org/?q", "https://e.org/q", "https://f.org/?q"]
    assert made.reject_all(urls, 1) == ["question", None, "scope"]


@pytest.mark.parametrize("value", [f"{__name__}:missing", "no.such.module:x", "builtins:object"])
def test_an_unusable_plugin_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    install(monkeypatch, theirs=value)
    with pytest.raises(ConfigError, match="filter theirs"):
        check(FilterConfig())


def test_a_plugin_that_fails_is_named_with_the_url() -> None:
    made = Filters.from_config(FilterConfig(), ["e.org"], plugins={"theirs": Careless()})
    with pytest.raises(UsageError, match=r"filter theirs: failed on https://e\.org/x"):
        made.reject_all(["https://e.org/x"], 1)


def test_a_plugin_s_own_message_reaches_the_user_as_it_is() -> None:
    class Unlicensed:
        def reject(self, url: str) -> str | None:
            raise ConfigError("their.key", f"is missing, for {url}", "ask them for one")

    made = Filters.from_config(FilterConfig(), ["e.org"], plugins={"theirs": Unlicensed()})
    with pytest.raises(ConfigError, match=r"their\.key: is missing, for https"):
        made.reject_all(["https://e.org/x"], 1)


@pytest.mark.parametrize("builtin", [Scope([], whole_domains=True), Extension([]), Deny([])])
def test_the_built_in_ones_are_filters_too(builtin: Any) -> None:
    assert isinstance(builtin, UrlFilter)


def test_a_long_url_without_a_dot_costs_no_more() -> None:
    urls = [f"https://e.org/{'x' * 1_900}{n}" for n in range(10_000)]
    start = time.process_time()
    assert set(reasons(FilterConfig(), urls)) == {None}
    assert time.process_time() - start < 1
