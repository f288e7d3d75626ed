"""A crawl that several tests change, each from the same state."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from gossamer.state.workspace import Workspace
from gossamer.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


def returning(work: Workspace) -> Callable[[], Workspace]:
    """Returns the crawl to its present state, whatever has been committed by then.

    The files of a state stay as long as garbage is not collected, so newer manifests are deleted.
    """
    version, backend = work.store.manifest.version, work.store.backend

    def returned() -> Workspace:
        names = [path for path, _ in backend.sizes("manifest")]
        numbered = [path for path in names if re.fullmatch(r"\d+\.json", PurePath(path).name)]
        backend.delete(path for path in numbered if int(PurePath(path).stem) > version)
        return Workspace(Store.open(backend), work.config, work.clock_ms, _engine=work.engine)

    return returned
