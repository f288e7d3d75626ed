"""Metadata before the text of a Markdown file, as static site generators read it.

It is YAML between lines `---` (Jekyll, pandoc), TOML between lines `+++` (Hugo, Zola), or a JSON
object (Hugo). Of YAML, the forms are read in which people write titles, names and dates: scalars,
lists of them, and lists of objects with names.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from gossamer.parse.documents.document_draft import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_CHARS = 20_000

FIELDS = {
    **dict.fromkeys(("title", "headline", "name"), "title"),
    **dict.fromkeys(("author", "authors", "creator"), "author"),
    **dict.fromkeys(
        ("date", "datePublished", "published", "published_at", "created_at"), "published"
    ),
    **dict.fromkeys(("lastmod", "dateModified", "modified", "updated", "updated_at"), "modified"),
    **dict.fromkeys(("lang", "language", "inLanguage"), "language"),
}
"""Names of metadata in front matter and in JSON; the first one present is used."""
_YAML = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.{0,20000}?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_TABLES = ("params", "extra", "taxonomies")
"""Tables in which Hugo and Zola have further fields."""
_ENTRY = re.compile(r"([A-Za-z_]{1,40}):(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*(?:-[ \t]+)?(?:([A-Za-z_]{1,40}):[ \t]+)?(.*)")
_MULTILINE = re.compile(r"[|>][+-]?\d?\Z")
_QUOTED = re.compile(r"""\s*(["'])(.*?)\1\s*(?:#.*)?\Z""")
_LIST = re.compile(r"\[(.*)\]\Z")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the metadata by names of fields, and the text that follows."""
    if found := _YAML.match(text):
        values: Mapping[str, Any] = dict(_entries(found[1]))
    elif found := _TOML.match(text):
        try:
            values = tomllib.loads(found[1])
        except (tomllib.TOMLDecodeError, RecursionError):
            values = {}
    elif text.startswith("{"):
        return _split_json(text)
    else:
        return {}, text
    return metadata_of(values), text[found.end() :]


def metadata_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return metadata by names of fields, from an object with the names of `FIELDS`."""
    metadata: dict[str, str] = {}
    for table in (values, *map(values.get, _TABLES)):
        if isinstance(table, dict):
            for key, field in FIELDS.items():
                if value := _text_of(table.get(key), all_=field == "author"):
                    metadata.setdefault(field, value)
    return metadata


def _text_of(value: Any, *, all_: bool) -> str:
    """Return a value as text; of a list the first one, or all. An object has a name (JSON-LD)."""
    if isinstance(value, list):
        texts = [_text_of(each, all_=False) for each in value[: None if all_ else 1]]
        return joined(texts)
    if isinstance(value, dict):
        value = value.get("name")
    if isinstance(value, str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else ""


def _split_json(text: str) -> tuple[dict[str, str], str]:
    try:
        values, end = json.JSONDecoder().raw_decode(text[:MAX_CHARS])
    except (ValueError, RecursionError):
        return {}, text
    return metadata_of(values), text[end:]


def _entries(yaml: str) -> Iterator[tuple[str, str | list[str]]]:
    """Yield the entries of a mapping in YAML."""
    key, is_text = "", False
    items: list[str] = []
    for line in (*yaml.split("\n"), "end:"):
        if entry := _ENTRY.match(line):
            if key:
                yield key, " ".join(items) if is_text else [_unquoted(item) for item in items]
            key, value = entry[1], (entry[2] or "").strip()
            is_text = _MULTILINE.match(value) is not None
            listed = _LIST.match(value)
            items = listed[1].split(",") if listed else [value] if value and not is_text else []
        elif line.strip() and (item := _ITEM.match(line)) is not None:
            if is_text:
                items.append(line.strip())
            elif item[1] in (None, "name"):
                items.append(item[2])


def _unquoted(value: str) -> str:
    """Return a scalar without its quotes, and without a comment behind it."""
    quoted = _QUOTED.match(value)
    return quoted[2] if quoted else value.partition(" #")[0].strip()
