"""Folders as hosts: simple rules, and no access outside the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.fakeweb import Web, doc_folders
from gossamer.fakeweb.folders import Folder, content_type, folder_host, host_name
from gossamer.web.urls import domain_of


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    root = tmp_path / "manual"
    (root / "part one").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "index.html").write_bytes(b"<title>Home</title>")
    (root / "part one" / "index.html").write_bytes(b"<title>One</title>")
    (root / "part one" / "straße.html").write_bytes(b"<title>Street</title>")
    (root / "style.css").write_bytes(b"p {}")
    (root / "notes.txt.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "secret.html").write_bytes(b"secret")
    (tmp_path / "manual-2").mkdir()
    (tmp_path / "manual-2" / "index.html").write_bytes(b"secret")
    (root / "out").symlink_to(tmp_path / "secret.html")
    (root / "sibling").symlink_to(tmp_path / "manual-2")
    (root / "again").symlink_to(root / "part one")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    return root


def test_files_folders_and_what_is_not_there(manual: Path) -> None:
    folder = Folder(manual)
    expected = {
        "/": (200, "text/html"),
        "/index.html": (200, "text/html"),
        "/style.css?v=3": (200, "text/css"),
        "/notes.txt.gz": (200, "application/gzip"),
        "/part%20one/": (200, "text/html"),
        "/part%20one/stra%C3%9Fe.html": (200, "text/html"),
        "/part%20one": (301, "text/plain; charset=utf-8"),
        "/again/": (200, "text/html"),
        "/empty/": (404, "text/plain; charset=utf-8"),
        "/pipe": (404, "text/plain; charset=utf-8"),
        "/loop": (404, "text/plain; charset=utf-8"),
        "/index.html/": (404, "text/plain; charset=utf-8"),
        "/nothing": (404, "text/plain; charset=utf-8"),
        "/" + 300 * "x": (404, "text/plain; charset=utf-8"),
    }
    got = {target: folder.answer(target, {}) for target in expected}
    assert {t: (a.status, a.header("Content-Type")) for t, a in got.items()} == expected
    assert got["/part%20one"].header("Location") == "/part%20one/"
    assert got["/part%20one/"].body == b"<title>One</title>"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.html",
        "/%2e%2e/secret.html",
        "/part%20one/../../secret.html",
        "/..%2fsecret.html",
        "/%2e%2e%2fsecret.html",
        "/out",
        "/sibling/",
        "/sibling/index.html",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/index.html%00.txt",
        "/./index.html",
        "secret.html",
        "",
    ],
)
def test_nothing_outside_is_served(manual: Path, target: str) -> None:
    assert Folder(manual).answer(target, {}).status == 404


@given(
    target=st.lists(
        st.sampled_from(["..", "%2e", "/", "%2F", "%", "out", "secret.html", "\\"]) | st.text()
    )
)
def test_no_target_raises_or_leaks(
    target: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.getbasetemp() / "fuzzed"
    (base / "root").mkdir(parents=True, exist_ok=True)
    (base / "secret.html").write_bytes(b"secret")
    answer = Folder(base / "root").answer("/" + "".join(target), {})
    assert answer.status in {301, 404}


def test_a_changed_file_has_a_new_tag_and_an_unchanged_one_is_304(manual: Path) -> None:
    folder = Folder(manual)
    first = folder.answer("/", {})
    known = {"if-none-match": first.header("ETag")}
    assert folder.answer("/", known).status == 304
    assert folder.answer("/", {"if-modified-since": first.header("Last-Modified")}).status == 304
    (manual / "index.html").write_bytes(b"<title>New home</title>")
    assert folder.answer("/", known).body == b"<title>New home</title>"


def test_types_do_not_depend_on_the_machine() -> None:
    types = {name: content_type(name) for name in ("a.HTML", "a.tar.gz", "a.zzz", "a:b.html")}
    assert types == {
        "a.HTML": "text/html",
        "a.tar.gz": "application/gzip",
        "a.zzz": "application/octet-stream",
        "a:b.html": "text/html",
    }


def test_folders_are_hosts_of_a_web(manual: Path) -> None:
    web = Web(hosts=0, docs={"Manual.Test": manual, "two.test": manual / "part one"})
    assert list(web.hosts()) == ["manual.test", "two.test"]
    assert web.seeds() == ["http://manual.test/", "http://two.test/"]
    assert web.answer("manual.test:80", "/").body == b"<title>Home</title>"
    (manual / "part one" / "index.html").unlink()
    assert web.seeds()[1] == "http://two.test/stra%C3%9Fe.html"


def test_doc_folders_finds_one_host_for_a_package(tmp_path: Path) -> None:
    for path in (
        "alpha/html/index.html",
        "alpha/html/deep/index.html",
        "beta/html/de-DE/index.html",
        "beta/html/en-US/index.html",
        "gamma/page.html",
        "libfoo++/api.html",
        "none/README.txt",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    (tmp_path / "alpha-doc").mkdir()
    (tmp_path / "alpha-doc" / "html").symlink_to(tmp_path / "alpha" / "html")
    (tmp_path / "gamma" / "self").symlink_to(tmp_path / "gamma")
    found = doc_folders(tmp_path)
    assert {name: path.relative_to(tmp_path).as_posix() for name, path in found.items()} == {
        "alpha-docs.test": "alpha/html",
        "beta-docs.test": "beta/html/en-US",
        "gamma-docs.test": "gamma",
        "libfoo-docs.test": "libfoo++",
    }
    assert len(doc_folders(tmp_path, limit=2)) == 2
    assert doc_folders(tmp_path / "nowhere") == {}


def test_each_manual_is_a_domain_of_its_own(tmp_path: Path) -> None:
    for package in ("python3-11", "python3.11", 60 * "long"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "index.html").write_bytes(b"x")
    names = [*doc_folders(tmp_path)]
    assert names[1:] == ["python3-11-docs.test", "python3-11-docs-2.test"]
    assert [domain_of(f"http://{name}/") for name in names] == names


def test_names_of_folders() -> None:
    assert folder_host(Path("/usr/share/doc/python3.11/html")) == "python3-11-html-docs.test"
    assert folder_host(Path("/srv/My Manual")) == "my-manual-docs.test"
    assert host_name("A_b..C.test") == "a-b.c.test"
    with pytest.raises(UsageError):
        host_name("---")
    with pytest.raises(UsageError):
        Folder(Path("/nowhere/at/all"))
