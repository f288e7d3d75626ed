"""Every command over every broken state: a message with the path and the remedy, no traceback."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import rich.progress  # noqa: F401  # commands cannot import it under `closed`, without permissions

from gossamer.api.crawl import Crawl
from gossamer.cli import app, main
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.index import postings
from gossamer.schedule import generate
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Holder
from tests.support.command_line import gossamer
from tests.support.pairwise import choose_covering
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.usefixtures("shared_engine")
SETTINGS = """
filter.scope = "any"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.host_overrides = {{ "*.test" = "{address}" }}
serve.processes = 1
"""
OF_A_CRAWL: dict[str, list[str]] = {
    "crawl": ["CRAWL"],
    "serve": ["CRAWL", "--port", "0"],
    "node": ["CRAWL", "--port", "0"],
    "search": ["CRAWL", "words"],
    "mcp": ["CRAWL"],
    "changes": ["CRAWL"],
    "follow": ["CRAWL", "words", "--to", "http://127.0.0.1:1/", "--secret", "OUT"],
    "status": ["CRAWL"],
    "top": ["CRAWL"],
    "export": ["CRAWL", "pages", "-o", "OUT"],
    "inspect": ["http://localhost/", "--crawl", "CRAWL", "--stored"],
    "explain": ["CRAWL", "http://localhost/"],
    "diff": ["CRAWL", "http://localhost/"],
    "verify": ["CRAWL", "http://localhost/"],
    "sections": ["CRAWL"],
    "check": ["CRAWL"],
    "pause": ["CRAWL"],
    "resume": ["CRAWL"],
    "inject": ["CRAWL", "https://example.org/"],
    "prune": ["CRAWL"],
    "harvest": ["CRAWL"],
    "reparse": ["CRAWL"],
    "generate": ["CRAWL"],
    "fetch": ["CRAWL"],
    "parse": ["CRAWL"],
    "update": ["CRAWL"],
    "invert": ["CRAWL"],
    "farms": ["CRAWL"],
    "rank": ["CRAWL"],
    "boilerplate": ["CRAWL"],
    "dedup": ["CRAWL"],
    "index": ["CRAWL"],
    "embed": ["CRAWL"],
    "postings": ["CRAWL"],
    "duplicates show": ["CRAWL", "http://localhost/"],
    "duplicates rules": ["CRAWL"],
    "duplicates test": ["CRAWL", "http://localhost/"],
    "duplicates disable": ["CRAWL", "0123456789abcdef"],
    "duplicates enable": ["CRAWL", "0123456789abcdef"],
    "filter list": ["CRAWL"],
    "filter test": ["CRAWL", "http://localhost/"],
    "filter add": ["CRAWL", "deny suffix .ics"],
    "filter remove": ["CRAWL", "deny suffix .ics"],
    "filter disable": ["CRAWL", "deny suffix .ics"],
    "filter enable": ["CRAWL", "deny suffix .ics"],
    "filter apply": ["CRAWL"],
    "filter generate": ["CRAWL"],
    "mark": ["CRAWL", "http://localhost/", "--fit"],
    "mark --list": ["CRAWL"],
    "graph build": ["CRAWL", "--rebuild"],
    "graph import": ["CRAWL", "no-graph"],
    "graph outlinks": ["CRAWL", "http://localhost/"],
    "graph inlinks": ["CRAWL", "http://localhost/"],
    "graph common": ["CRAWL", "http://localhost/"],
    "graph path": ["CRAWL", "http://localhost/", "http://localhost/x"],
    "graph neighbourhood": ["CRAWL", "http://localhost/"],
    "graph host": ["CRAWL", "localhost"],
    "graph centrality": ["CRAWL"],
    "graph farms": ["CRAWL"],
    "graph stats": ["CRAWL"],
    "graph export": ["CRAWL", "-o", "OUT.tsv"],
}
"""Commands that need a crawl, with their arguments."""
SETTLED = frozenset(OF_A_CRAWL) - {"pause", "resume"}
"""Commands that read the settings."""
WRITERS = frozenset(OF_A_CRAWL) - {
    "serve",
    "node",
    "search",
    "mcp",
    "changes",
    "follow",
    "status",
    "top",
    "export",
    "inspect",
    "explain",
    "diff",
    "verify",
    "check",
    "pause",
    "resume",
    "duplicates show",
    "duplicates rules",
    "duplicates test",
    "filter list",
    "filter test",
    "mark --list",
    "graph outlinks",
    "graph inlinks",
    "graph common",
    "graph path",
    "graph neighbourhood",
    "graph host",
    "graph farms",
    "graph stats",
    "graph export",
}


class Row(NamedTuple):
    """Bad arguments of a command, and a part of its error message."""

    words: list[str]
    says: str
    code: int = 1


ELSEWHERE: dict[str, list[Row]] = {
    "init": [
        Row(["FILE/web"], "FILE"),
        Row(["CRAWL"], "already contains a crawl"),
        Row(["/proc/web"], "/proc/web"),
        Row(["OUT", "--contact", "a\nb"], "contact"),
    ],
    "demo": [
        Row(["--folder", "CRAWL"], "CRAWL"),
        Row(["--folder", "FILE"], "FILE"),
        Row(["--port", "70000"], "--port", 2),
        Row(["--hosts", "0"], "--hosts", 2),
    ],
    "fakeweb": [
        Row(["--port", "TAKEN"], "127.0.0.1:TAKEN"),
        Row(["--port", "70000"], "--port", 2),
        Row(["--hosts", "-1"], "--hosts", 2),
        Row(["--addresses", "0"], "--addresses", 2),
        Row(["--docs", "FILE"], "FILE"),
        Row(["--hosts", "1", "--port", "0", "--log", "NOWHERE"], "NOWHERE"),
    ],
    "serve": [
        Row(["CRAWL", "--port", "TAKEN"], "127.0.0.1:TAKEN"),
        Row(["CRAWL", "--port", "70000"], "--port", 2),
        Row(["CRAWL", "--host", "192.0.2.1", "--port", "0"], "192.0.2.1:0"),
        Row(["CRAWL", "--host", "no.such.host.invalid", "--port", "0"], "no.such.host.invalid"),
        Row(["CRAWL", "--host", f"{'a' * 70}.test", "--port", "0"], "aaa.test:0"),
        Row(["CRAWL", "--host", "", "--port", "0"], "--host", 2),
    ],
    "node": [
        Row(["CRAWL", "--port", "TAKEN"], "127.0.0.1:TAKEN"),
        Row(["CRAWL", "--port", "65536"], "--port", 2),
        Row(["CRAWL", "--host", "", "--port", "0"], "--host", 2),
    ],
    "export": [
        Row(["CRAWL", "ranks", "-o", "NOWHERE"], "NOWHERE"),
        Row(["CRAWL", "ranks", "-o", "FOLDER"], "FOLDER"),
        Row(["CRAWL", "ranks", "-o", "FILE/x"], "FILE/x"),
        Row(["CRAWL", "ranks", "-o", "/proc/x"], "/proc/x"),
        *(
            Row(["CRAWL", "pages", "--to", f, "-o", "/dev/full"], "/dev/full")
            for f in ("csv", "jsonl")
        ),
        Row(["CRAWL", "pages", "-o", "/dev/full"], "/dev/full: no space left"),
        Row(["CRAWL", "unheard"], "unheard: no such dataset"),
        Row(["CRAWL", "ranks", "--to", "xml"], "--to", 2),
    ],
    "changes": [Row(["CRAWL", "--since", "FILE"], "FILE': is not a cursor")],
    "follow": [
        Row(["CRAWL", "a", "--to", "file:///etc", "--secret", "FILE"], "file:///etc: is not a URL"),
        Row(["CRAWL", "a", "--to", "http://a.test/", "--secret", "NOWHERE"], "NOWHERE"),
        Row(["CRAWL", "a", "--to", "http://a.test/", "--secret", "FILE"], "FILE: has a line that"),
        Row(["CRAWL", "a"], "give the URL and the secret", 2),
    ],
    "graph import": [
        Row(["CRAWL", "NOWHERE"], "CRAWL: has a link graph already"),
        Row(["CRAWL", "NOWHERE", "--replace"], "NOWHERE.properties"),
        Row(["CRAWL", "FILE", "--replace"], "FILE.properties"),
        Row(["CRAWL", "FILE/x", "--replace"], "FILE/x.properties"),
    ],
    "graph export": [
        Row(["CRAWL", "-o", "FILE/x.tsv"], "FILE/x.tsv"),
        Row(["CRAWL", "-o", "/proc/x.tsv"], "/proc/x.tsv"),
        Row(["CRAWL", "-o", "OUT"], "OUT: its ending names no format"),
    ],
    "inspect": [
        Row(["NOWHERE"], "NOWHERE"),
        Row(["FOLDER"], "FOLDER"),
        Row(["FILE", "--rules", "NOWHERE"], "NOWHERE"),
        Row(["FILE", "--rules", "FILE"], "FILE: not TOML"),
        Row(["http://127.0.0.1:1/"], "http://127.0.0.1:1/"),
    ],
    "filter add": [
        Row(["CRAWL"], "give a rule or", 2),
        Row(["CRAWL", "deny everything"], "rule 1: 'everything' is not a kind of rule"),
        Row(["CRAWL", "--file", "NOWHERE"], "NOWHERE"),
        Row(["CRAWL", "--file", "FILE"], "FILE, line 1: 'no' is neither allow nor deny"),
    ],
    "mark": [
        Row(["CRAWL", "http://localhost/"], "give one of --fit,", 2),
        Row(["CRAWL"], "give the pages to mark, --apply or", 2),
        Row(["CRAWL", "FILE", "--fit"], "FILE: is not a URL that can be crawled"),
        Row(["CRAWL", "http://localhost/", "--forget"], "http://localhost/: is not marked"),
    ],
    "inject": [
        Row(["CRAWL", "--list", "NOWHERE"], "NOWHERE"),
        Row(["CRAWL", "FILE"], "--list FILE"),
    ],
    "crawl": [Row(["OUT", "--list", "NOWHERE"], "NOWHERE"), Row(["OUT", "FILE"], "--list FILE")],
}


def commands() -> set[str]:
    groups = [
        ("", app),
        *((f"{group.name} ", group.typer_instance) for group in app.registered_groups),
    ]
    return {
        prefix + str(each.name or (each.callback and each.callback.__name__)).replace("_", "-")
        for prefix, group in groups
        if group is not None
        for each in group.registered_commands
    }


def test_every_command_has_rows() -> None:
    """A new command must be added to OF_A_CRAWL or ELSEWHERE."""
    known = {name.partition(" --")[0] for name in (*OF_A_CRAWL, *ELSEWHERE)}
    assert commands() == known


@pytest.fixture(scope="module")
def whole(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl of one round, with all datasets, whose second round is generated."""
    folder = tmp_path_factory.mktemp("whole") / "crawl"
    with FakeWeb(Web(hosts=2, pages_per_host=4, mix=Mix.plain())) as web:
        crawl = Crawl.create(str(folder), SETTINGS.format(address=web.address), engine)
        crawl.inject(web.web.seeds())
        crawl.run(rounds=1)
    postings.run(crawl.work)
    generate.run(crawl.work)
    before = contents(folder)
    yield folder
    assert contents(folder) == before, "a test wrote into a file that all of them share"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def crawl(whole: Path, tmp_path: Path) -> Path:
    """A copy, which shares the files that are written once: those of datasets."""

    def copy(source: str, target: str) -> None:
        is_data = len(Path(source).relative_to(whole).parts) > 2
        (os.link if is_data else shutil.copy2)(source, target)

    return Path(shutil.copytree(whole, tmp_path / "crawl", copy_function=copy))


