"""What the name of a file of a crawl says."""

from __future__ import annotations

import pytest

from gossamer.storage.names import rewriter_of, version_in, version_of


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("documents/00000003-0123abcd/a.parquet", "gossamer reparse"),
        ("graph/00000003-0123abcd/pages.graph", "gossamer graph build"),
        ("warc/00000003-0123abcd/a.warc.gz", None),
        ("gossamer.toml", None),
    ],
)
def test_datasets_that_follow_from_others_can_be_written_again(
    path: str, command: str | None
) -> None:
    assert rewriter_of(path) == command


@pytest.mark.parametrize(
    ("path", "manifest", "version"),
    [
        ("manifest/00000003.json", 3, 3),
        ("documents/00000004-0123abcd/a.parquet", None, 4),
        ("gossamer.toml", None, 0),
    ],
)
def test_files_have_the_version_of_their_commit(
    path: str, manifest: int | None, version: int
) -> None:
    assert version_of(path) == manifest
    assert version_in(path) == version
