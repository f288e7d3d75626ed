"""The gossamer.toml of a crawl, in a folder or on object storage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import config as configs
from gossamer.config.settings_files import decode_settings
from gossamer.errors import RESTORE, ConfigError, Conflict
from gossamer.storage import opening
from gossamer.storage.local_backend import rewrite_file
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.storage.backends import Backend

DEFAULTS = "# All settings have their defaults; docs/settings.md explains them.\n"
"""Written instead of an empty gossamer.toml, which is refused: a full disk leaves empty files."""


def has_settings(backend: Backend) -> bool:
    """Whether there is a gossamer.toml, or a link of that name."""
    try:
        backend.size(CONFIG_NAME)
    except FileNotFoundError:
        return not is_object_url(backend.url) and Path(backend.url, CONFIG_NAME).is_symlink()
    return True


def read_settings(root: str) -> Config:
    """Read gossamer.toml. Raises ConfigError."""
    path = f"{root}/{CONFIG_NAME}"
    if not is_object_url(root):
        return configs.load(Path(path))
    try:
        data = opening.read(path)
    except FileNotFoundError:
        raise ConfigError(path, "cannot be read: no such object", RESTORE) from None
    if not data.strip():
        raise ConfigError(path, "is empty; its settings are lost", RESTORE)
    config = configs.loads(decode_settings(data, path, RESTORE), path)
    lists = filter(None, (config.rank.trusted_file, config.rank.distrusted_file))
    named = (*configs.files_beside(config), *lists)
    if beside := [name for name in named if not Path(name).is_absolute()]:
        raise ConfigError(
            path,
            f"names {beside[0]}, which is not read from object storage",
            "give its absolute path on each machine, or write its text into gossamer.toml",
        )
    return config


def write_settings(backend: Backend, settings: str, *, private: bool) -> None:
    """Write gossamer.toml, before the first manifest, so that no crawl is ever without settings.

    Raises Conflict if the folder has different settings.
    """
    settings = settings if settings.strip() else DEFAULTS
    try:
        backend.create(CONFIG_NAME, settings.encode(), private=private)
    except FileExistsError:
        if backend.read(CONFIG_NAME) != settings.encode():
            raise Conflict(
                f"{backend.url}/{CONFIG_NAME}",
                "already exists, with different settings",
                "choose another folder, or move this file away and edit the new one",
            ) from None


def replace_settings(root: str, settings: str, *, private: bool = False) -> None:
    """Replace the gossamer.toml of a crawl. `private`: other users may not read it."""
    data = (settings if settings.strip() else DEFAULTS).encode()
    path = f"{root}/{CONFIG_NAME}"
    if is_object_url(root):
        opening.replace(path, data)
    else:
        rewrite_file(path, data, private=private)
