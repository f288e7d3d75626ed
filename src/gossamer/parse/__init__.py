"""parse: responses + WARC → documents, links.

The life of one page:

  1. `run` (`step.py`) shares the files of responses among tasks. `task.py` reads the rows that
     brought a new body and, one at a time, their bodies from the WARC files.
  2. The body goes to a process beside the task, which the kernel ends when a page wants too much
     (`guard.py`). `content.py` finds out what it is (`sniff.py`), and `parsers.py` who reads that.
  3. `charset/` finds the encoding of a text. `html/` walks over the elements of HTML for text,
     headings, links and what tells of the page, `maintext/` for its main text. `listing/` reads
     feeds and sitemaps, `text.py` plain text, `files.py` all else, by `binary/`.
  4. `content.py` adds what all formats have: the language (`language.py`), and what the headers ask
     of crawlers (`directives.py`).
  5. Back in the task, each link is asked of the filters (gossamer.filters). What they drop is
     counted by reason, as are the references that are no links (`urls.refusal`); what they
     keep is a row of links; the page is a row of documents.
  6. `discovery.py` adds the sitemaps that no page links to: the robots.txt files that the fetch
     kept in `hosts` name them.

Whatever a page holds, it becomes a row with an outcome, and never an exception:

    parsed        there is text or a title
    listing       a feed or a sitemap: its links were taken, and it is not to be found itself
    empty         it was read, and there is neither
    unsupported   nothing here reads its type
    failed        the parser gave up on it; `detail` says why
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.parse.content import parse_response
from gossamer.parse.page import Content, Link, ParsedPage, Rules

if TYPE_CHECKING:
    from gossamer.parse.step import again, run

__all__ = ["Content", "Link", "ParsedPage", "Rules", "again", "parse_response", "run"]


def __getattr__(name: str) -> Any:
    # Who parses single pages shall not wait for Arrow to be imported: so does each guard's process.
    if name in {"again", "run"}:
        from gossamer.parse import step

        return getattr(step, name)
    raise AttributeError(name)