def replace(file: Path, data: bytes | bytearray) -> None:
    """Write another file in the place of one that is shared."""
    file.unlink()
    file.write_bytes(data)


@contextmanager
def nowhere(crawl: Path) -> Iterator[str]:
    shutil.rmtree(crawl)
    yield f"{crawl}: is not a crawl"


@contextmanager
def a_file(crawl: Path) -> Iterator[str]:
    shutil.rmtree(crawl)
    crawl.write_text("")
    yield str(crawl)


@contextmanager
def no_manifest(crawl: Path) -> Iterator[str]:
    shutil.rmtree(crawl / "manifest")
    yield f"{crawl}: is not a crawl"


@contextmanager
def newest_manifest(crawl: Path, data: bytes) -> Iterator[str]:
    newest = max((crawl / "manifest").glob("*.json"))
    newest.write_bytes(data)
    yield str(newest)


def empty_manifest(crawl: Path) -> AbstractContextManager[str]:
    return newest_manifest(crawl, b"")


def gibberish_manifest(crawl: Path) -> AbstractContextManager[str]:
    return newest_manifest(crawl, b"\xff\x00{")


@contextmanager
def manifest_is_a_file(crawl: Path) -> Iterator[str]:
    shutil.rmtree(crawl / "manifest")
    (crawl / "manifest").write_text("")
    yield str(crawl)


