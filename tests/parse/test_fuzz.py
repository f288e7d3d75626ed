"""Any bytes from a server become a row, within the limits on time and memory.

Tests marked `fuzz` take a minute together (make test-fuzz).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.process.guarded_parser import GuardedParser
from gossamer.parse.process.memory_limit import MAX_MEMORY_BYTES
from tests.support.hostile_files import CASES
from tests.support.parse_corpus import RULES, URL, answers, read
from tests.support.parse_soundness import check
from tests.support.real_webs import folders
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANSWERS = answers()
CUTS = 60
"""Of each answer."""
MAX_CPU_S = 1
"""So that those which take it all take less of our time."""
STARTED_BYTES = 200 << 20
"""More than a parser's process has before its first page."""
SCRAPS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n\r\n", b"<", b">", b'"', b"&#0;", b"&#xd800;"),
    *(b"\\ud800", b"]]>", b"<!--", b"</title>", b"<p", b"{", b"}", b"[", b"0", b"-1", b"9" * 20),
    *(b"%PDF-", b"PK\3\4", b"\x1f\x8b", b"http://[", b"#", b"2024-05-01", b"\x1b$B"),
)


def must_be_a_row(answer: bytes) -> None:
    page = read(answer)
    check(parse_page(page, RULES), page, RULES)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_was_cut_anywhere_is_a_row(name: str) -> None:
    answer = ANSWERS[name]
    for end in range(0, len(answer) + 1, 1 + len(answer) // CUTS):
        must_be_a_row(answer[:end])


class Mutation(NamedTuple):
    where: float
    """In the answer, from 0 to 1."""
    length: int
    scrap: bytes


MUTATIONS = st.builds(
    Mutation, st.floats(0, 1), st.integers(0, 30), st.sampled_from(SCRAPS) | st.binary(max_size=6)
)


@given(st.sampled_from(sorted(ANSWERS)), st.lists(MUTATIONS, min_size=1, max_size=6))
def test_an_answer_with_anything_in_it_is_a_row(name: str, mutations: Sequence[Mutation]) -> None:
    answer = ANSWERS[name]
    for where, length, scrap in mutations:
        start = int(where * len(answer))
        answer = answer[:start] + scrap + answer[start + length :]
    must_be_a_row(answer)


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("target", "runs", "branches"),
    [
        ("page", 4_000, 2_000),
        ("charset", 6_000, 30),
        ("sniff", 5_000, 90),
        ("directives", 2_000, 70),
        ("dates", 20_000, 60),
    ],
)
def test_what_reaches_new_branches_is_a_row(
    target: str, runs: int, branches: int, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    options = ["-seed=7", f"-runs={runs}", f"-artifact_prefix={tmp_path}/"]
    command = [sys.executable, "-m", "tests.support.fuzz_parse", target, str(corpus), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-8_000:]
    assert f"stat::number_of_executed_units: {runs}" in done.stderr
    assert max(map(int, re.findall(r"cov: (\d+)", done.stderr))) >= branches


@pytest.mark.fuzz
@pytest.mark.parametrize("host", folders())
def test_a_real_page_that_was_cut_anywhere_is_a_row(host: str) -> None:
    pages = sorted(folders()[host].rglob("*.html"))
    if not pages:
        pytest.skip(f"{host} is not installed")
    for path in pages[:: 1 + len(pages) // 8]:
        body = path.read_bytes()
        for end in range(0, len(body), 1 + len(body) // 20):
            must_be_a_row(b"\r\n" + body[:end])


@pytest.fixture(scope="module")
def parser() -> Iterator[GuardedParser]:
    with GuardedParser(Rules(), max_cpu_s=MAX_CPU_S) as started:
        yield started


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("mime", "name"), [(mime, name) for mime, made in CASES.items() for name in made]
)
def test_a_document_that_is_made_to_hurt_is_a_row(
    parser: GuardedParser, mime: str, name: str
) -> None:
    assert parser.parse(Page(URL, {}, b"<p>before")).text == "before"
    process = parser._process
    assert process is not None
    before_s = cpu_s(process.pid)
    page = Page(URL, {"content-type": mime}, CASES[mime][name]())
    parsed = parser.parse(page)
    check(parsed, page, Rules())
    if process.returncode is None:  # else the kernel ended it, or it stayed large
        assert cpu_s(process.pid) - before_s < MAX_CPU_S + 1.1
        assert peak_bytes(process.pid) < MAX_MEMORY_BYTES + STARTED_BYTES


def cpu_s(pid: int) -> float:
    """User and system time (proc(5), stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid: int) -> int:
    """Peak resident memory (proc(5), status)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1_024
