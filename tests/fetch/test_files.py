from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch import file_fetcher, file_results
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.file_fetcher import FileFetcher
from gossamer.fetch.file_results import FolderEntry, media_type, set_folder_page
from gossamer.web.urls import UrlRules, normalize, normalize_all
from tests.support.descriptors import none_left_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 10_000
RULES = UrlRules(schemes=("file",))


def url_of(path: Path | str | bytes) -> str:
    url = normalize("file://" + quote(os.fsencode(path)), None, RULES)
    assert url is not None
    return url


def fetch(request: Request | str, *folders: Path, **settings: object) -> FetchResult:
    config = FetchConfig(file_folders=tuple(map(str, folders)), **settings)  # type: ignore[arg-type]
    if isinstance(request, str):
        request = Request(request, LIMIT)
    return asyncio.run(FileFetcher(config, RULES).fetch(request))


def links(answer: FetchResult, base: str) -> list[str | None]:
    hrefs = [part.split('"')[0] for part in answer.body.decode().split('<a href="')[1:]]
    return normalize_all(hrefs, base, RULES)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """One that may be crawled. Beside it, some that may not."""
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "allowed.not").mkdir()
    (tmp_path / "allowed.not" / "page.html").write_text("secret")
    with none_left_open(tmp_path):
        yield allowed


def test_a_file(folder: Path) -> None:
    page = folder / "page.html"
    page.write_bytes(b"<p>hello")
    os.utime(page, (1_700_000_000, 1_700_000_000))
    answer = fetch(url_of(page), folder)
    assert (answer.outcome, answer.http_status, answer.detail) == ("ok", None, None)
    assert (answer.body, answer.truncated) == (b"<p>hello", False)
    assert answer.content_type == "text/html"
    assert answer.last_modified == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert dict(answer.headers) == {
        b"Content-Type": b"text/html",
        b"Content-Length": b"8",
        b"Last-Modified": b"Tue, 14 Nov 2023 22:13:20 GMT",
        b"ETag": (answer.etag or "").encode(),
    }
    assert answer.address is None
    assert answer.target == str(page)


@pytest.mark.parametrize(
    ("time_s", "date"),
    [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (1e9 + 0.9, "Sun, 09 Sep 2001 01:46:40 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (253_402_300_800, None),
        (-1e12, None),
        (float("inf"), None),
    ],
)
def test_the_date_of_a_file_has_a_year_of_four_digits(time_s: float, date: str | None) -> None:
    assert file_fetcher._http_date(time_s) == date


def test_what_did_not_change_is_not_read_again(folder: Path) -> None:
    page = folder / "page.html"
    page.write_text("first")
    first = fetch(url_of(page), folder)
    known = Request(url_of(page), LIMIT, first.etag, first.last_modified)
    again = fetch(known, folder)
    assert (again.outcome, again.etag) == ("unchanged", first.etag)
    assert fetch(known._replace(etag=None), folder).outcome == "unchanged"
    page.write_text("second, within the same second")
    assert fetch(known, folder).body == b"second, within the same second"


@pytest.mark.parametrize("size", [0, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT])
def test_a_body_is_cut_at_the_limit(folder: Path, size: int) -> None:
    (folder / "a").write_bytes(b"x" * size)
    answer = fetch(url_of(folder / "a"), folder)
    assert (answer.outcome, len(answer.body)) == ("ok", min(size, LIMIT))
    assert answer.truncated is (size > LIMIT)
    assert (b"Content-Length" in dict(answer.headers)) is (size <= LIMIT)


@pytest.mark.parametrize(("name", "kept"), [("a.pdf", 3 * LIMIT), ("a.html", LIMIT), ("a", LIMIT)])
def test_a_file_that_is_no_page_has_a_limit_of_its_own(folder: Path, name: str, kept: int) -> None:
    (folder / name).write_bytes(bytes(4 * LIMIT))
    answer = fetch(Request(url_of(folder / name), LIMIT, max_file_bytes=3 * LIMIT), folder)
    assert (len(answer.body), answer.truncated) == (kept, True)


def test_a_huge_file_costs_no_more_than_its_limit(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(10 << 30)
    answer = fetch(url_of(folder / "huge"), folder)
    assert (answer.body, answer.truncated) == (bytes(LIMIT), True)


def test_a_folder_is_a_page_of_links(folder: Path) -> None:
    for name in ("b.txt", "a b?.html", "%41#", "x:y", "<&>", "ü", "..a"):
        (folder / name).write_text(name)
    (folder / "c").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "broken").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "d").symlink_to("c")
    base = url_of(f"{folder}/")
    answer = fetch(base, folder)
    assert (answer.outcome, answer.content_type) == ("ok", "text/html; charset=utf-8")
    assert b"<&>" not in answer.body
    assert b"&lt;&amp;&gt;" in answer.body
    found = links(answer, base)
    assert found == [
        *(url_of(folder / name) for name in ("%41#", "..a", "<&>", "a b?.html", "b.txt")),
        *(url_of(f"{folder}/{name}/") for name in ("c", "d")),
        *(url_of(folder / name) for name in ("x:y", "ü")),
    ]
    for url in found:
        assert url is not None
        assert fetch(url, folder).outcome == "ok"