@contextmanager
def manifest_is_closed(crawl: Path) -> Iterator[str]:
    newest = max((crawl / "manifest").glob("*.json"))
    with closed(newest):
        yield str(newest)


@contextmanager
def manifests_are_closed(crawl: Path) -> Iterator[str]:
    with closed(crawl / "manifest"):
        yield str(crawl / "manifest")


@contextmanager
def no_settings(crawl: Path) -> Iterator[str]:
    (crawl / "gossamer.toml").unlink()
    yield f"{crawl}/gossamer.toml: cannot be read"


@contextmanager
def bad_settings(crawl: Path) -> Iterator[str]:
    (crawl / "gossamer.toml").write_text("fetch.delay_s = inf")
    yield f"{crawl}/gossamer.toml: fetch.delay_s = inf"


@contextmanager
def held(crawl: Path) -> Iterator[str]:
    with LocalBackend(crawl).lock(Holder.me()):
        yield f"{crawl}/.lock: process {os.getpid()}"


@contextmanager
def lock_is_a_folder(crawl: Path) -> Iterator[str]:
    (crawl / ".lock").unlink(missing_ok=True)
    (crawl / ".lock").mkdir()
    yield f"{crawl}/.lock"


@contextmanager
def closed(path: Path) -> Iterator[None]:
    """Take away all permissions to a path; as root, also switch to an unprivileged user."""
    for parent in path.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    mode = path.stat().st_mode
    path.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        path.chmod(mode)


