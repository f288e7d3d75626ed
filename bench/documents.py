"""How much of the text of documents is read, beside the converters that people use?

    python bench/documents.py [--files FOLDER] [--timeout-s N]

FOLDER has files of any of the formats below, in any subfolders. Debian's source packages unrtf,
pandoc and abiword have 51 files in RTF and 150 of Office; `soffice --convert-to rtf` writes others.
Prints for each format and converter how many files both read, and which share of the words of one
the other has: of all words, and of the median file. Words are compared as multisets, in lower case
and in compatibility form (NFKC). With -v, it lists files of which less than 95 % is read, and some
missing words. The converters are pandoc, unrtf, pdftotext (poppler), and soffice (LibreOffice) for
sheets and slides; those that are not installed are left out.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness import Options, report, skip
from rich.console import Console
from rich.table import Table

from gossamer.parse.documents.binary import read_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Words = Counter[str]
    Converter = Callable[[Path, float], bytes]

ROOT = Path(__file__).parent.parent
MOST_CHARS = 10_000_000
LOW = 0.95
WORD = re.compile(r"\w{2,}")
TYPES = {".rtf": "application/rtf", ".md": "text/markdown"}
"""Media types of formats that do not show in the first bytes."""
OF_UNRTF = b"-----------------\n"
"""The end of unrtf's list of metadata."""


def run(seconds: float, *command: str | Path) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=seconds, check=True)
    return done.stdout


def by_pandoc(path: Path, seconds: float) -> bytes:
    return run(seconds, "pandoc", "-f", path.suffix[1:], "-t", "plain", "--wrap=none", path)


def by_unrtf(path: Path, seconds: float) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:  # it writes pictures where it stands
        command = ("unrtf", "--text", "--nopict", path.absolute())
        done = subprocess.run(
            command, capture_output=True, timeout=seconds, check=True, cwd=scratch
        )
    return done.stdout.rpartition(OF_UNRTF)[2]


def by_pdftotext(path: Path, seconds: float) -> bytes:
    return run(seconds, "pdftotext", "-enc", "UTF-8", path, "-")


def by_soffice(path: Path, seconds: float) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        profile = f"-env:UserInstallation=file://{scratch}/profile"
        made = Path(scratch, f"{path.stem}.pdf")
        convert = ("--headless", "--convert-to", "pdf", "--outdir", scratch, path)
        run(seconds, "soffice", profile, *convert)
        return by_pdftotext(made, seconds)


CONVERTERS: dict[str, tuple[Converter, ...]] = {
    ".rtf": (by_pandoc, by_unrtf),
    ".docx": (by_pandoc,),
    ".odt": (by_pandoc,),
    ".epub": (by_pandoc,),
    ".pdf": (by_pdftotext,),
    **dict.fromkeys((".pptx", ".xlsx", ".ods", ".odp"), (by_soffice,)),
}


class Comparison(NamedTuple):
    """The words of a file that Gossamer has, that the converter has, and that both have."""

    path: Path
    ours: int
    theirs: int
    both: int
    missing: list[str]

    @property
    def recall(self) -> float:
        return self.both / self.theirs


def words(text: str) -> Words:
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def read(path: Path) -> Words | None:
    mime = TYPES.get(path.suffix, "application/octet-stream")
    document = read_binary(mime, path.read_bytes(), MOST_CHARS)
    return words(document.text or "") if document.outcome in {"parsed", "empty"} else None


def compared(paths: list[Path], convert: Converter, seconds: float) -> Iterator[Comparison]:
    for path in paths:
        try:
            theirs = words(convert(path, seconds).decode("utf-8", "replace"))
        except (subprocess.SubprocessError, OSError):
            continue
        ours = read(path)
        if ours is not None and theirs:
            missing = list((theirs - ours).elements())
            both = theirs.total() - len(missing)
            yield Comparison(path, ours.total(), theirs.total(), both, missing)


def generate(folder: Path) -> Path:
    """Write two files as small as they get."""
    sys.path.insert(0, str(ROOT))
    from tests.support.binary_files import RTF, docx

    (folder / "a.rtf").write_bytes(RTF)
    (folder / "a.docx").write_bytes(docx("<w:p><w:r><w:t>some words</w:t></w:r></w:p>"))
    return folder


def main() -> None:
    parser = Options(__doc__, timeout_s=(60, 10))
    parser.add_argument("--files", type=Path, help="documents to read")
    parser.add_argument("-v", action="store_true", help="list files of which much is missing")
    options = parser.read()
    with tempfile.TemporaryDirectory() as scratch:
        if options.files is None and not options.tiny:
            skip("needs --files FOLDER")
        folder = generate(Path(scratch)) if options.tiny else options.files
        table = Table(
            "", "converter", "files", "recall", "median", "of ours, theirs", title=str(folder)
        )
        figures: list[str] = []
        for suffix, converters in CONVERTERS.items():
            paths = sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file())
            for convert in converters if paths else ():
                name = convert.__name__.removeprefix("by_")
                if shutil.which(name) is None:
                    continue
                found = list(compared(paths, convert, options.timeout_s))
                if not found:
                    continue
                both = sum(each.both for each in found)
                recall = both / sum(each.theirs for each in found)
                middle = statistics.median(each.recall for each in found)
                precision = both / max(1, sum(each.ours for each in found))
                row = (f"{recall:.1%}", f"{middle:.1%}", f"{precision:.1%}")
                table.add_row(suffix[1:], name, str(len(found)), *row)
                figures.append(f"{suffix[1:]} {recall:.1%} of {name}'s")
                for each in found if options.v else ():
                    if each.recall < LOW:
                        some = " ".join(each.missing[:10])
                        print(f"{each.path} {name} {each.recall:.0%}: {some}")
    if not figures:
        skip("needs a converter: apt-get install pandoc unrtf poppler-utils libreoffice")
    Console(width=110).print(table)
    report(f"words read: {', '.join(figures)}")


if __name__ == "__main__":
    main()