def test_a_folder_that_gets_a_file_has_changed(folder: Path) -> None:
    base = url_of(f"{folder}/")
    os.utime(folder, (1, 1))
    first = fetch(base, folder)
    known = Request(base, LIMIT, first.etag, first.last_modified)
    assert fetch(known, folder).outcome == "unchanged"
    (folder / "new").touch()
    assert b"new" in fetch(known, folder).body


def test_a_folder_without_its_slash_is_sent_there(folder: Path) -> None:
    answer = fetch(url_of(folder), folder)
    assert (answer.outcome, answer.redirect_url) == ("redirect", url_of(f"{folder}/"))
    (folder / "page").touch()
    assert fetch(url_of(f"{folder}/page/"), folder).outcome == "not_found"


def test_a_folder_whose_url_is_as_long_as_may_be(folder: Path) -> None:
    rules = UrlRules(schemes=("file",), max_length=len(url_of(folder)))
    if rules.max_length < 32:
        pytest.skip("short")
    config = FetchConfig(file_folders=(str(folder),))
    answer = asyncio.run(FileFetcher(config, rules).fetch(Request(url_of(folder), LIMIT)))
    assert (answer.outcome, answer.redirect_url) == ("bad_redirect", None)


def test_a_long_folder_is_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_results, "MAX_ENTRIES", 5)
    for number in range(6):
        (folder / f"{number}").touch()
        answer = fetch(url_of(f"{folder}/"), folder)
        assert answer.body.count(b"<li>") == min(number + 1, 5)
        assert answer.truncated is (number == 5)


@given(
    names=st.sets(st.binary(min_size=1, max_size=40).map(lambda name: name.replace(b"/", b"-"))),
    limit=st.integers(min_value=1, max_value=2_000),
    path=st.binary(max_size=300),
)
def test_a_folder_s_page_links_to_what_is_in_it(names: set[bytes], limit: int, path: bytes) -> None:
    names -= {b".", b".."}
    answer = FetchResult("broken", 0)
    set_folder_page(answer, path, (FolderEntry(name, is_folder=False) for name in names), limit)
    assert len(answer.body) <= limit
    whole = FetchResult("broken", 0)
    set_folder_page(whole, path, (FolderEntry(name, is_folder=False) for name in names), 1 << 20)
    assert not whole.truncated
    assert answer.truncated is (answer.body != whole.body)
    assert links(whole, "file:///f/") == [url_of(b"/f/" + name) for name in sorted(names)]


@pytest.mark.parametrize(
    "path",
    [
        "secret.txt",
        "allowed.not/page.html",
        "allowed/../secret.txt",
        "allowed/%2E%2E/secret.txt",
        "allowed/..%2Fsecret.txt",
        "",
        "nothing",
    ],
)
def test_what_is_outside_is_refused(folder: Path, path: str) -> None:
    url = normalize(f"file://{folder.parent}/{path}", None, RULES)
    assert url is not None
    for each in (url, f"file://{folder.parent}/{path}"):  # as if nobody had normalised it, too
        answer = fetch(each, folder)
        assert (answer.outcome, answer.body) == ("forbidden_address", b"")
        assert "fetch.file_folders" in (answer.detail or "")


def test_links_lead_nowhere_outside(folder: Path) -> None:
    (folder / "file").symlink_to("../secret.txt")
    (folder / "folder").symlink_to("..")
    (folder / "absolute").symlink_to("/etc/passwd")
    for path in ("file", "folder/", "folder/secret.txt", "absolute"):
        assert fetch(url_of(f"{folder}/{path}"), folder).outcome == "forbidden_address"


