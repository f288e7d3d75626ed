"""Parsers whose processes are killed, or that report the processor time that a test wants."""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

from gossamer import parse
from gossamer.parse.process.guarded_parser import GuardedParser, _End

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.parse.parsed_page import Page, ParsedPage


class Killed(GuardedParser):
    """A parser whose process is killed at these pages, as many times as given for each.

    Only its parent is told so: to start another process each time takes a third of a second, and
    test_guard.py kills real ones.
    """

    def __init__(self, times: dict[str, int]) -> None:
        super().__init__(parse.Rules())
        self.times = Counter(times)
        self.asked: list[str] = []

    def _try_page(self, page: Page) -> Any:
        self.asked.append(page.url)
        if self.times[page.url]:
            self.times[page.url] -= 1
            return _End(-signal.SIGKILL, None)
        return super()._try_page(page)


def spending(parser: Killed, cost_s: dict[str, float]) -> Callable[[Page], ParsedPage]:
    """A parser that reports this much processor time for pages of these domains."""
    parse_page = GuardedParser.parse

    def parse(page: Page) -> ParsedPage:
        before_s, parsed = parser.cpu_s, parse_page(parser, page)
        parser.cpu_s = before_s + sum(s for name, s in cost_s.items() if name in page.url)
        return parsed

    return parse
