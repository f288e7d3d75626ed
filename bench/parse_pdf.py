"""What does it cost to parse a page of a PDF, beside other readers?

    python bench/parse_pdf.py [--files FOLDER] [--most-files N] [--runs N]

Of the files in FOLDER (.pdf or .pdf.gz; by default documentation of Debian's packages), at most
N are taken, evenly spread by their names. Prints CPU ms per page, the best of the runs for each
file. Gossamer's figure includes text in reading order, titles, headings and links. The least that
any reader on PDFium takes is the text as PDFium has it; pdftotext (poppler) and pypdf read the text
only, too, and are left out if they are not installed. To compare two versions of Gossamer, compare
their ratios to PDFium, or run both in turns.
"""

from __future__ import annotations

import gzip
import io
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2 as pdfium
from harness import Options, report, skip
from rich.console import Console
from rich.table import Table

from gossamer.parse.documents.binary import read_binary

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[bytes], object]

ROOT = Path(__file__).parent.parent
FOLDERS = (Path("/usr/share/doc"), Path("/usr/share/debian-reference"))
MAX_CHARS = 1_000_000
MAX_PAGES = 1_000
OURS, PDFIUM = "Gossamer", "PDFium: text"


def by_gossamer(body: bytes) -> int:
    return read_binary("application/pdf", body, MAX_CHARS).pages or 0


def by_pdfium(body: bytes) -> None:
    with closing(pdfium.PdfDocument(body)) as document:
        for number in range(min(len(document), MAX_PAGES)):
            with closing(document[number]) as page, closing(page.get_textpage()) as text_page:
                text_page.get_text_bounded()


def by_pdftotext(body: bytes) -> None:
    command = ("pdftotext", "-l", str(MAX_PAGES), "-enc", "UTF-8", "-", "-")
    subprocess.run(command, input=body, capture_output=True, check=False)


def by_pypdf(body: bytes) -> None:
    for page in import_module("pypdf").PdfReader(io.BytesIO(body)).pages[:MAX_PAGES]:
        page.extract_text()


def readers() -> dict[str, Reader]:
    found: dict[str, Reader] = {OURS: by_gossamer, PDFIUM: by_pdfium}
    if shutil.which("pdftotext"):
        found["pdftotext"] = by_pdftotext
    if find_spec("pypdf"):
        found["pypdf"] = by_pypdf
    return found


def cpu_s() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cost_s(read: Reader, body: bytes) -> float:
    before = cpu_s()
    read(body)
    return cpu_s() - before


def bodies_of(folders: tuple[Path, ...], most: int) -> list[bytes]:
    """Return those files of which Gossamer reads all, so that each reader has the same work."""
    paths = sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.name.endswith((".pdf", ".pdf.gz"))
    )
    bodies = [
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in paths[:: -(-len(paths) // most) or 1]
    ]
    whole = []
    for body in bodies:
        document = read_binary("application/pdf", body, MAX_CHARS)
        if document.pages and not document.truncated:
            whole.append(body)
    return whole


def generate(folder: Path) -> Path:
    """Write files of a page as small as they get."""
    sys.path.insert(0, str(ROOT))
    from tests.support.binary_files import pdf, shown

    for number in range(2):
        (folder / f"{number}.pdf").write_bytes(pdf(shown("Some words"), shown(f"{number}")))
    return folder


def main() -> None:
    parser = Options(__doc__, most_files=(30, 2), runs=(3, 1))
    parser.add_argument("--files", type=Path, help="a folder of PDFs")
    options = parser.read()
    with tempfile.TemporaryDirectory() as scratch:
        given = generate(Path(scratch)) if options.tiny else options.files
        bodies = bodies_of(FOLDERS if given is None else (given,), options.most_files)
    if not bodies:
        skip("needs --files FOLDER with PDFs (apt-get install debian-reference valgrind)")
    pages = sum(map(by_gossamer, bodies))
    best = {name: [float("inf")] * len(bodies) for name in readers()}
    for _ in range(options.runs):
        for number, body in enumerate(bodies):
            for name, read in readers().items():  # in turns
                best[name][number] = min(best[name][number], cost_s(read, body))
    costs = {name: sum(seconds) * 1000 / pages for name, seconds in best.items()}
    table = Table("reader", "CPU ms per page", "×", title=f"{len(bodies)} files, {pages:,} pages")
    for name, ms in costs.items():
        table.add_row(name, f"{ms:.2f}", f"{ms / costs[PDFIUM]:.2f}")
    Console().print(table)
    ours = costs[OURS]
    report(f"{ours:.2f} CPU ms per page of a PDF, {ours / costs[PDFIUM]:.2f} × PDFium's text only")


if __name__ == "__main__":
    main()
