"""parse: responses + WARC → documents, links.

The life of one page:

  1. `run` (`run.py`) divides the files of responses among tasks. Each task (`parse_task.py`) reads
     the rows that have a new body, and reads these bodies from the WARC files, one at a time.
  2. The task passes each body to a child process, which is ended when a page takes too much time or
     memory (`guarded_parser.py`). There, `page_parsing.py` determines the type of the body
     (`type_sniffing.py`) and `parsers.py` selects its parser.
  3. `charset/` detects the encoding. `html/` walks over the elements of HTML for text, headings,
     links and metadata, `maintext/` for the main text. `listing/` reads feeds and sitemaps,
     `parsers.py` plain text, and the readers in `documents/` everything else.
     A body that was fetched from several URLs is read once (`body_cache.py`).
  4. `page_parsing.py` adds what every format has: the language (`language.py`), and what the HTTP
     headers say: directives for crawlers (`directives.py`) and links (`header_links.py`).
  5. Back in the task, the filters (gossamer.rules.filters) check each link, and rules for languages
     the page. Dropped links are counted by reason, together with the references that are not links
     (`urls.refusal`). The others become rows of links, and the page becomes a row of documents
     (`page_writer.py`).
  6. `sitemap_discovery.py` adds the sitemaps that no page links to. The robots.txt files name them,
     which fetch has stored in `hosts`.

Whatever a page contains, it becomes a row with an outcome, never an exception:

    parsed        it has text or a title
    listing       a feed or a sitemap: we follow its links but do not index it
    empty         it was read, and has neither text nor title
    unsupported   there is no parser for its type
    failed        the parser gave up on it; `detail` says why
    filtered      it was parsed, but a filter rule refuses its language: we follow its links

Pages left for the next round have no row yet (`postponed.py`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gossamer.parse.parsed_page import Content, Link, ParsedPage, Rules

if TYPE_CHECKING:
    from gossamer.parse.page_parsing import parse_response
    from gossamer.parse.step.parse_ahead import Ahead
    from gossamer.parse.step.run import reparse, run

__all__ = ["Ahead", "Content", "Link", "ParsedPage", "Rules", "parse_response", "reparse", "run"]

_LATER = {
    "Ahead": "step.parse_ahead",
    "parse_response": "page_parsing",
    "reparse": "step.run",
    "run": "step.run",
}
"""Modules that take long to import: the guarded processes need no Arrow, the tasks no parsers."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(name)
