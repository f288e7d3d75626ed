"""Which sections is a URL in?

A section is a host with the beginning of a path, up to a slash, or of a query, up to the name of
its first parameter: `example.org/news/2024/`, `example.org/view?id`. It holds the pages whose URLs
begin like this. The same path on all hosts is a section, too, with a star for the host, since many
sites are built alike: `*/tag/`; `*/` holds all pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from pyspark.sql import Column

MAX_FOLDERS = 6
"""Folders of a path that sections distinguish."""
MAX_NAME_CHARS = 50
"""Characters of the name of a parameter."""
ANYWHERE = "*"
"""Stands for all hosts."""
EVERYTHING = "*/"
COUNTS = ("known", "fetched", "asked", "changed", "fit")
"""The columns of `sections` that count pages (step.py)."""


def folder_column(url: Column) -> Column:
    """The folder of a URL: its innermost section, at any depth."""
    from pyspark.sql import functions as F  # a server that shows sections needs no engine

    rest = F.substr(url, F.instr(url, "://") + F.lit(3))
    path = F.split_part(rest, F.lit("?"), F.lit(1))
    query = F.split_part(rest, F.lit("?"), F.lit(2))
    name = F.split_part(F.split_part(query, F.lit("&"), F.lit(1)), F.lit("="), F.lit(1))
    of_query = F.concat(path, F.lit("?"), F.left(name, F.lit(MAX_NAME_CHARS)))
    of_path = F.left(path, F.length(path) - F.length(F.substring_index(path, "/", -1)))
    folder = F.when(F.contains(url, F.lit("?")), of_query).otherwise(of_path)
    return folder.cast("string")  # in Sail 0.7.2, it is a view, which pyspark cannot convert


def enclosing_sections(folder: str) -> Iterator[str]:
    """The sections that a folder is in, from itself outwards, and that of its host first."""
    path, mark, _ = folder.partition("?")
    host, *folders = path.split("/")[:-1]
    if mark and len(folders) < MAX_FOLDERS:
        yield folder
        yield ANYWHERE + folder.removeprefix(host)
    for level in range(min(len(folders), MAX_FOLDERS), -1, -1):
        below = "/".join(["", *folders[:level], ""])
        yield host + below
        yield ANYWHERE + below


def innermost_section(folder: str, sections: Container[str]) -> str:
    """The innermost of some sections, which include EVERYTHING, that a folder is in."""
    return next(each for each in enclosing_sections(folder) if each in sections)


def innermost_sections(folders: pa.Array, sections: Container[str]) -> pa.Array:
    """The innermost of some sections that each folder is in."""
    encoded = pa.chunked_array(folders).combine_chunks().dictionary_encode()
    names = [innermost_section(name, sections) for name in encoded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(encoded.indices)
