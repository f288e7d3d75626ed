"""A searcher in this process: a broker, and a node with the whole index."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import xxhash

from gossamer.errors import StoreError
from gossamer.index.format.layout import shard_of
from gossamer.search.broker import Broker
from gossamer.search.messages import Question
from gossamer.search.node import Node, is_first_tier
from gossamer.search.page_filters import NO_CRAWL, page_facts
from gossamer.search.page_info import PageInfo
from gossamer.search.query_text import effective_query
from gossamer.search.synonyms import expansion, synonyms_of, unexpanded
from gossamer.state.lookup import Lookup
from gossamer.storage import local_copies
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Self

    from gossamer.config import Profile, RankingConfig
    from gossamer.search.messages import RequestGenerator
    from gossamer.search.page_filters import CrawlView
    from gossamer.search.results import Results
    from gossamer.search.synonyms import Synonyms
    from gossamer.semantic.nearest import Meanings
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

_T = TypeVar("_T")


def not_indexed(root: str, *, has_documents: bool = True) -> StoreError:
    """The error of a crawl whose index has not been built, or has no document."""
    remedy = f"to index what was crawled: gossamer harvest {root}"
    if not has_documents:
        remedy = f"no page was fetched and parsed yet; to crawl: gossamer crawl {root} URL..."
    return StoreError(root, "no page is indexed", remedy)


class IndexParts(NamedTuple):
    """The files of an index by the folder of their part, and the `state` that these make.

    `vectors`: its files of vectors, if it is searched by meaning, too.
    """

    files: Mapping[PurePath, Sequence[File]]
    state: str
    vectors: Sequence[File] = ()

    @classmethod
    def from_manifest(cls, work: Workspace) -> Self:
        """The index that the manifest names, as the store last read it.

        Raises StoreError if the index has the format of another version.
        """
        files: dict[PurePath, list[File]] = {}
        for file in work.store.listed("index"):
            files.setdefault(PurePath(file.path).parent, []).append(file)
        for part in files:
            if shard_of(part) is None:
                raise StoreError(
                    f"{work.root}/{part}",
                    "has the format of another version of Gossamer",
                    f"build it again: gossamer index {work.root}",
                )
        # Independent of the folder, so that machines with copies of a crawl agree on it.
        vectors = vector_files(work)
        names = (*sorted(files), *sorted(file.path for file in vectors))
        state = xxhash.xxh3_64_hexdigest("\n".join(map(str, names)).encode())
        return cls(files, state, vectors)

    @property
    def shards(self) -> tuple[int, ...]:
        return tuple(
            sorted({shard for part in self.files if (shard := shard_of(part)) is not None})
        )


def vector_files(work: Workspace) -> list[File]:
    """The files of vectors, if the settings name a model."""
    return work.store.listed("vectors") if work.config.semantic.model else []


class Searcher:
    """Searches the index as it was when it was opened. A newer index needs a new Searcher."""

    @classmethod
    def open(
        cls,
        work: Workspace,
        crawl: CrawlView | None = None,
        shards: Collection[int] = (),
        parts: IndexParts | None = None,
    ) -> Self:
        """Open an index: `parts`, or the one that the manifest names, as the store last read it.

        Raises MissingFile, StoreError if the index has the format of another version, and
        ConfigError if the synonyms cannot be used.

        `crawl`: for page filters; by default it is read from `work`. `shards`: open only these, if
        any are given.
        """
        files, state, vectors = parts or IndexParts.from_manifest(work)
        mine = [part for part in sorted(files) if not shards or shard_of(part) in shards]
        wanted = [file for part in mine for file in files[part]]
        wanted += vectors
        if is_object_url(work.root):  # they are verified as they are fetched
            work.store.trust(wanted)
        work.store.check(wanted)
        with ExitStack() as stack:
            folders = [
                stack.enter_context(local_copies.local_folder(work.root, files[part]))
                for part in mine
            ]
            node = Node(
                folders,
                work.config.ranking,
                state,
                tiered=any(map(is_first_tier, files)),
                meanings=_open_meanings(work, vectors, shards),
            )
        synonyms = synonyms_of(work.root, work.config.search.synonyms)
        return cls(node, work.config.ranking, crawl or PageInfo(work, Lookup(work)), synonyms)

    def __init__(
        self,
        node: Node,
        weights: RankingConfig,
        crawl: CrawlView = NO_CRAWL,
        synonyms: Synonyms | None = None,
    ) -> None:
        self.node = node
        self._crawl = crawl
        expand = expansion(synonyms, node.languages) if synonyms else unexpanded
        self._broker = Broker(1, weights, expand, meanings=node.meanings is not None)

    @property
    def pages(self) -> int:
        return self.node.pages

    @property
    def languages(self) -> Collection[str]:
        """The languages of the index."""
        return self.node.languages

    @property
    def state(self) -> str:
        """A hash of the names of the index's parts: it differs if the index does."""
        return self.node.state

    def search(
        self,
        query: str,
        offset: int = 0,
        limit: int = 10,
        *,
        by_date: bool = False,
        facets: bool = False,
        explain: bool = False,
        profile: Profile | None = None,
        verbatim: bool = False,
        language: str = "",
    ) -> Results:
        """The results of a query, starting at `offset`; at most MAX_RESULTS can be reached."""
        return self.answer(
            Question(query, offset, limit, by_date, facets, explain, profile, verbatim, language)
        )

    def answer(self, question: Question, until_s: float = math.inf) -> Results:
        """The results of a question.

        No step begins after `until_s` (time.monotonic). Raises TimeoutError.
        """
        facts = page_facts(effective_query(question.query), self._crawl)
        return self._drive(self._broker.answer(question, facts), until_s).results

    def complete(self, text: str, limit: int = 8) -> list[str]:
        """The query with its last word completed, in at most `limit` ways."""
        return self._drive(self._broker.complete(text, limit))

    def _drive(self, asking: RequestGenerator[_T], until_s: float = math.inf) -> _T:
        try:
            requests = next(asking)
            while True:
                if time.monotonic() >= until_s:
                    raise TimeoutError
                replies = {number: self.node.reply(each) for number, each in requests.items()}
                requests = asking.send(replies)
        except StopIteration as done:
            answer: _T = done.value
            return answer


def _open_meanings(
    work: Workspace, files: Sequence[File], shards: Collection[int]
) -> Meanings | None:
    """The vectors of some shards; None without a model, whose libraries are not imported then."""
    if not files:
        return None
    from gossamer.semantic.nearest import Meanings

    return Meanings.open(work.config.semantic, work.root, files, shards)
