"""Who crawls? A crawl of strangers' hosts does not begin before that is known.

192.0.2.1 (RFC 5737) is a stranger that no packet is ever sent to: it is no global address.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer import config
from gossamer.api.crawl import Crawl
from gossamer.cli.gossamer_toml import (
    SETTINGS,
    apply_contact,
    hosts_of_seeds,
    toml_text,
)
from gossamer.errors import UsageError
from gossamer.flow import rounds
from tests.support.command_line import Said, gossamer
from tests.support.loopback import Loopback, page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("shared_engine")
STRANGER = "http://192.0.2.1/"
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]


@pytest.fixture(autouse=True)
def _without_harvest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody searches these crawls."""
    monkeypatch.setattr(rounds, "HARVEST", {})


def crawl(folder: Path, *words: str, code: int = 0) -> Said:
    return gossamer("crawl", folder, "--rounds", "1", *words, code=code)


def contact_of(folder: Path) -> str:
    return config.load(folder / "gossamer.toml").fetch.contact


def rounds_of(folder: Path) -> int:
    with Crawl.open(str(folder)) as opened:
        return opened.work.round


@pytest.mark.slow
def test_on_a_terminal_crawl_prompts_for_a_contact_and_saves_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"bot@example.org\n")
    command = [*GOSSAMER, "crawl", str(tmp_path), "--rounds", "1", STRANGER]
    ended = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert ended.returncode == 1, ended.stderr  # for nothing could be fetched
    assert "192.0.2.1 is not your host" in ended.stdout
    assert "1 forbidden_address" in ended.stdout
    assert contact_of(tmp_path) == "bot@example.org"


def test_without_a_terminal_a_missing_contact_ends_before_the_first_round_with_a_remedy(
    tmp_path: Path,
) -> None:
    said = crawl(tmp_path, STRANGER, code=1)
    assert "192.0.2.1 is not your host" in said.stderr
    assert "--contact" in said.stderr
    assert rounds_of(tmp_path) == 0
    crawl(tmp_path, "--contact", "bot@example.org", code=1)
    assert rounds_of(tmp_path) > 0
    assert contact_of(tmp_path) == "bot@example.org"


def test_a_contact_that_is_set_is_kept_and_overridden_for_a_run(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path), SETTINGS.format(contact="me@example.org"))
    with Crawl.open(str(tmp_path)) as opened:
        apply_contact(opened, "you@example.org")
        assert opened.work.config.fetch.contact == "you@example.org"
    assert contact_of(tmp_path) == "me@example.org"


def test_loopback_seeds_need_no_contact(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path), "")
    said = crawl(tmp_path, "http://127.0.0.1:1/", code=1)
    assert "1 forbidden_address" in said.stdout
    assert "http://127.0.0.1:1/: forbidden_address: " in said.stderr
    assert "fetch.allow_networks" in said.stderr


def test_a_url_in_place_of_the_folder_is_a_usage_error_with_the_right_command_line() -> None:
    said = gossamer("crawl", "http://a.test/", code=2)
    assert "gossamer crawl FOLDER http://a.test/" in " ".join(said.stderr.split())


def test_a_site_in_place_of_the_folder_is_an_error_that_shows_where_the_folder_goes(
    tmp_path: Path,
) -> None:
    said = gossamer("crawl", tmp_path / "a.test", code=1)
    assert f"gossamer crawl FOLDER {tmp_path / 'a.test'}" in said.stderr
    assert not (tmp_path / "a.test").exists()


def test_own_crawls_a_local_server_and_is_saved(tmp_path: Path, server: Loopback) -> None:
    server.answers = {"/": page(b"<p>hello")}
    folder = tmp_path / "web"
    crawl(folder, f"localhost:{server.port}", "--own")
    assert server.paths == ["/robots.txt", "/"]
    assert config.load(folder / "gossamer.toml").fetch.own_hosts == ("localhost",)


