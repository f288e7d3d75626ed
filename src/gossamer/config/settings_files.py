"""Reading settings files; one that cannot be read is an error and never counts as empty."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 4_000_000
"""Size limit of a settings file."""
OWNER = 0o700
READING_GROUP = 0o040
"""Mode bits."""


def read_text(path: Path, remedy: str, max_bytes: int = MAX_BYTES) -> tuple[str, os.stat_result]:
    """Return the text of a regular file, with its owner and mode. Raises ConfigError."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise ConfigError(path, "cannot be read: it is not a regular file", remedy)
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(max_bytes + 1)
        finally:
            os.close(descriptor)
        if len(data) > max_bytes:
            raise ConfigError(
                path, f"cannot be read: it is longer than {max_bytes:,} bytes", remedy
            )
        return decode_settings(data, path, remedy), state
    except FileNotFoundError as error:
        if path.is_symlink():
            target = os.readlink(path)  # noqa: PTH115  # as text
            what = f"it is a link to {target}, which does not exist"
            raise ConfigError(path, f"cannot be read: {what}", remedy) from None
        raise ConfigError(path, f"cannot be read: {_reason(error)}", remedy) from None
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {_reason(error)}", remedy) from None


def decode_settings(data: bytes, path: object, remedy: str) -> str:
    """The text of a settings file. Raises ConfigError."""
    try:
        return data.decode("utf-8-sig")  # Notepad begins files with a byte order mark
    except UnicodeDecodeError as error:
        what = f"it is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        raise ConfigError(path, f"cannot be read: {what}", remedy) from None


def closed_to_others(path: Path, state: os.stat_result) -> None:
    """Raises ConfigError if the mode of a file with a secret admits other users.

    A file of root's may be read by its group: that is how Kubernetes gives secrets to users other
    than root. PostgreSQL has the same rule for its keys.
    """
    mode = stat.S_IMODE(state.st_mode)
    if mode & ~(OWNER | (READING_GROUP if state.st_uid == 0 else 0)):
        raise ConfigError(
            path,
            f"contains a secret, but its mode {mode:04o} lets other users read it",
            f"chmod 600 {path}",
        )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
