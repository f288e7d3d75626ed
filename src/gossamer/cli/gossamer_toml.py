"""gossamer.toml as commands write it, and what the command line adds to it."""

from __future__ import annotations

import json
import re
import sys
from itertools import chain
from typing import TYPE_CHECKING

import typer

from gossamer.errors import NotACrawl, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gossamer.api.crawl import Crawl
    from gossamer.config import Config

SETTINGS = """\
# The settings of this crawl that are changed most often; docs/settings.md describes all of them.

[fetch]
contact = "{contact}"   # URL or e-mail address where webmasters can reach you
delay_s = 1.0           # seconds between two requests to a host

[filter]
scope = "domain"        # "domain": stay on the seeds' domains; "host": on their hosts; "any"
"""


MAX_OWN_HOSTS = 1_000
"""Each is compared with each host that is crawled, and written to gossamer.toml."""


def require_contact(crawl: Crawl) -> str:
    """Prompt for a contact before the first round if seeds are on hosts of other people.

    Returns what was typed.
    """
    from gossamer.fetch.network.foreign_hosts import first_foreign_host
    from gossamer.fetch.step import no_contact_error

    fetch = crawl.work.config.fetch
    stranger = None if fetch.contact else first_foreign_host(crawl.seed_hosts(), fetch)
    if stranger is None:
        return ""
    if sys.stdin is None or not sys.stdin.isatty():
        raise no_contact_error(crawl.path, stranger)
    typer.echo(f"{stranger} is not your host: its webmaster must be able to reach you.")
    contact: str = typer.prompt("Your URL or e-mail address")
    apply_contact(crawl, contact)
    return contact


def hosts_of_seeds(urls: Iterable[str], lists: Iterable[str] = ()) -> tuple[str, ...]:
    """The host names of these seeds, without ports, for `fetch.own_hosts`.

    `lists` are files. Raises SeedError if one cannot be read, UsageError if there are too many.
    """
    from gossamer.web.seed_lists import BadLine, read_list, resolve_seed
    from gossamer.web.urls import UrlRules, host_of

    rules = UrlRules()
    listed = (seed for each in lists for seed in read_list(each, rules))
    names: dict[str, None] = {}
    for seed in chain((resolve_seed(url, rules) for url in urls), listed):
        if seed is not None and not isinstance(seed, BadLine):
            names[re.sub(r":[0-9]+$", "", host_of(seed.url))] = None
        if len(names) > MAX_OWN_HOSTS:
            raise UsageError(
                "--own",
                f"the seeds are on more than {MAX_OWN_HOSTS:,} hosts",
                "set fetch.own_hosts in gossamer.toml, which takes patterns such as *.example.org",
            )
    return tuple(names)


def with_contact(contact: str, own: tuple[str, ...], config: Config) -> Config:
    """Settings with a contact, if it is not empty, and more own hosts."""
    from msgspec.structs import replace

    fetch = config.fetch
    own = tuple(dict.fromkeys((*fetch.own_hosts, *own)))
    return replace(config, fetch=replace(fetch, contact=contact or fetch.contact, own_hosts=own))


def apply_contact(crawl: Crawl, contact: str = "", own: tuple[str, ...] = ()) -> None:
    """Use a contact and own hosts in this run, and save them if gossamer.toml is unedited."""
    from gossamer.state.settings_file import replace_settings
    from gossamer.storage import opening
    from gossamer.storage.names import CONFIG_NAME

    before = crawl.work.config.fetch
    crawl.work.config = with_contact(contact, own, crawl.work.config)
    after = toml_text(before.contact or contact, crawl.work.config.fetch.own_hosts)
    path = f"{crawl.path}/{CONFIG_NAME}"
    if opening.read(path).decode() == toml_text(before.contact, before.own_hosts) != after:
        replace_settings(crawl.path, after)


def install_gossamer_toml(path: str, settings: Path) -> None:
    """Give a crawl these settings; create it if it does not exist. Raises ConfigError."""
    from gossamer import config as configs
    from gossamer.api.crawl import Crawl
    from gossamer.config.settings_files import read_text
    from gossamer.state.settings_file import replace_settings
    from gossamer.storage.backends import open_backend
    from gossamer.storage.store import Store

    text, _ = read_text(settings, "give the path of a gossamer.toml")
    private = configs.has_secrets(configs.loads(text, settings).fetch)
    try:
        root = Store.open(open_backend(path)).url
    except NotACrawl:
        Crawl.create(path, text)
        typer.echo(f"created {path}")
    else:
        replace_settings(root, text, private=private)
        typer.echo(f"{path} has the settings of {settings} now")


def toml_text(contact: str = "", own: tuple[str, ...] = ()) -> str:
    """The text of gossamer.toml as `init` writes it. Raises ConfigError."""
    text = SETTINGS.format(contact=_contact_as_toml(contact))
    if not own:
        return text
    line = f"own_hosts = {json.dumps(own)}   # your own hosts: several connections, no delay\n"
    return text.replace("\n[filter]", f"{line}\n[filter]")


def _contact_as_toml(contact: str) -> str:
    """A contact, escaped for the quotes in SETTINGS. Raises ConfigError."""
    from gossamer.config import checked_line

    text = checked_line(contact, "contact")
    return text.replace("\\", "\\\\").replace('"', '\\"')
