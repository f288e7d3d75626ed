"""Which documents the index takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.errors import UsageError
from gossamer.index.format.selection import standing_dispositions
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

URL = "http://a.example/"


def test_documents_are_compared_before_they_are_indexed(work: Workspace) -> None:
    assert standing_dispositions(work).count() == 0
    put(work, "documents", [{"url": URL, "outcome": "parsed"}])
    with pytest.raises(UsageError, match="equal texts") as refused:
        standing_dispositions(work)
    assert "gossamer dedup" in str(refused.value)
    put(work, "dispositions", [{"url": URL, "disposition": "indexed"}])
    assert [row["url"] for row in standing_dispositions(work).collect()] == [URL]
