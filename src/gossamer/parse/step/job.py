"""What a parse task gets: its share of the pages, and the job that all tasks have in common.

Tasks run in worker processes, which need no pyspark; `planning.py` makes the job in the driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.parse.parsed_page import Rules
    from gossamer.parse.step.stored_responses import Piece
    from gossamer.rules.filter_rules.filter_recipe import FilterRecipe


class Early(NamedTuple):
    """How a task parses pages while their round is being fetched (`parse_ahead.py`)."""

    over: str
    """A file that appears when the fetch has ended. The task then ends as well."""
    later: str
    """Scratch folder for the pages that it has not parsed, with the columns of unparsed."""
    spent: str
    """Scratch folder for what domains took (SPENT)."""
    tasks: int
    """The number of such tasks that may run at once."""


@dataclass(frozen=True)
class Job:
    """What all tasks of a step have in common."""

    root: str
    round: int
    config: Config
    rules: Rules
    filters: FilterRecipe
    fetch_began_ms: int
    """When the round's fetch began. robots.txt files fetched since then are new."""
    attempts: tuple[str, str, str, str]
    """Folders for documents, links, unparsed, and the pages for the second pass."""
    domain_cpu_s: float = 0
    """Processor time for the pages of a registrable domain; 0: no limit."""
    files: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """All files of responses and of unparsed; each task has pieces of them."""
    moved: tuple[str, ...] = ()
    """Files of pages that are parsed with those of another file of responses (`body_copies.py`)."""
    url_rules: tuple[str, ...] = ()
    """Scratch files of the active rules for URLs (`url_rules.rule_updates`)."""
    rewritten: str = ""
    """Folder for the URLs that they rewrite."""
    unreadable: str | None = None
    """Scratch folder for a list (UNREADABLE) of pages whose stored body is damaged; they get no
    document. None: they get a document with the outcome `failed`."""
    spent: tuple[tuple[str, float], ...] = ()
    """What domains took ahead of this task, in seconds."""
    early: Early | None = None


@dataclass(frozen=True)
class Share:
    """The part of one task: its number, and its files, relative to the crawl's folder."""

    number: int
    responses: tuple[Piece, ...] = ()
    unparsed: tuple[Piece, ...] = ()
    hosts: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Files of links from when the round was parsed before."""
    alone: bool = False
    """Whether this is the second pass, in which no other page is parsed at the same time."""
