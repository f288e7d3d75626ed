"""Who may read the files of a crawl: its owner only, unless `store.readers` says otherwise.

New files and folders get their modes from the umask, which all threads of a process share and child
processes inherit. So it applies to whatever writes for us: the batch engine, tantivy, Arrow.
"""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

OWNER_ONLY = 0o077
"""The umask until the settings are known."""
STATUS = Path("/proc/self/status")
"""Where Linux shows the umask of a process (proc(5))."""


def current_umask() -> int:
    """The umask of this process. umask(2) cannot read it without setting it, for all threads.

    Without /proc, the mode of a new folder shows it.
    """
    try:
        status = STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return _umask_of_new_folder()
    _, _, after = status.partition("\nUmask:")
    return int(after.split()[0], 8)


def apply_umask(file: Path) -> None:
    """Set the mode of a new file whose writer chose another one than the umask allows."""
    file.chmod(0o666 & ~current_umask())


def _umask_of_new_folder() -> int:
    folder = Path(tempfile.gettempdir(), f"gossamer-{uuid.uuid4().hex}")
    folder.mkdir()
    try:
        return 0o777 & ~folder.stat().st_mode
    finally:
        folder.rmdir()
