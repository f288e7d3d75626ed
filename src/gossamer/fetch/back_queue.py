"""The frontier's state of a host and of an IP address. Only `Frontier` changes it."""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gossamer.fetch.politeness import Politeness


class Reason(NamedTuple):
    """Why a page is not requested in this round: a word for the counts, and a text for people."""

    word: str
    text: str


class State(Enum):
    """The states of a host; frontier.py explains them."""

    IDLE = auto()
    HELD = auto()
    WAITING = auto()
    DUE = auto()
    OUT = auto()


class Address:
    """An IP address and the hosts that are due on it.

    Invariant: it is in the heap exactly once while a host is due and it may take one, else not.
    """

    __slots__ = ("before_s", "due", "name", "open", "queued", "ready_s")

    def __init__(self, name: str) -> None:
        self.name = name
        self.due: deque[Host] = deque()
        self.open = 0
        self.ready_s = self.before_s = -inf
        self.queued = False


class Host:
    __slots__ = (
        "address", "closed", "delay_s", "ended_s", "failed_s", "failures", "located", "name",
        "open", "owed", "queue", "queued", "ready_s", "state",
    )  # fmt: skip

    def __init__(self, name: str, owed: Politeness) -> None:
        self.name = name
        self.owed = owed
        self.delay_s = owed.delay_s
        self.failures = 0
        self.open = 0
        self.queued = False  # in the heap
        self.ended_s = self.failed_s = self.ready_s = -inf
        self.queue: deque[int] | None = None  # an empty deque takes 700 bytes
        self.state = State.IDLE
        self.address: Address | None = None
        self.located = False
        self.closed: Reason | None = None
