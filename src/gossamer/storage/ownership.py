"""Datasets on another disk: which crawl owns the folder that a symbolic link leads to.

A user may replace the folder of a dataset by a link to a folder elsewhere. If two crawls shared
one, each would delete the other's files as garbage. So the first crawl that uses the folder leaves
a mark there: the crawl's random name, its folder, and the dataset.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import Occupied, StoreError
from gossamer.storage.names import OWNER_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


class Owner(msgspec.Struct, frozen=True):
    """The contents of a mark. `folder` is the crawl's folder."""

    crawl: str
    folder: str
    dataset: str


def claim_folder(
    root: Path, dataset: str, crawl: str, named: Callable[[], Collection[str]]
) -> Path:
    """Return the folder that a dataset's link leads to, after marking it as this crawl's.

    `named` returns the paths in the manifest. Raises Occupied if the folder belongs to another
    crawl or dataset, or holds other files; StoreError if it, or one of its files, is missing.
    """
    link = root / dataset
    target = link.resolve()
    if not target.is_dir():
        raise StoreError(link, f"leads to {target}, which is not a folder", "mount or create it")
    if target.is_relative_to(root) or root.is_relative_to(target):
        raise Occupied(link, f"leads to {target}, inside or around the crawl", _elsewhere(link))
    mine = Owner(crawl, str(root), dataset)
    mark = target / OWNER_MARK
    owner = _read_owner(mark)
    if owner is None:
        _check_files(link, target, {path for path in named() if path.startswith(f"{dataset}/")})
        owner = _write_first(mark, mine)
    if owner == mine:
        return target
    of_this = (owner.crawl, owner.dataset) == (crawl, dataset)
    there = Path(owner.folder)
    if of_this and _is_folder(there, root):
        return target
    if not of_this or _resolve_owner(there / dataset) == target:
        whose = f"belongs to {owner.dataset} of the crawl {owner.folder}"
        raise Occupied(link, f"leads to {target}, which {whose}", _elsewhere(link))
    mark.write_bytes(msgspec.json.encode(mine))  # the crawl was moved
    return target


def _check_files(link: Path, target: Path, named: Collection[str]) -> None:
    """Check that a folder without a mark holds exactly the files that the manifest names."""
    found = {f"{link.name}/{path}" for path in _owned_files(target)}
    if others := sorted(found.difference(named)):
        what = f"leads to {target}, which holds other files: {others[0]}"
        remedy = f"{_elsewhere(link)}; or delete what an interrupted run of this crawl left there"
        raise Occupied(link, what, remedy)
    if missing := sorted(set(named) - found):
        what = f"leads to {target}, which lacks {missing[0]}"
        raise StoreError(link, what, "mount the disk, or copy the files of this dataset there")


def _owned_files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield Path(parent, name).relative_to(folder).as_posix()


def _elsewhere(link: Path) -> str:
    return f"make {link} a link to an empty folder of its own"


def _read_owner(mark: Path) -> Owner | None:
    try:
        return msgspec.json.decode(mark.read_bytes(), type=Owner)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        remedy = "delete it if no other crawl uses this folder"
        raise StoreError(mark, f"does not name a crawl: {error}", remedy) from None


def _write_first(mark: Path, owner: Owner) -> Owner:
    """Mark a folder, unless another crawl was faster; return its owner."""
    try:
        with mark.open("xb") as file:
            file.write(msgspec.json.encode(owner))
    except FileExistsError:
        return _read_owner(mark) or owner
    return owner


def _is_folder(path: Path, root: Path) -> bool:
    """Whether a path leads to a folder, which has several on file systems that ignore case."""
    try:
        return path.samefile(root)
    except OSError:
        return False


def _resolve_owner(path: Path) -> Path | None:
    try:
        return path.resolve(strict=True)
    except OSError:
        return None
