"""Write datasets.md and settings.md from the code (`make docs`)."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec

from gossamer.config import Config
from gossamer.config.fetching import HOSTS
from gossamer.config.searching import NODE, ORIGIN
from gossamer.config.settings_table import LINE, SITE_PATH
from gossamer.tables import DATASETS, Dataset
from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
GENERATED = "<!-- Written by docs/generate.py: `make docs`. -->"
PATTERNS = {
    LINE: "one line",
    HOSTS: "`[scheme://]host[:port]`",
    NODE: "`host:port`",
    ORIGIN: "`scheme://host[:port]` or `*`",
    SITE_PATH: "like `/find`, without a `/` at the end",
}
BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "pattern": "matches", "max_length": "≤"}
LONG_DEFAULT = 60


DATASETS_INTRO = """\
The datasets in a crawl folder, generated from `src/gossamer/tables/`. `gossamer export` writes
each table as Parquet, CSV or JSON Lines; [formats.md](formats.md) describes the files."""
OUTCOMES_INTRO = """\
The possible outcomes of a fetch, and what follows from each. A page that failed, which is each
outcome with a wait, is asked for again without end, each time after twice the wait. After so many
failures in a row, it gets the status, unless its host is away (see operating.md, Outages). After a
failure that counts for the host, the host's other pages wait, too, twice as long with each such
failure in a row."""
SETTINGS_INTRO = """\
The keys of `gossamer.toml`, generated from `src/gossamer/config/`. A missing key has its default.
An unknown key or a value out of range is an error that names the key."""


def datasets() -> str:
    lines = [
        "# Datasets",
        GENERATED,
        DATASETS_INTRO,
        "Times are `_ms` (milliseconds since 1970, UTC) or `_s` (seconds).",
    ]
    for dataset in DATASETS.values():
        lines += [
            f"## {dataset.name}",
            f"{dataset.holds[0].upper()}{dataset.holds[1:]}. {of_whom(dataset)}",
        ]
        if dataset.key:
            newest = " A newer row replaces an older one." if dataset.newest_wins else ""
            lines.append(f"Key: {', '.join(f'`{name}`' for name in dataset.key)}.{newest}")
        if dataset.columns:
            rows = [(f"`{c.name}`", f"`{c.type}`", c.doc) for c in dataset.columns]
            lines.append(table(("column", "type", "holds"), rows))
        else:
            lines.append("Its format is in [formats.md](formats.md).")
    outcomes = [
        (
            f"`{name}`",
            policy.meaning,
            f"`{policy.status}`",
            f"{policy.retry_wait_s:,} s" if policy.retry_wait_s else "",
            f"{policy.max_tries}" if policy.retry_wait_s else "",
            "yes" if policy.affects_host else "",
            f"{policy.host_wait_s} s" if policy.host_wait_s else "",
            ", ".join(f"`{setting}`" for setting in policy.settings),
        )
        for name, policy in OUTCOMES.items()
    ]
    lines += [
        "## Outcomes",
        OUTCOMES_INTRO,
        table(
            (
                "outcome",
                "meaning",
                "status",
                "wait",
                "tries",
                "host's failure",
                "host's wait",
                "settings",
            ),
            outcomes,
        ),
    ]
    return "\n\n".join(lines) + "\n"


def of_whom(dataset: Dataset) -> str:
    readers = f", read by {', '.join(dataset.readers)}" if dataset.readers else ""
    return f"Written by {dataset.writer}{readers}."


def settings() -> str:
    lines = [
        "# Settings",
        GENERATED,
        SETTINGS_INTRO,
    ]
    for name, kind in get_type_hints(Config).items():
        lines += section(f"[{name}]", kind)
        for field, inner in get_type_hints(kind).items():
            if struct := next((part for part in get_args(inner) if is_struct(part)), None):
                lines += section(f"[[{name}.{field}]]", struct)
    return "\n\n".join(lines) + "\n"


def section(name: str, kind: type[msgspec.Struct]) -> list[str]:
    head = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
    return [f"## {name}", head, table(("key", "default", "range", "meaning"), rows_of(kind))]


def is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def rows_of(kind: type[msgspec.Struct]) -> Iterator[tuple[str, ...]]:
    hints, texts = get_type_hints(kind, include_extras=True), docstrings(kind)
    for field in msgspec.structs.fields(kind):
        bounds = [
            bound_of(name, sign, bound)
            for meta in getattr(hints[field.name], "__metadata__", ())
            for name, sign in BOUNDS.items()
            if (bound := getattr(meta, name)) is not None
        ]
        yield f"`{field.name}`", default_of(field), ", ".join(bounds), texts.get(field.name, "")


def docstrings(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class, as phrases in lower case without a full stop."""
    (source,) = ast.parse(inspect.getsource(kind)).body
    texts = {}
    for field, below in pairwise(ast.iter_child_nodes(source)):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                phrase = " ".join(text.split()).removesuffix(".")
                abbreviation = phrase[1:2].isupper()
                texts[name] = phrase if abbreviation else phrase[:1].lower() + phrase[1:]
    return texts


def bound_of(name: str, sign: str, bound: Any) -> str:
    if name == "pattern":
        return PATTERNS.get(bound) or f"{sign} `{bound}`"
    if name == "max_length":
        return f"{sign} {bound:,} characters"
    return f"{sign} {bound:,}"


def default_of(field: Any) -> str:
    if field.required:
        return ""
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    text = msgspec.json.encode(value).decode()
    return f"`{text}`" if len(text) <= LONG_DEFAULT else f"`{text[:LONG_DEFAULT]}…`"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines
    )


PAGES = {"datasets.md": datasets, "settings.md": settings}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
