from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.config import FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch import scheme_fetchers
from gossamer.fetch.exchange import DETAIL_CHARS, FetchResult, Request
from gossamer.fetch.network.allowed_networks import Networks
from gossamer.fetch.network.cached_resolver import Resolver
from gossamer.fetch.scheme_fetchers import Fetchers
from gossamer.web.urls import UrlRules
from tests.support.loopback import Loopback, page
from tests.support.plugin_packages import install_documented

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

LIMIT = 10_000


def config(port: int = 1, **settings: Any) -> FetchConfig:
    local: dict[str, Any] = {
        "allow_networks": ("127.0.0.0/8",),
        "host_overrides": {"*.test": f"127.0.0.1:{port}"},
    }
    return FetchConfig(**local | settings)


def fetch(settings: FetchConfig, allowed: tuple[str, ...], *urls: str) -> list[FetchResult]:
    async def run() -> list[FetchResult]:
        async with Fetchers.open(settings, UrlRules(schemes=allowed)) as fetchers:
            return [await fetchers.fetch(Request(url, LIMIT)) for url in urls]

    return asyncio.run(run())


class Plugin:
    """A fetcher that does what a test says, and tells what was done to it."""

    given: tuple[object, ...] = ()
    entered = left = 0

    def __init__(self, *given: object) -> None:
        type(self).given = given

    async def __aenter__(self) -> Self:
        type(self).entered += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        type(self).left += 1

    async def fetch(self, request: Request) -> FetchResult:
        return FetchResult("ok", 0, body=request.url.encode())


def use(monkeypatch: pytest.MonkeyPatch, *made: Callable[..., object], name: str = "x") -> None:
    """Install fetchers for a scheme."""

    class Entry(EntryPoint):
        def load(self) -> object:
            return made[int(self.value)]

    entries = EntryPoints(
        Entry(name, str(number), scheme_fetchers.ENTRY_POINTS) for number in range(len(made))
    )
    monkeypatch.setattr(scheme_fetchers, "entry_points", entries.select)


def test_each_scheme_has_its_fetcher(server: Loopback, tmp_path: Path) -> None:
    server.answers["/page"] = page(b"http")
    (tmp_path / "page").write_text("file")
    settings = config(server.port, file_folders=(str(tmp_path),))
    urls = ["http://a.test/page", f"file://{tmp_path}/page"]
    answers = fetch(settings, ("http", "file"), *urls)
    assert [answer.body for answer in answers] == [b"http", b"file"]


@pytest.mark.parametrize("url", ["http://a.test/", "ftp://a.test/", "file:///etc/passwd", "x://h/"])
def test_a_scheme_that_is_not_crawled_any_more(url: str) -> None:
    (answer,) = fetch(config(), ("https",), url)
    assert (answer.outcome, answer.body) == ("forbidden_address", b"")
    assert answer.detail == f"{url.partition(':')[0]} is not in urls.schemes"


def test_files_need_folders() -> None:
    with pytest.raises(ConfigError, match=r"fetch\.file_folders"):
        fetch(config(), ("http", "file"))


def test_where_hosts_are() -> None:
    async def locate(allowed: tuple[str, ...], host: str) -> str | None:
        async with Fetchers.open(
            config(file_folders=("/tmp",)),  # noqa: S108  # nothing is read
            UrlRules(schemes=allowed),
        ) as fetchers:
            return await fetchers.locate(host)

    assert asyncio.run(locate(("http",), "a.test")) == "127.0.0.1"
    assert asyncio.run(locate(("http", "file"), "a.test:8080")) == "127.0.0.1"
    assert asyncio.run(locate(("http",), "127.0.0.3")) == "127.0.0.3"
    assert asyncio.run(locate(("http", "file"), "localhost")) is None


def test_a_plugin_fetches_its_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(Plugin):
        pass

    use(monkeypatch, Mine)
    settings = config()
    answers = fetch(settings, ("http", "x"), "x://h/a", "x://h/b")
    assert [answer.body for answer in answers] == [b"x://h/a", b"x://h/b"]
    assert (Mine.entered, Mine.left) == (1, 1)
    assert Mine.given[:2] == (settings, UrlRules(schemes=("http", "x")))
    assert isinstance(Mine.given[2], Networks)
    assert isinstance(Mine.given[3], Resolver)


def test_a_plugin_that_no_scheme_names_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, lambda *_: pytest.fail("made"))
    assert fetch(config(), ("http",)) == []


@pytest.mark.parametrize("scheme", ["http", "https", "file"])
def test_no_plugin_takes_over_what_is_built_in(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    use(monkeypatch, lambda *_: pytest.fail("made"), name=scheme)
    assert fetch(config(file_folders=("/",)), (scheme,)) == []


class Failing(Plugin):
    async def __aenter__(self) -> Self:
        raise ValueError("no key")


class Mute(Plugin):
    fetch = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (Failing, "no key"),
        (Mute, "does not return a Fetcher"),
        (lambda *_: None, "asynchronous context manager"),
        (lambda: None, "takes 0 positional arguments"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
        (None, "not callable"),
    ],
)
def test_a_broken_plugin_is_named(monkeypatch: pytest.MonkeyPatch, made: Any, why: str) -> None:
    use(monkeypatch, made)
    who = r"fetcher x \(entry point in gossamer\.fetchers\): cannot be used: "
    with pytest.raises(ConfigError, match=f"{who}.*{why}"):
        fetch(config(), ("http", "x"))


