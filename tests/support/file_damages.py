"""Damages of files, and what is found of them in a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.api.crawl import Crawl
from gossamer.flow.check import checks

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace


def gone(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def wrong(work: Workspace) -> list[str]:
    """What a check finds: paths of damaged files, or else sentences about contents."""
    damaged = [file.path for file, error in checks.check_files(work) if error is not None]
    return damaged or list(checks.check_contents(work))


def reopened(crawl: Crawl) -> Crawl:
    """The crawl as another process sees it, which has verified no file yet."""
    return Crawl.open(crawl.path, crawl.work.engine)


def indexed(crawl: Crawl) -> set[str]:
    return {row.url for row in crawl.dataset("indexed").select("url").collect()}