STATES: dict[str, dict[Callable[[Path], AbstractContextManager[str]], frozenset[str]]] = {
    "no crawl": {
        nowhere: frozenset(OF_A_CRAWL),
        a_file: frozenset(OF_A_CRAWL),
        no_manifest: frozenset(OF_A_CRAWL),
    },
    "manifest": {
        empty_manifest: frozenset(OF_A_CRAWL),
        gibberish_manifest: frozenset(OF_A_CRAWL),
        manifest_is_a_file: frozenset(OF_A_CRAWL),
        manifest_is_closed: frozenset(OF_A_CRAWL),
        manifests_are_closed: frozenset(OF_A_CRAWL),
    },
    "settings": {no_settings: SETTLED, bad_settings: SETTLED},
    "lock": {held: WRITERS, lock_is_a_folder: WRITERS},
}
"""Ways to break a crawl by what is broken, and the commands that fail then."""


class Broken(NamedTuple):
    command: str
    part: str
    state: Callable[[Path], AbstractContextManager[str]]

    def pairs(self) -> set[tuple[object, object]]:
        """A command meets each broken part, and each group of commands all states of it."""
        group = (self.command.rpartition(" ")[0], self.command in WRITERS)
        return {(self.command, self.part), (group, self.state)}


BROKEN = [
    Broken(command, part, state)
    for part, states in STATES.items()
    for state, names in states.items()
    for command in sorted(names)
]
PAIRWISE = choose_covering(BROKEN, Broken.pairs)
"""The others are long tests."""


@pytest.mark.parametrize(
    ("state", "command"),
    [
        pytest.param(
            case.state,
            case.command,
            id=f"{case.command}-{case.state.__name__}",
            marks=[] if case in PAIRWISE else pytest.mark.long,
        )
        for case in BROKEN
    ],
)
def test_a_broken_crawl_is_an_error_with_path_and_remedy(
    state: Callable[[Path], AbstractContextManager[str]], command: str, crawl: Path, tmp_path: Path
) -> None:
    words = [
        {"CRAWL": str(crawl), "OUT": str(tmp_path / "out")}.get(w, w) for w in OF_A_CRAWL[command]
    ]
    with state(crawl) as says:
        told = gossamer(*command.split(), *words, code=1).stderr
    assert told.startswith(f"gossamer: {says}"), told
    assert "\n  → " in told
    assert not (tmp_path / "out").exists()


READERS = {
    "pages": ["generate", "status", "export", "crawl", "inject"],
    "fetchlist": ["fetch", "crawl"],
    "hosts": ["fetch"],
    "links": ["invert", "graph build"],
    "graph": ["graph outlinks", "graph inlinks", "graph stats", "rank"],
    "documents": ["boilerplate", "dedup", "index", "postings"],
    "inlinks": ["index"],
    "ranks": ["dedup"],
    "dispositions": ["index", "postings", "duplicates show"],
    "changes": ["changes"],
}
DAMAGED = [(dataset, command) for dataset, names in READERS.items() for command in names]


