"""Who crawls? A crawl of strangers' hosts does not begin before that is known.

192.0.2.1 (RFC 5737) is a stranger that no packet is ever sent to: it is no global address.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from commands import Said, gossamer
from gossamer import config
from gossamer.api import Crawl
from gossamer.cli.crawling import SETTINGS, _set_contact

if TYPE_CHECKING:
    from pathlib import Path

STRANGER = "http://192.0.2.1/"
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]


def crawl(folder: Path, *words: str, code: int = 0) -> Said:
    return gossamer("crawl", folder, "--rounds", "1", *words, code=code)


def contact_of(folder: Path) -> str:
    return config.load(folder / "gossamer.toml").fetch.contact


def rounds_of(folder: Path) -> int:
    with Crawl.open(str(folder)) as opened:
        return opened.work.round


def test_on_a_terminal_it_asks_and_remembers(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"bot@example.org\n")
    command = [*GOSSAMER, "crawl", str(tmp_path), "--rounds", "1", STRANGER]
    ended = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert ended.returncode == 0, ended.stderr
    assert "192.0.2.1 belongs to somebody else" in ended.stdout
    assert "1 forbidden_address" in ended.stdout
    assert contact_of(tmp_path) == "bot@example.org"


def test_elsewhere_it_ends_before_a_round_with_the_remedy_which_works(tmp_path: Path) -> None:
    said = crawl(tmp_path, STRANGER, code=1)
    assert "192.0.2.1 belongs to somebody else" in said.stderr
    assert "--contact" in said.stderr
    assert rounds_of(tmp_path) == 0
    crawl(tmp_path, "--contact", "bot@example.org")
    assert rounds_of(tmp_path) > 0
    assert contact_of(tmp_path) == "bot@example.org"


def test_a_contact_that_is_set_is_kept_and_overridden_for_a_run(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path), SETTINGS.format(contact="me@example.org"))
    with Crawl.open(str(tmp_path)) as opened:
        _set_contact(opened, "you@example.org")
        assert opened.work.config.fetch.contact == "you@example.org"
    assert contact_of(tmp_path) == "me@example.org"


def test_hosts_of_our_own_need_none(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path), "")
    assert "1 forbidden_address" in crawl(tmp_path, "http://127.0.0.1:1/").stdout
