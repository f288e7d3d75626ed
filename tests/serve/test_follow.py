"""Followed queries: each match is posted, whatever the receiver and the process go through."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.errors import ForgottenChanges, Locked, StoreError, StoreFull, UsageError
from gossamer.index.changes.reading import ChangeLog
from gossamer.serve.webhooks import delivery
from gossamer.serve.webhooks.delivery import Receiver
from gossamer.serve.webhooks.follower import FIRST_WAIT_S, JITTER, LONGEST_WAIT_S, Clock, Follower
from gossamer.serve.webhooks.kept_place import Followed, KeptPlace
from gossamer.serve.webhooks.signing import new_secret, read_secrets, signed_headers
from tests.support.changing_pages import GONE, HOST, harvest_pages
from tests.support.command_line import gossamer
from tests.support.webhook_receiver import CLOSE, HANG, KEY, SECRET, Got, receiving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.state.workspace import Workspace
    from tests.support.webhook_receiver import Receiving

pytestmark = [pytest.mark.server, pytest.mark.engine]
HARVESTS: tuple[dict[str, str | None], ...] = (
    {"a": "red apples", "b": "green pears", "c": "old apples"},
    {"d": "sweet apples", "b": "pears and apples", "c": GONE, "e": "dry plums"},
    {"a": "no fruit", "d": "sweet and sour apples"},
)
NOW_S = 1_800_000_000


@pytest.fixture
def hook() -> Iterator[Receiving]:
    with receiving() as receiver:
        yield receiver


class Stopped(Exception):
    """The process ends."""


class Following:
    """A query that is followed by one process after the other."""

    def __init__(self, work: Workspace, hook: Receiving, folder: Path) -> None:
        self.work, self.hook, self.path = work, hook, folder / "kept.json"
        self.followed = Followed(work.store.manifest.crawl, "apples", "", hook.url)
        self.waits: list[float] = []
        self.said: list[str] = []
        self.dies_at_wait = 0

    def run(self, *, since: str = "", deadline_s: float = 20) -> None:
        place = KeptPlace(self.path, self.followed)
        with place.opened():
            Follower(
                self.work,
                ChangeLog(self.work),
                self.followed,
                Receiver(self.hook.url, deadline_s),
                [KEY],
                Clock(lambda: NOW_S, self.wait),
                self.said.append,
            ).follow(place, since=since, once=True)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        if len(self.waits) == self.dies_at_wait:
            raise Stopped


@pytest.fixture
def following(work: Workspace, hook: Receiving, tmp_path: Path) -> Following:
    harvest_pages(work, 1, HARVESTS[0])
    return Following(work, hook, tmp_path)


def named(got: list[Got]) -> list[tuple[str, str]]:
    """The pages of messages, and what happened to them."""
    prefix = f"http://{HOST}/"
    return sorted((each.url.removeprefix(prefix), json.loads(each.body)["type"]) for each in got)


FIRST = [("a", "page.added"), ("c", "page.added")]
SECOND = [("b", "page.changed"), ("d", "page.added")]


def test_each_match_is_posted_once_harvest_by_harvest(following: Following) -> None:
    following.run()
    assert named(following.hook.got) == FIRST
    following.run()
    assert len(following.hook.got) == 2
    for number in (2, 3):
        harvest_pages(following.work, number, HARVESTS[number - 1])
        following.run()
    assert named(following.hook.got[2:4]) == SECOND
    assert named(following.hook.got[4:]) == [("d", "page.changed")]
    assert len({got.name for got in following.hook.got}) == 5


def test_whoever_begins_now_gets_no_older_match(following: Following) -> None:
    following.run(since="now")
    assert not following.hook.got
    harvest_pages(following.work, 2, HARVESTS[1])
    following.run(since="now")
    assert named(following.hook.got) == SECOND


def test_a_message_is_signed_as_the_standard_says(following: Following) -> None:
    following.run()
    for got in following.hook.got:
        assert got.is_signed()
        assert not got.is_signed(b"another key")
        assert got.headers["webhook-timestamp"] == str(NOW_S)
        assert "." not in got.name
        assert got.headers["content-type"] == "application/json"
        assert json.loads(got.body)["timestamp"] == "2027-01-15T08:00:00+00:00"
        assert json.loads(got.body)["data"]["query"] == "apples"


def test_a_failed_message_is_sent_again_after_growing_waits(following: Following) -> None:
    following.hook.answers = [500, CLOSE, 302, 404]
    following.run()
    names = [got.name for got in following.hook.got]
    assert len(names) == 6
    assert len(set(names)) == 2
    assert names[:5] == names[:1] * 5
    assert named(following.hook.delivered) == FIRST
    for number, waited in enumerate(following.waits):
        assert FIRST_WAIT_S * 2**number <= waited <= FIRST_WAIT_S * 2**number * (1 + JITTER)
    assert "redirects are not followed" in following.said[2]


def test_a_receiver_that_says_nothing_is_given_up(following: Following) -> None:
    following.hook.answers = [HANG]
    following.run(deadline_s=0.2)
    assert "no answer within 0.2 s" in following.said[0]
    assert named(following.hook.delivered) == FIRST


@pytest.mark.slow
def test_waits_are_as_long_as_the_receiver_asks_and_at_most_an_hour_otherwise(
    following: Following,
) -> None:
    following.hook.answers, following.hook.more = [503] * 2, {"Retry-After": "7000"}
    following.run()
    assert following.waits == [7000, 7000]
    following.waits.clear()
    following.hook.answers, following.hook.more = [503] * 14, {"Retry-After": "soon"}
    harvest_pages(following.work, 2, HARVESTS[1])
    following.run()
    assert LONGEST_WAIT_S <= max(following.waits) <= LONGEST_WAIT_S * (1 + JITTER)


def test_a_receiver_that_is_gone_ends_it(following: Following) -> None:
    following.hook.answers = [410]
    with pytest.raises(UsageError, match="answered 410"):
        following.run()
    following.run()
    assert named(following.hook.delivered) == FIRST


@pytest.mark.parametrize("delivered", [0, 1])
def test_whoever_goes_on_sends_what_is_left(following: Following, delivered: int) -> None:
    following.hook.answers = [204] * delivered + [500]
    following.dies_at_wait = 1
    with pytest.raises(Stopped):
        following.run()
    following.run()
    assert named(following.hook.delivered) == FIRST
    assert len(following.hook.got) == 3


def test_what_was_delivered_just_before_the_end_comes_again_under_its_name(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(self: Receiver, body: bytes, headers: Any) -> Any:
        answer = real(self, body, headers)
        monkeypatch.undo()
        assert answer.is_delivered
        raise Stopped

    real = delivery.Receiver.post
    monkeypatch.setattr(delivery.Receiver, "post", dies)
    with pytest.raises(Stopped):
        following.run()
    following.run()
    names = [got.name for got in following.hook.got]
    assert len(names) == 3
    assert names[0] == names[1] != names[2]


def test_two_processes_do_not_send_the_same(following: Following) -> None:
    place = KeptPlace(following.path, following.followed)
    with place.opened(), pytest.raises(Locked, match="another process follows the same"):
        following.run()
    following.run()


def test_a_file_of_something_else_is_refused(following: Following) -> None:
    following.run()
    following.followed = Followed("another crawl", "apples", "", following.hook.url)
    with pytest.raises(StoreError, match="of another query, site, URL or crawl"):
        following.run()
    following.path.write_bytes(b"\xff{")
    with pytest.raises(StoreError, match="is damaged"):
        following.run()


@pytest.mark.slow
def test_nothing_is_sent_that_a_full_disk_could_not_remember(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    following.run()
    harvest_pages(following.work, 2, HARVESTS[1])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreFull, match=r"kept\.json"):
            following.run()
    assert len(following.hook.got) == 2
    following.run()
    assert named(following.hook.got[2:]) == SECOND


@pytest.mark.slow
def test_changes_that_are_kept_no_more_end_it(following: Following) -> None:
    following.run()
    for number in (2, 3, 4):
        following.work.clock_ms = following.work.now_ms() + 40 * 86_400_000
        harvest_pages(following.work, number, {name: f"{name} {number}" for name in "abc"})
    with pytest.raises(ForgottenChanges, match=r"(?s)kept\.json.*delete this file"):
        following.run()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "ftp://a.example/",
        "http://",
        "http://a.example:x/",
        "http://a b/",
        "http://ä/",
    ],
)
def test_messages_are_only_posted_to_urls_of_the_web(url: str) -> None:
    with pytest.raises(UsageError, match="is not a URL to which"):
        Receiver(url)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as raised:
        Receiver("https://me:hidden@a.example/")
    assert "hidden" not in str(raised.value)


def test_an_unreachable_receiver_is_a_failure() -> None:
    answer = Receiver("http://127.0.0.1:1/").post(b"{}", {})
    assert not answer.is_delivered
    assert "refused" in answer.why


def test_all_secrets_of_a_file_sign() -> None:
    other = new_secret()
    keys = read_secrets(f"# keys\n{SECRET}\n\n{other}\n", "f")
    headers = signed_headers(keys, "msg_1", 5, b"{}")
    got = Got("/", headers, b"{}", 204)
    assert [got.is_signed(key) for key in (*keys, b"x")] == [True, True, False]
    for wrong in ("", "# none", "secret", "whsec_", "whsec_AAAA", "whsec_é", f"{SECRET}!"):
        with pytest.raises(UsageError, match="secret"):
            read_secrets(wrong, "f")


@pytest.mark.slow
@pytest.mark.folder
def test_the_command_goes_on_after_it_was_killed(
    work: Workspace, hook: Receiving, tmp_path: Path
) -> None:
    harvest_pages(work, 1, HARVESTS[0])
    (tmp_path / "key").write_text(SECRET)
    words = ["follow", work.root, "apples", "--to", hook.url, "--secret", str(tmp_path / "key")]
    words += ["--state", str(tmp_path / "kept.json")]
    hook.answers = [204, HANG]
    program = [sys.executable, "-m", "gossamer", *words, "--all"]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as killed:
        assert killed.stderr is not None
        assert "delivered" in killed.stderr.readline()
        os.kill(killed.pid, signal.SIGKILL)
    hook.over.set()
    hook.answers.clear()
    said = gossamer(*words, "--once")
    assert "delivered" in said.stderr
    by_name = {got.name: got for got in hook.delivered}  # the first may come again
    assert named([*by_name.values()]) == FIRST
    assert gossamer("follow", work.root, "--new-secret").stdout.startswith("whsec_")
    assert "give the URL" in gossamer("follow", work.root, "apples", code=2).stderr
    (tmp_path / "key").write_text("nothing")
    assert "not a secret" in gossamer(*words, code=1).stderr