@pytest.mark.parametrize(("dataset", "command"), DAMAGED)
def test_a_damaged_file_is_named(dataset: str, command: str, crawl: Path, tmp_path: Path) -> None:
    manifest = Crawl.open(str(crawl)).work.store.manifest
    file = crawl / manifest.layers(dataset)[-1].files[0].path
    replace(file, bytes(file.stat().st_size))
    words = [
        {"CRAWL": str(crawl), "OUT": str(tmp_path / "out")}.get(w, w) for w in OF_A_CRAWL[command]
    ]
    told = gossamer(*command.split(), *words, code=1).stderr
    assert told.startswith(f"gossamer: {file}: "), told
    assert "\n  → " in told


@pytest.mark.parametrize("dataset", ["responses", "documents", "ranks", "hosts"])
def test_an_export_of_a_damaged_file_names_it(dataset: str, crawl: Path, tmp_path: Path) -> None:
    manifest = Crawl.open(str(crawl)).work.store.manifest
    file = crawl / manifest.layers(dataset)[-1].files[0].path
    data = bytearray(file.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    replace(file, data)
    told = gossamer("export", crawl, dataset, "-o", tmp_path / "out", code=1).stderr
    assert told.startswith(f"gossamer: {file}: "), told


ROWS = [(command, row) for command, rows in ELSEWHERE.items() for row in rows]


@pytest.mark.parametrize(
    ("command", "row"), ROWS, ids=[" ".join([name, *row.words])[:60] for name, row in ROWS]
)
def test_a_bad_argument_is_an_error_with_path_and_remedy(
    command: str, row: Row, crawl: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no [TOML")
    (tmp_path / "folder").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        names = {
            "CRAWL": str(crawl),
            "FILE": str(tmp_path / "file"),
            "FOLDER": str(tmp_path / "folder"),
            "NOWHERE": str(tmp_path / "no" / "where"),
            "OUT": str(tmp_path / "out"),
            "TAKEN": str(taken.getsockname()[1]),
        }

        def filled(text: str) -> str:
            for name, value in names.items():
                text = text.replace(name, value)
            return text

        said = gossamer(*command.split(), *map(filled, row.words), code=row.code)
    assert filled(row.says) in said.stderr, said.stderr
    if row.code == 1:
        assert said.stderr.startswith("gossamer: ")
        assert "\n  → " in said.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["status", "CRAWL"],
        ["status", "CRAWL", "--json"],
        ["export", "CRAWL", "ranks", "--to", "csv"],
    ],
)
@pytest.mark.parametrize("output", ["full", "gone"])
def test_an_output_that_cannot_be_written_is_an_error(
    words: list[str],
    output: str,
    crawl: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs the console script with a real descriptor: a full disk, or a pipe without a reader."""
    monkeypatch.setattr(
        sys, "argv", ["gossamer", *(str(crawl) if w == "CRAWL" else w for w in words)]
    )
    if output == "full":
        descriptor = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, descriptor = os.pipe()
        os.close(reader)
    with os.fdopen(descriptor, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as ended:
            main()
    told = capfd.readouterr().err
    if output == "full":
        assert (ended.value.code, told.startswith("gossamer: standard output: no space left")) == (
            1,
            True,
        ), told
    else:
        assert (ended.value.code, told) == (141, "")


def test_no_control_characters_are_exported_to_a_terminal(
    crawl: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "a\x1b[2Jb\x9bc\u202ed\re"
    put(
        Crawl.open(str(crawl), engine).work,
        "documents",
        [{"url": "http://a.example/", "title": evil}],
    )

    def shown(form: str, code: int) -> str:
        """The output of an export to a pseudo-terminal."""
        ours, theirs = pty.openpty()
        seen: list[bytes] = []

        def read() -> None:
            with suppress(OSError):  # the terminal is closed
                while data := os.read(ours, 1 << 16):
                    seen.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        with os.fdopen(theirs, "w") as screen, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            patch.setattr(
                sys, "argv", ["gossamer", "export", str(crawl), "documents", "--to", form]
            )
            with pytest.raises(SystemExit) as ended:
                main()
        reader.join()
        os.close(ours)
        assert ended.value.code == code
        return b"".join(seen).decode().replace("\r\n", "\n")  # as terminals end lines

    assert shown("parquet", 1) == ""
    lines = shown("jsonl", 0)
    assert not set(lines + shown("csv", 0)) & set("\x1b\x9b\u202e\r")
    assert evil in [json.loads(line)["title"] for line in lines.splitlines()]
