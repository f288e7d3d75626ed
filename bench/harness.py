"""What all scripts share: options, a manual to read, settings of a crawl, and how they report.

A script answers the question that its docstring begins with. `run.py` runs them, each in a process
of its own, and reads the line that `report` prints. All of them have these options:

    --tiny                 sizes that take seconds: the script works, and measures nothing
    --manual FOLDER        a manual in HTML with an index.html, by default Python's; several times
                           for scripts that read several, of which the others read the first
    --collections FOLDER   data from outside the project, in folders whose names the scripts define
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MANUAL = Path("/usr/share/doc/python3.11/html")
FIGURE = "figure: "
SKIPPED = 77
"""Exit code of a script that lacks what it needs, as in automake's test suites."""
LOOPBACK = {
    "filter.scope": "any",
    "fetch.delay_s": 0,
    "fetch.delay_factor": 0,
    "fetch.address_delay_s": 0,
    "fetch.allow_networks": ["127.0.0.0/8"],
}


class Options(argparse.ArgumentParser):
    """The options of a script: those that all have, and its sizes, as (usual, tiny)."""

    def __init__(self, doc: str | None, **sizes: tuple[Any, Any]) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(description=doc, formatter_class=form)
        self._sizes = sizes
        self.add_argument("--tiny", action="store_true", help="run in seconds, and measure nothing")
        self.add_argument("--manual", type=Path, action="append", help="HTML with an index.html")
        self.add_argument("--collections", type=Path, help="data from outside the project")
        for name, (usual, tiny) in sizes.items():
            option = f"--{name.replace('_', '-')}"
            self.add_argument(option, type=type(usual), help=f"{usual}; if tiny, {tiny}")

    def read(self) -> argparse.Namespace:
        """Read the command line. Sizes that it does not give are the usual or the tiny ones."""
        options = self.parse_args()
        options.manual = options.manual or [MANUAL]
        for name, sizes in self._sizes.items():
            if getattr(options, name) is None:
                setattr(options, name, sizes[options.tiny])
        return options


def report(figure: str) -> None:
    """Print the figure that answers the question, for the table of run.py."""
    print(f"{FIGURE}{figure}", flush=True)


def skip(reason: str) -> NoReturn:
    """End the script, because it needs something that is not here."""
    print(f"skipped: {reason}")
    raise SystemExit(SKIPPED)


def manual(options: argparse.Namespace, scratch: Path | str) -> Path:
    """Return the folder of the first manual; with --tiny, one with a few generated pages."""
    return manuals(options, scratch)[0]


def manuals(options: argparse.Namespace, scratch: Path | str) -> list[Path]:
    """Return the folders of all manuals; with --tiny, one with a few generated pages."""
    if options.tiny:
        return [generate_manual(Path(scratch, "manual"))]
    for folder in options.manual:
        if not (folder / "index.html").exists():
            skip(f"needs {folder} (apt-get install python3.11-doc), or --manual FOLDER")
    return list(options.manual)


def collection(options: argparse.Namespace, name: str) -> Path | None:
    """Return the folder NAME of the collections; None if tiny, when the script makes its own."""
    if options.tiny:
        return None
    if options.collections is None or not (options.collections / name).is_dir():
        skip(f"needs --collections FOLDER with a folder {name}")
    folder: Path = options.collections / name
    return folder


def generate_manual(folder: Path, pages: int = 8, sentences: int = 400) -> Path:
    """Write pages of English prose that link to each other."""
    folder.mkdir(parents=True)
    names = ["index.html", *(f"page-{number}.html" for number in range(1, pages))]
    links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
    for name in names:
        text = generate_text("en", name, sentences)
        paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
        page = f"<title>About {name}</title><ul>{links}</ul><h1>About {name}</h1>{paragraphs}"
        (folder / name).write_text(f"<!doctype html><meta charset=utf-8>{page}", encoding="utf-8")
    return folder


def generate_text(language: str, name: str, sentences: int) -> str:
    """Return prose in a language, a paragraph per line, the same for each name."""
    draw = stream(1, name).random
    paragraphs = -(-sentences // 5)
    return "\n".join(prose(language).plain(draw, 5) for _ in range(paragraphs))


def local_settings(address: str, more: Mapping[str, object]) -> str:
    """Return a gossamer.toml that resolves `*.test` to `address`, without delays."""
    return default_settings({"*.test": address}, {**LOOPBACK, **more})


def default_settings(
    routes: Mapping[str, str], more: Mapping[str, object], lines: Iterable[str] = ()
) -> str:
    """Return a gossamer.toml that resolves host names by `routes`."""
    settings = {"fetch.allow_networks": ["127.0.0.0/8"], **more}
    # JSON's strings, numbers and arrays are also TOML's.
    written = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    resolved = ", ".join(f'"{name}" = "{address}"' for name, address in routes.items())
    return "\n".join((*written, f"fetch.host_overrides = {{ {resolved} }}", *lines, ""))
