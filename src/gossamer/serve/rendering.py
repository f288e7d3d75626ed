"""HTML from templates. Everything is escaped except `Markup`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gossamer.search.results import matches_in_words
from gossamer.serve.language_names import language_name
from gossamer.status.human_units import duration, percent, size
from gossamer.web.directions import without_overrides

if TYPE_CHECKING:
    from gossamer.search.results import Count, Hit

MAX_CRUMB_CHARS = 40
NEIGHBOURS = 3
"""Numbers shown on each side of the current page of results."""


def render(template: str, **values: object) -> str:
    return _template_environment().get_template(template).render(**values)


def link(url: str) -> str:
    """The URL if it is http or https, else `#`: other schemes may run scripts or open programs."""
    return url if url.startswith(("http://", "https://")) else "#"


def crumbs(url: str) -> list[str]:
    """Host and path segments as breadcrumbs: `docs.example`, `guide`, `start.html`."""
    path = without_overrides(unquote(url.partition("://")[2].partition("?")[0])).split("/")
    return [step[:MAX_CRUMB_CHARS] + "…" * (len(step) > MAX_CRUMB_CHARS) for step in path if step]


def snippet(hit: Hit) -> Markup:
    return Markup(hit.snippet)  # noqa: S704  # escaped by snippets.py, and tested to be


def narrowing(count: Count, name: str) -> str:
    """The filter that narrows a query to the pages counted by a facet value."""
    if name == "year":
        return f"after:{count.value} before:{int(count.value) + 1}"
    return f"{name}:{count.value}"


def filtering(url: str, name: str) -> str:
    """A query for the pages that link to a page (`link`) or are similar to it (`related`)."""
    return f'{name}:"{url}"' if set(url) & set("()") else f"{name}:{url}"


def page_numbers(current: int, last: int) -> list[int]:
    """The numbers of the result pages that the current one links to."""
    return list(range(max(1, current - NEIGHBOURS), min(last, current + NEIGHBOURS) + 1))


def day(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d}"


def moment(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def digits(time_ms: int) -> str:
    """A time as the 14 digits that archives use, in UTC."""
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y%m%d%H%M%S}"


@cache
def drawing_styles() -> str:
    """The style of drawings in files of their own: in light colours, which all programs show."""
    static = Path(__file__).parent / "static"
    colours, rules = (
        (static / f"{name}.css").read_text("utf-8") for name in ("colours", "drawings")
    )
    light, _, _ = colours.partition("@media")
    for name, colour in re.findall(r"(--\w+): ([^;]+);", light):
        rules = rules.replace(f"var({name})", colour)
    return rules


@cache
def _template_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = (day, moment, digits, size, duration, percent)
    of_hits = (link, crumbs, snippet, narrowing, filtering, language_name)
    for function in (*of_hits, matches_in_words, page_numbers, *shown):
        environment.filters[function.__name__] = function
    environment.filters["grouped"] = "{:,}".format
    return environment