def test_own_hosts_are_added_to_settings_that_nobody_has_edited(tmp_path: Path) -> None:
    with Crawl.create(str(tmp_path), toml_text("me@a.example")) as opened:
        apply_contact(opened, own=("a.example",))
        apply_contact(opened, own=("b.example", "::1"))
        kept = config.load(tmp_path / "gossamer.toml").fetch
        assert (kept.contact, kept.own_hosts) == ("me@a.example", ("a.example", "b.example", "::1"))
        edited = toml_text("me@a.example") + "max_depth = 3\n"
        (tmp_path / "gossamer.toml").write_text(edited)
        apply_contact(opened, own=("c.example",))
        assert opened.work.config.fetch.own_hosts[-1] == "c.example"
        assert (tmp_path / "gossamer.toml").read_text() == edited


def test_own_without_urls_is_a_usage_error(tmp_path: Path) -> None:
    said = gossamer("crawl", tmp_path, "--own", code=2)
    assert "give the URLs" in said.stderr
    said = gossamer("crawl", tmp_path, "--own", "--list", "-", code=2)
    assert "only once" in said.stderr


def test_own_hosts_may_be_those_of_a_list(tmp_path: Path, server: Loopback) -> None:
    server.answers = {"/": page(b"<p>hello")}
    folder, seeds = tmp_path / "web", tmp_path / "seeds.txt"
    seeds.write_text(f"# ours\nhttp://localhost:{server.port}/\n")
    crawl(folder, "--list", str(seeds), "--own")
    assert server.paths == ["/robots.txt", "/"]
    assert config.load(folder / "gossamer.toml").fetch.own_hosts == ("localhost",)


def test_too_many_own_hosts_are_refused(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"host{n}.example\n" for n in range(1_001)))
    with pytest.raises(UsageError, match=r"more than 1,000 hosts\n.*fetch\.own_hosts"):
        hosts_of_seeds([], [str(seeds)])


def test_hosts_of_urls_as_fetch_own_has_them() -> None:
    urls = ["localhost:8117", "http://a.example/x", "https://a.example:444/", "http://[::1]:8000/"]
    assert hosts_of_seeds(urls) == ("localhost", "a.example", "[::1]")


def test_init_with_settings_creates_a_crawl_or_replaces_its_settings(tmp_path: Path) -> None:
    folder, file = tmp_path / "web", tmp_path / "settings.toml"
    file.write_text('fetch.contact = "a@b.example"')
    assert "created" in gossamer("init", folder, "--settings", file).stdout
    assert contact_of(folder) == "a@b.example"
    file.write_text('fetch.contact = "c@d.example"')
    assert "has the settings" in gossamer("init", folder, "--settings", file).stdout
    assert contact_of(folder) == "c@d.example"
    file.write_text("")
    gossamer("init", folder, "--settings", file)
    assert contact_of(folder) == ""


def test_init_keeps_new_secrets_from_other_users(tmp_path: Path) -> None:
    folder, file = tmp_path / "web", tmp_path / "settings.toml"
    gossamer("init", folder)
    file.write_text('[[fetch.sites]]\nhosts = "a.example"\nuser = "me"\npassword = "secret"\n')
    gossamer("init", folder, "--settings", file)
    assert (folder / "gossamer.toml").stat().st_mode & 0o077 == 0
    assert config.load(folder / "gossamer.toml").fetch.sites


def test_init_with_wrong_settings_changes_nothing(tmp_path: Path) -> None:
    folder, file = tmp_path / "web", tmp_path / "settings.toml"
    file.write_text("fetch.contacts = 1")
    said = gossamer("init", folder, "--settings", file, code=1).stderr
    assert str(file) in said
    assert not folder.exists()
    gossamer("init", folder, "--contact", "a@b.example")
    gossamer("init", folder, "--settings", file, code=1)
    assert contact_of(folder) == "a@b.example"
    gossamer("init", folder, "--settings", file, "--contact", "a@b.example", code=2)


OF_SAIL = """
import atexit, sys
from gossamer.cli import main

atexit.register(lambda: print("Sail is imported:", "pysail" in sys.modules))
main()
"""


def test_a_small_crawl_and_its_harvest_do_without_sail(tmp_path: Path, server: Loopback) -> None:
    server.answers = {"/": page(b"<p>hello <a href=/1>one</a>"), "/1": page(b"<p>one")}
    command = [sys.executable, "-c", OF_SAIL, "crawl", str(tmp_path), "--own"]
    command.append(f"localhost:{server.port}")
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "/1" in server.paths
    assert "index" in said.stdout
    assert "Sail is imported: False" in said.stdout
