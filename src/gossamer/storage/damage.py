"""Which file of a crawl is damaged? The engine and Arrow say that one is, but rarely which."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.errors import EngineError, MissingFile
from gossamer.storage import parquet
from gossamer.storage.errors import system_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SIGNS = ("Parquet error", "Parquet argument error", "Arrow error", "decompress", "thrift")
"""In an error of the engine, that it could not decode a file. Facts: Sail 0.7."""


@contextmanager
def damage_errors(root: str, paths: Callable[[], Iterable[str]]) -> Iterator[None]:
    """What Arrow, the engine and the operating system raise for files of a crawl, as StoreErrors.

    `paths` are the Parquet files that may have been read. They are only looked through once
    something failed. An OSError without a number is Arrow's word for bytes that it cannot decode.
    """
    try:
        yield
    except EngineError as error:
        if any(sign in error.what for sign in SIGNS) and (found := find_damaged(paths())):
            raise found from error
        raise
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, BrokenPipeError):  # of whoever reads what we print
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise system_error(error, root) from error
        if found := find_damaged(paths()):
            raise found from error
        raise


def find_damaged(paths: Iterable[str]) -> MissingFile | None:
    """The first Parquet file that cannot be read to its end. First all footers, which are quick."""
    listed = list(paths)
    for read in (_read_footer, _read_whole):
        for path in listed:
            try:
                read(path)
            except (pa.ArrowException, OSError) as error:
                return MissingFile(path, f"is damaged: {str(error).strip()}")
    return None


def _read_footer(path: str) -> None:
    parquet.open_parquet(path).close()


def _read_whole(path: str) -> None:
    with parquet.open_parquet(path) as file:
        for _ in file.iter_batches():
            pass
