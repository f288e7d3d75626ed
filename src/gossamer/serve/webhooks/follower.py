"""Follows a query: posts each page that a harvest has added or changed, if it matches.

Matches are posted one by one in the order of the changes, and the place is kept after each. A
message that fails is sent again after growing waits, without end, and the others wait for it. A
process that is killed between the receiver's answer and the next line of the file sends this one
message again, with the same `webhook-id`, by which receivers recognise it.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gossamer.errors import ForgottenChanges, MissingFile, UsageError
from gossamer.index.changes.cursor import encode_cursor
from gossamer.search.searcher import Searcher
from gossamer.serve.feeds.newest_matches import Wanted, matches, matching_question
from gossamer.serve.webhooks.signing import signed_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gossamer.index.changes.cursor import Cursor
    from gossamer.index.changes.reading import Change, ChangeLog, Placed
    from gossamer.search.results import Hit
    from gossamer.serve.webhooks.delivery import Receiver
    from gossamer.serve.webhooks.kept_place import Followed, KeptPlace
    from gossamer.state.workspace import Workspace

AT_ONCE = 200
"""Changes that one search asks about."""
POLL_S = 5.0
FIRST_WAIT_S, GROWTH, LONGEST_WAIT_S = 5.0, 2.0, 3_600.0
JITTER = 0.2
"""Waits differ by this share at most, so that many senders do not come back at once."""


class Message(NamedTuple):
    """A message, and the cursor when it is delivered. `name`: the same however often it is sent."""

    name: str
    body: bytes
    cursor: Cursor


class Clock(NamedTuple):
    """The time in seconds, and how to wait."""

    time_s: Callable[[], float]
    wait: Callable[[float], None]


class Follower:
    """Posts what matches. `report` gets a line about each message and each failure."""

    def __init__(
        self,
        work: Workspace,
        log: ChangeLog,
        followed: Followed,
        receiver: Receiver,
        keys: Sequence[bytes],
        clock: Clock,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._work, self._log, self._followed = work, log, followed
        self._receiver, self._keys, self._clock, self._report = receiver, keys, clock, report

    def follow(self, place: KeptPlace, *, since: str, once: bool = False) -> None:
        """Post all matches after the kept place, or at first after `since`, and then new ones.

        Ends only by an exception, or with `once` when everything is delivered. Raises UsageError if
        the receiver answers 410, and ForgottenChanges.
        """
        self._work.store.refresh()
        kept = place.cursor()
        after = self._log.cursor(since if kept is None else kept)
        place.keep(self._encoded(after))
        while True:
            messages, end = self._next(after, place)
            for message in messages:
                self._deliver(message)
                place.keep(self._encoded(message.cursor))
            if end != after:
                place.keep(self._encoded(end))
                after = end
            elif once:
                return
            else:
                self._clock.wait(POLL_S)

    def _next(self, after: Cursor, place: KeptPlace) -> tuple[list[Message], Cursor]:
        """The messages about the next changes, and the cursor after these."""
        while True:
            version = self._work.store.refresh().version
            try:
                found, end = self._log.read(after, AT_ONCE, self._followed.site)
                return [*self._messages(found)], end
            except ForgottenChanges as error:
                remedy = "delete this file; matches of the lost time are not sent then"
                raise ForgottenChanges(place.path, error.what, remedy) from None
            except MissingFile:  # a newer state may have replaced it meanwhile
                if self._work.store.refresh().version == version:
                    raise

    def _messages(self, found: Sequence[Placed]) -> Iterator[Message]:
        """The messages about those changes whose pages are in the index now, and match."""
        stays = [placed for placed in found if placed.change.round is not None]
        if not stays:
            return
        text = Wanted(self._followed.query, self._followed.site).text
        urls = tuple(dict.fromkeys(placed.change.url for placed in stays))
        answer = Searcher.open(self._work).answer(matching_question(text, urls))
        hits = {hit.url: hit for hit in matches(answer)}
        for change, cursor in stays:
            if change.url in hits:
                name = self._name(change, cursor)
                yield Message(name, self._body(change, hits[change.url]), cursor)

    def _deliver(self, message: Message) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            time_s = int(self._clock.time_s())
            headers = signed_headers(self._keys, message.name, time_s, message.body)
            answer = self._receiver.post(message.body, headers)
            if answer.is_delivered:
                self._report(f"{message.name} delivered")
                return
            if answer.is_gone:
                what = "answered 410: it wants no more messages"
                raise UsageError(self._receiver.url, what, "give another URL: --to URL")
            pause_s = max(wait_s * random.uniform(1, 1 + JITTER), answer.wait_s)  # noqa: S311
            self._report(f"{message.name} failed: {answer.why}; again in {pause_s:.0f} s")
            self._clock.wait(pause_s)
            wait_s = min(wait_s * GROWTH, LONGEST_WAIT_S)

    def _name(self, change: Change, cursor: Cursor) -> str:
        what = f"{self._followed.name} {cursor.harvest} {change.url}"
        return f"msg_{blake2b(what.encode(), digest_size=16).hexdigest()}"

    def _body(self, change: Change, hit: Hit) -> bytes:
        at = datetime.fromtimestamp(change.at_ms / 1000, UTC)
        data: dict[str, Any] = {
            "url": hit.url,
            "title": hit.title,
            "snippet": hit.snippet,
            "language": hit.language,
            "date_ms": hit.date_ms,
            "query": self._followed.query,
            "site": self._followed.site,
        }
        kind = f"page.{change.change}"
        return msgspec.json.encode({"type": kind, "timestamp": at.isoformat(), "data": data})

    def _encoded(self, cursor: Cursor) -> str:
        return encode_cursor(cursor, self._work.store.manifest.crawl)
