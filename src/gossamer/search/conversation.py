"""One question's requests to the nodes: which of them answer, and in which state of their index.

Like the broker, it does no I/O: its methods yield requests and receive replies.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from gossamer.search.messages import FoundPages, Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.search.diversity import PlacedPage
    from gossamer.search.messages import Candidate, Find, Near, Place, Request, RequestGenerator

_R = TypeVar("_R")
_V = TypeVar("_V")
_F = TypeVar("_F", FoundPages, Neighbours)


class Conversation:
    """The nodes that are asked one question.

    Invariants
      * A node in `missing` is not asked again. It gave no reply of the expected kind, or its index
        changed between two requests, so that its candidates no longer mean anything.
      * `state` names the index that all answers came from.
    """

    def __init__(self, nodes: Iterable[int], *, meanings: bool) -> None:
        """`meanings`: they may have vectors."""
        self.meanings = meanings
        self.nodes = list(nodes)
        self.missing: set[int] = set()
        self._states: dict[int, str] = {}

    @property
    def state(self) -> str:
        """The state of the index, if it is the same on all nodes; else ""."""
        states = set(self._states.values())
        return states.pop() if len(states) == 1 else ""

    def ask(self, requests: dict[int, Request], kind: type[_R]) -> RequestGenerator[dict[int, _R]]:
        """Ask some nodes. A node that does not reply with `kind` is missing from then on."""
        replies = yield {
            number: each for number, each in requests.items() if number not in self.missing
        }
        good: dict[int, _R] = {
            number: each for number, each in replies.items() if isinstance(each, kind)
        }
        self.missing |= requests.keys() - good.keys()
        return good

    def ask_all(self, request: Request, kind: type[_R]) -> RequestGenerator[dict[int, _R]]:
        return (yield from self.ask(dict.fromkeys(self.nodes, request), kind))

    def find(self, find: Find) -> RequestGenerator[dict[int, FoundPages]]:
        """Ask all nodes for matches. A node is missing once its state has changed."""
        return self._in_same_state((yield from self.ask_all(find, FoundPages)))

    def near(self, near: Near) -> RequestGenerator[dict[int, Neighbours]]:
        """Ask all nodes for pages by their meaning, as `find` does for words."""
        return self._in_same_state((yield from self.ask_all(near, Neighbours)))

    def _in_same_state(self, found: dict[int, _F]) -> dict[int, _F]:
        same = {
            number: each
            for number, each in found.items()
            if self._states.setdefault(number, each.state) == each.state
        }
        self.missing |= found.keys() - same.keys()
        return same

    def find_afresh(self, find: Find) -> RequestGenerator[dict[int, FoundPages]]:
        """As `find`, but accept new states: the caller keeps no candidate of earlier replies."""
        self._states = {}
        return (yield from self.find(find))

    def ask_about(
        self,
        placed: Iterable[PlacedPage],
        request: Callable[[str, Sequence[Candidate]], Request],
        kind: type[_R],
        values: Callable[[_R], Iterable[_V]],
    ) -> RequestGenerator[dict[tuple[int, Place], _V]]:
        """Ask each node about its own candidates: `request(state, candidates)`.

        `values` takes from a reply one value per candidate, in the order of the request. Returns
        the values by the candidates' places.
        """
        pages: dict[int, list[Candidate]] = defaultdict(list)
        for each in placed:
            pages[each.node].append(each.page)
        requests = {number: request(self._states[number], ours) for number, ours in pages.items()}
        replies = yield from self.ask(requests, kind)
        return {
            (number, page.place): value
            for number, reply in replies.items()
            for page, value in zip(pages[number], values(reply), strict=True)
        }
