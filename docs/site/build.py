"""Build the documentation site with Sphinx (`make site`).

The pages are plain Markdown in docs/, which a forge shows as they are. Here they are copied to a
folder of their own, in which each link to a file of the repository leads to a page, too: those of
Markdown as they are, and code as a listing. So the site is whole without a network.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTENTS = {
    "Start": ("tour", "comparing"),
    "How to": (
        *("howto/site_search", "howto/newsroom", "howto/archive", "howto/corpus"),
        *("howto/intranet", "howto/agents"),
    ),
    "Crawling": ("choosing", "operating", "parsing", "url_rules", "browsers"),
    "Searching": ("searching", "front-ends", "agents", "following", "wishes"),
    "Reference": ("commands", "settings", "datasets", "formats", "plugins", "fakeweb"),
    "Running it at size": ("deployment", "scaling", "performance"),
    "The project": ("README <README>", "CHANGELOG", "ARCHITECTURE", "decisions", "CONTRIBUTING"),
}
FRONT = "index"
LISTINGS = "source"
"""The folder of pages that show code."""
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".json": "json"}
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(?=[)#])")
_CODE = re.compile(r"^( *)(`{3,}).*?^\1\2$|`[^`]+`", re.MULTILINE | re.DOTALL)


class Stage:
    """Copies pages to a folder, and whatever they link to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}

    def page(self, path: str) -> str:
        """The name below the folder of a file of the repository, which is copied at first."""
        if path in self._known:
            return self._known[path]
        file = ROOT / path
        if not file.exists():
            return path  # Sphinx reports the link
        if file.suffix == ".webp":
            name = self._known[path] = path.removeprefix("docs/")
            self._target(name).write_bytes(file.read_bytes())
        elif file.suffix == ".md" and (path.startswith("docs/") or "/" not in path):
            name = self._known[path] = path.removeprefix("docs/")
            text = self._relinked(file.read_text(encoding="utf-8"), path, name)
            self._target(name).write_text(text, encoding="utf-8")
        else:
            name = self._known[path] = f"{LISTINGS}/{path}.md"
            if file.is_file():
                self._target(name).write_text(listing_of(path), encoding="utf-8")
        return name

    def finish(self) -> None:
        """Write pages of folders, with links to the files that have a page, and the navigation."""
        for path, name in self._known.items():
            if (ROOT / path).is_dir():
                text = self._folder_listing(path, posixpath.dirname(name))
                self._target(name).write_text(text, encoding="utf-8")
        trees = [
            f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{chr(10).join(pages)}\n```\n"
            for caption, pages in CONTENTS.items()
        ]
        with self._target(f"{FRONT}.md").open("a", encoding="utf-8") as front:
            front.write("\n" + "\n".join(trees))

    def _target(self, name: str) -> Path:
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def _relinked(self, text: str, path: str, name: str) -> str:
        def relink(link: re.Match[str]) -> str:
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[1]))
            return posixpath.relpath(self.page(to), posixpath.dirname(name) or ".")

        parts, end = [], 0
        for code in _CODE.finditer(text):
            parts += [_LINK.sub(relink, text[end : code.start()]), code[0]]
            end = code.end()
        return "".join([*parts, _LINK.sub(relink, text[end:])])

    def _folder_listing(self, path: str, below: str) -> str:
        found = subprocess.run(
            ["git", "ls-files", "--", path], cwd=ROOT, check=True, capture_output=True, text=True
        )
        lines = ["---", "orphan: true", "---", f"# {path}/", ""]
        for file in found.stdout.splitlines():
            entry = f"`{posixpath.relpath(file, path)}`"
            if file in self._known:
                entry = f"[{entry}]({posixpath.relpath(self._known[file], below)})"
            lines.append(f"- {entry}")
        return "\n".join(lines) + "\n"


def listing_of(path: str) -> str:
    """A page that shows a file."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"---\norphan: true\n---\n# {path}\n\n{fence}{language}\n{text}\n{fence}\n"


def build(out: Path, search: str) -> int:
    with tempfile.TemporaryDirectory(prefix="gossamer-site-") as folder:
        stage = Stage(Path(folder))
        for path in sorted(ROOT.glob("docs/**/*.md")):
            stage.page(path.relative_to(ROOT).as_posix())
        for path in sorted(ROOT.glob("*.md")):
            stage.page(path.name)
        stage.finish()
        shutil.rmtree(out, ignore_errors=True)
        # -W: a broken link or anchor, or a page without a place in CONTENTS, is an error.
        options = ["-b", "html", "-q", "-W", "--keep-going", "-E", "-d", f"{folder}/.doctrees"]
        search_setting = ["-A", f"search_url={search}"]
        command = [sys.executable, "-m", "sphinx", *options, *search_setting]
        here = Path(__file__).parent
        ended = subprocess.run([*command, "-c", str(here), folder, str(out)], check=False)
    return ended.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--search", default="http://127.0.0.1:8080/", help="a `gossamer serve`")
    options = parser.parse_args()
    return build(options.out, options.search)


if __name__ == "__main__":
    sys.exit(main())