@pytest.mark.parametrize(
    ("made", "what"),
    [
        ([], "no installed package provides a fetcher for this scheme"),
        ([Plugin, Plugin], "several installed packages provide a fetcher for this scheme: 0, 1"),
    ],
)
def test_a_scheme_has_one_fetcher(monkeypatch: pytest.MonkeyPatch, made: Any, what: str) -> None:
    use(monkeypatch, *made)
    with pytest.raises(ConfigError, match=f"urls.schemes: 'x': {what}"):
        fetch(config(), ("x",))


@pytest.mark.parametrize(
    "answer",
    [None, "text", FetchResult("nothing like this", 0)],
    ids=["none", "text", "outcome"],
)
def test_what_a_plugin_gives_is_checked(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    class Wrong(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            return answer  # type: ignore[no-any-return]

    use(monkeypatch, Wrong)
    (found,) = fetch(config(), ("x",), "x://h/")
    assert found.outcome == "broken"
    assert (found.detail or "").startswith("fetcher x: TypeError")


def test_a_plugin_s_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Long(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            return FetchResult("ok", 0, body=bytes(LIMIT + 1))

    use(monkeypatch, Long)
    (answer,) = fetch(config(), ("x",), "x://h/")
    assert (answer.body, answer.truncated) == (bytes(LIMIT), True)


def test_an_exception_of_a_plugin_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Raising(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            raise ValueError("no \ud800 key")

        async def __aexit__(self, *_: object) -> None:
            raise ValueError("not closed")

    use(monkeypatch, Raising)
    (answer,) = fetch(config(), ("x",), "x://h/")
    assert (answer.outcome, answer.body) == ("broken", b"")
    assert (answer.detail or "").startswith("fetcher x: ValueError('no ")
    assert (answer.detail or "").encode()  # it can be stored


def test_a_plugin_that_gets_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    class Raising(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            raise ConnectionRefusedError(111, "Connection refused")

    use(monkeypatch, Raising)
    (answer,) = fetch(config(), ("x",), "x://h/")
    assert answer.outcome == "unreachable"


def test_a_plugin_s_detail_is_short_and_can_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Talkative(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            return FetchResult("refused", 0, detail="\ud800 no" * 1_000)

    use(monkeypatch, Talkative)
    (answer,) = fetch(config(), ("x",), "x://h/")
    assert (answer.detail or "").startswith("? no")
    assert len((answer.detail or "").encode()) == DETAIL_CHARS


def test_a_plugin_that_keeps_the_time_limit_itself_returns_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Punctual(Plugin):
        async def fetch(self, _: Request) -> FetchResult:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    await asyncio.Event().wait()
            return FetchResult("ok", 0, body=b"half", truncated=True)

    use(monkeypatch, Punctual)
    (answer,) = fetch(config(timeout_s=0.01), ("x",), "x://h/")
    assert (answer.outcome, answer.body) == ("ok", b"half")


class Hanging(Plugin):
    async def fetch(self, _: Request) -> FetchResult:
        await asyncio.Event().wait()
        return FetchResult("ok", 0)


def test_a_plugin_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheme_fetchers, "PLUGIN_GRACE_S", 0.0)
    use(monkeypatch, Hanging)
    (answer,) = fetch(config(timeout_s=0.05), ("x",), "x://h/")
    assert (answer.outcome, answer.detail) == ("timeout", "fetcher x: not within 0.05 s")


def test_cancellation_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Hanging)

    async def run() -> None:
        async with Fetchers.open(config(), UrlRules(schemes=("x",))) as fetchers:
            task = asyncio.create_task(fetchers.fetch(Request("x://h/", LIMIT)))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


@pytest.mark.server
def test_the_documented_fetcher_fetches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_documented(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    asked: list[bytes] = []

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.write(b"hello")
        writer.close()

    async def run(*urls: str) -> list[FetchResult]:
        async with await asyncio.start_server(speak, "127.0.0.1", 0) as listening:
            settings = config(listening.sockets[0].getsockname()[1])
            async with Fetchers.open(settings, UrlRules(schemes=("gopher",))) as fetchers:
                return [await fetchers.fetch(Request(url, LIMIT)) for url in urls]

    roses, menu, split, inside = asyncio.run(
        run(
            "gopher://a.test/0/roses%20red",
            "gopher://a.test/1/",
            "gopher://a.test/0/a%0Ab",
            "gopher://10.0.0.1/0/",
        )
    )
    assert (roses.outcome, roses.body, roses.content_type) == ("ok", b"hello", "text/plain")
    assert asked == [b"/roses red\r\n"]
    assert menu.outcome == split.outcome == "refused"
    assert inside.outcome == "forbidden_address"
    assert "allow_networks" in (inside.detail or "")
