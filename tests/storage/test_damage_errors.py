"""What becomes of the errors that Arrow and the operating system raise for files of a crawl."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import EngineError, MissingFile, StoreError, StoreFull
from gossamer.storage.damage import damage_errors

if TYPE_CHECKING:
    from pathlib import Path


def raised(error: Exception, *paths: Path) -> type[BaseException]:
    with (
        pytest.raises(Exception) as found,  # noqa: PT011  # any
        damage_errors("/crawl", lambda: map(str, paths)),
    ):
        raise error
    return found.type


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BrokenPipeError(errno.EPIPE, "of whoever reads what we print"), BrokenPipeError),
        (OSError(errno.ENOSPC, "full"), StoreFull),
        (OSError(errno.EIO, "broken"), StoreError),
        (OSError("bytes that cannot be decoded"), OSError),
        (pa.ArrowInvalid("of other things"), pa.ArrowInvalid),
        (ValueError("of ours"), ValueError),
    ],
)
def test_errors_while_no_file_is_damaged(
    tmp_path: Path, error: Exception, expected: type[Exception]
) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "whole.parquet")
    assert raised(error, tmp_path / "whole.parquet") is expected


@pytest.mark.parametrize("error", [OSError("no number"), pa.ArrowInvalid("no footer")])
def test_a_damaged_file_is_named(tmp_path: Path, error: Exception) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    assert issubclass(raised(error, tmp_path / "cut.parquet"), MissingFile)
    assert raised(BrokenPipeError(errno.EPIPE, "x"), tmp_path / "cut.parquet") is BrokenPipeError


def test_what_the_engine_cannot_decode_is_looked_for(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    pq.write_table(pa.table({"n": [1]}), whole)
    cut.write_bytes(b"PAR1")
    unread = EngineError("the batch engine", "Parquet error: no footer", "")
    assert raised(unread, whole, cut) is MissingFile
    assert raised(unread, whole) is EngineError
    assert raised(EngineError("the batch engine", "ended", ""), cut) is EngineError