def test_a_folder_may_be_named_by_a_link(folder: Path) -> None:
    (folder / "a").write_text("a")
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert fetch(url_of(link / "a"), link).body == b"a"
    assert fetch(url_of(folder / "a"), Path("/")).body == b"a"


@pytest.mark.parametrize(
    ("make", "outcome"),
    [
        (lambda _: None, "not_found"),
        (lambda path: path.symlink_to(path), "refused"),
        (os.mkfifo, "refused"),
        (lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "refused"),
    ],
    ids=["none", "loop", "fifo", "socket"],
)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_what_is_no_file(folder: Path, make: Callable[[Path], None], outcome: str) -> None:
    make(folder / "a")
    answer = fetch(url_of(folder / "a"), folder)
    assert (answer.outcome, answer.body) == (outcome, b"")
    assert answer.detail


def test_devices_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", None)
    assert fetch("file:///dev/zero", Path("/dev")).outcome == "refused"


def test_a_file_that_is_swapped_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").write_text("a")
    real = os.lstat

    def swap(path: bytes) -> os.stat_result:
        found = real(path)
        if path.endswith(b"/a"):
            (folder / "b").write_text("another")
            (folder / "b").rename(folder / "a")
        return found

    monkeypatch.setattr(file_fetcher.os, "lstat", swap)  # type: ignore[attr-defined]
    answer = fetch(url_of(folder / "a"), folder)
    assert (answer.outcome, answer.body) == ("server_error", b"")


@pytest.mark.parametrize("path", ["/a%00b", "/a%0Ab", "/" + "a" * 300])
def test_odd_names(folder: Path, path: str) -> None:
    assert fetch(f"file://{folder}{path}", folder).outcome == "not_found"


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").touch()
    # Whoever runs the tests may be root, who may read all.
    monkeypatch.setattr(file_fetcher, "_open_same_file", _forbid)
    answer = fetch(url_of(folder / "a"), folder)
    assert (answer.outcome, answer.detail) == ("refused", "permission denied")


def _forbid(path: bytes, _: os.stat_result) -> None:
    raise PermissionError(13, "Permission denied", path)


def test_a_file_is_opened_without_waiting_for_it(folder: Path) -> None:
    """A pipe may have taken its place meanwhile; and no program that is started inherits it."""
    path = bytes(folder / "a")
    (folder / "a").touch()
    with file_fetcher._open_same_file(path, (folder / "a").stat()) as descriptor:
        assert not os.get_blocking(descriptor)
        assert not os.get_inheritable(descriptor)
    (folder / "a").unlink()
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").touch()
    with (
        pytest.raises(OSError, match="symbolic links"),
        file_fetcher._open_same_file(path, (folder / "a").stat()),
    ):
        pass


def test_a_file_system_that_hangs_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)

    def hang(*_: object) -> None:
        with pipe.open("rb"):
            pass

    monkeypatch.setattr(file_fetcher, "_give_file", hang)
    (folder / "a").touch()
    config = FetchConfig(file_folders=(str(folder),), timeout_s=0.05)

    async def run() -> FetchResult:
        answer = await FileFetcher(config, RULES).fetch(Request(url_of(folder / "a"), LIMIT))
        with pipe.open("wb"):  # the thread goes on
            return answer

    answer = asyncio.run(run())
    assert (answer.outcome, answer.detail) == ("timeout", "not read within 0.05 s")


@pytest.mark.parametrize("folders", [(), ("relative",), ("",), ("~",), ("/", "./x")])
def test_folders_are_named_from_the_root(folders: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.file_folders"):
        FileFetcher(FetchConfig(file_folders=folders), RULES)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (b"/a.html", "text/html"),
        (b"/a.HTM", "text/html"),
        (b"/a.txt", "text/plain"),
        (b"/a.pdf", "application/pdf"),
        (b"/a.md", "text/markdown"),
        (b"/a.html.gz", "application/gzip"),
        (b"/a.tar.xz", "application/octet-stream"),
        (b"/README", None),
        (b"/a.html/b", None),
        (b"/\xff.html", "text/html"),
        (b"", None),
    ],
)
def test_types_by_name(path: bytes, kind: str | None) -> None:
    assert media_type(path) == kind
