from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from gossamer.engine import fork_server
from gossamer.engine.processes import start_python
from gossamer.errors import EngineError
from gossamer.parse import page_parsing
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from gossamer.parse.process import guarded_parser, memory_limit, parser_start
from gossamer.parse.process.guarded_parser import GuardedParser
from gossamer.parse.process.parser_start import MAX_CPU_S
from tests.support.another_system import environment_without_linux

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.fork_server import ForkServer
    from gossamer.parse.process.parser_start import ParserProcess

pytestmark = pytest.mark.server

URL = "https://example.org/"


def page(html: str) -> Page:
    return Page(URL, {"content-type": "text/html"}, html.encode())


def process_of(parser: GuardedParser) -> ParserProcess:
    """The process that parses, or has parsed, the last page."""
    assert parser._process is not None
    return parser._process


@pytest.fixture(scope="module")
def standing() -> Iterator[GuardedParser]:
    """A parser with a process that no test ends: it takes a third of a second to start."""
    with pytest.MonkeyPatch.context() as patch, GuardedParser(Rules()) as parser:
        patch.setenv("WIKI_PASSWORD", "hunter2")
        parser.parse(page("<p>x"))
        yield parser


def test_a_page_is_parsed_as_it_would_be_here() -> None:
    rules = Rules(max_links=2)
    one = page(
        "<html lang=de><title>T</title><h1>H</h1>" + "<a href=/a>A</a><a href=tel:1>B</a>" * 3
    )
    with GuardedParser(rules) as parser:
        assert parser.parse(one) == parse_page(one, rules)
        assert parser.parse(page("<p>next")).text == "next"
        process = process_of(parser)
    assert process.returncode == 0, "it ends with its parser"


def test_the_child_has_a_lower_priority_than_its_parent(standing: GuardedParser) -> None:
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    # Of a child that was started ahead, it may be lower than that.
    assert os.getpriority(os.PRIO_PROCESS, process_of(standing).pid) >= mine + guarded_parser.LOWER


CRAMPED = (
    "from gossamer.parse.process import guarded_parser as parser, memory_limit; "
    "memory_limit.MAX_MEMORY_BYTES = 1 << 27; parser.main(5)"
)
# Each of the paragraphs reopens all the unlike b elements: 50 million of them.
GREEDY = "<p>" + "".join(f"<b a={n:x}>" for n in range(5_000)) + "<p>x" * 10_000


def test_memory_has_an_end_and_the_next_page_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an eighth of the memory, of which the kernel needs a second to clear a gigabyte."""

    def spawn(*_: object, **__: object) -> subprocess.Popen[bytes]:
        return start_python(CRAMPED, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(guarded_parser, "start_parser", spawn)
    with GuardedParser(Rules()) as parser:
        answer = parser.parse(page(GREEDY))
        assert answer.outcome == "failed"
        assert str(answer.detail).startswith("SelectolaxError")
        assert parser.parse(page("<p>next")).text == "next"


def test_memory_has_an_end_where_the_kernel_does_not_limit_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", environment_without_linux()["PYTHONPATH"])
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(memory_limit, "MAX_MEMORY_BYTES", 1 << 27)
    with GuardedParser(Rules(), max_cpu_s=MAX_CPU_S + 1) as parser:
        parser.parse(page("<p>x"))
        process = process_of(parser)
        answer = parser.parse(page(GREEDY))
        assert process.returncode == -signal.SIGKILL
        assert answer.outcome == "failed"
        assert answer.detail == "takes more than 128 MB to parse"
        assert parser.parse(page("<p>next")).text == "next"


def test_time_has_an_end_and_the_next_page_is_parsed() -> None:
    deep = page("<div>" * 150_000)
    with GuardedParser(Rules(), max_cpu_s=1) as parser:
        answer = parser.parse(deep)
        assert (answer.outcome, answer.detail) == ("failed", "takes more than 1 s to parse")
        assert 1 < parser.cpu_s <= 2
        assert parser.parse(page("<p>next")).text == "next"


def test_a_page_whose_process_is_killed_is_tried_again_in_a_new_one() -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            process = process_of(parser)
            os.kill(process.pid, number)
            process.wait()
            assert parser.parse(page(f"<p>{number:d}")).text == f"{number:d}"


class Doomed(GuardedParser):
    """A parser whose first processes are killed before they get a page."""

    def __init__(self, number: int, most: int) -> None:
        super().__init__(Rules(), max_wall_s=0.01 if number == signal.SIGSTOP else 60)
        self.number, self.doomed = number, most

    def _start(self) -> ParserProcess | guarded_parser._End:
        process = super()._start()
        if self.doomed and isinstance(process, subprocess.Popen):
            self.doomed -= 1
            os.kill(process.pid, self.number)
            if self.number != signal.SIGSTOP:
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "outcome", "detail"),
    [
        (signal.SIGKILL, "interrupted", "the parser ended with exit code -9, twice"),
        (signal.SIGSEGV, "failed", "the parser ended with exit code -11"),
    ],
)
def test_a_page_whose_new_process_is_killed_too(number: int, outcome: str, detail: str) -> None:
    """A signal from outside is not the page's fault; a fault in native code is."""
    with Doomed(number, most=2) as parser:
        answer = parser.parse(page("<p>y"))
        assert (answer.outcome, answer.detail) == (outcome, detail)
        assert parser.parse(page("<p>z")).text == "z"


def test_a_page_that_waits_for_something_ends() -> None:
    with Doomed(signal.SIGSTOP, most=1) as parser:
        answer = parser.parse(page("<p>y"))
    assert (answer.outcome, answer.detail) == ("failed", "no answer within 0.01 s")


def test_the_process_does_not_have_the_passwords_of_the_environment(
    standing: GuardedParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_PASSWORD", "hunter2")
    with GuardedParser(Rules(sandbox=False)) as trusting:
        trusting.parse(page("<p>x"))
        for parser in (standing, trusting):
            given = Path(f"/proc/{process_of(parser).pid}/environ").read_bytes()
            assert (b"hunter2" in given) is (parser is trusting)
            assert b"PATH=" in given


def frame(answer: bytes, length: int | None = None) -> bytes:
    return (len(answer) if length is None else length).to_bytes(8, "little") + answer


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        (frame(b"abc"), "the parser sent an answer of 3 bytes"),
        (frame(b"", 1 << 62), "the parser sent an answer of 4,611,686,018,427,387,904 bytes"),
        (frame(b"a", 100), "no answer within 0.1 s"),
        (b"a", "no answer within 0.1 s"),
        (frame(bytes(8) + b"\xc1") + b"ab", "the parser sent 2 bytes behind its answer"),
        (frame(bytes(8) + b"\xc1"), "the parser returned an invalid page: MessagePack"),
        (frame(bytes(8) + b"\x81\xa1a" * 1_000), "the parser returned an invalid page: "),
    ],
)
def test_an_answer_that_is_none_fails_its_page_alone(sent: bytes, detail: str) -> None:
    """As by a process that its page has taken over."""
    with TakenOver(sent, 0.1 if "no answer" in detail else 60) as parser:
        answer = parser.parse(page("<p>x"))
        assert answer.outcome == "failed"
        assert answer.detail is not None
        assert answer.detail.startswith(detail)


def test_a_process_that_reads_no_page_ends() -> None:
    with TakenOver(None, 0.1) as parser:
        answer = parser.parse(page("x" * (1 << 20)))
    assert (answer.outcome, answer.detail) == ("failed", "no answer within 0.1 s")


@pytest.mark.parametrize(
    ("cpu_s", "counted_s"),
    [(float("-inf"), 0), (float("nan"), 0), (-1.0, 0), (1e9, MAX_CPU_S + 1)],
)
def test_the_time_that_a_process_says_counts_within_its_limits(
    cpu_s: float, counted_s: float
) -> None:
    """A page cannot give its domain time back."""
    parsed = msgspec.msgpack.encode(ParsedPage(outcome="parsed"))
    with TakenOver(frame(guarded_parser._CPU.pack(cpu_s) + parsed), 60) as parser:
        assert parser.parse(page("<p>x")).outcome == "parsed"
        assert parser.cpu_s == counted_s


class TakenOver(GuardedParser):
    """Its process reads pages, or none, and sends what it is told."""

    def __init__(self, sent: bytes | None, max_wall_s: float) -> None:
        super().__init__(Rules(), max_wall_s=max_wall_s)
        self._code = "import os, signal\n"
        if sent is not None:
            self._code += f"os.read(0, 1 << 20); os.write(1, {sent!r})\n"

    def _start(self) -> subprocess.Popen[bytes]:
        code = f"{self._code}signal.pause()"
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self._process

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
        super().__exit__()


def test_a_process_that_is_killed_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def killed(code: str, **options: Any) -> subprocess.Popen[bytes]:
        process = start_python(code, **options)
        if not started:
            process.kill()
        started.append(process)
        return process

    monkeypatch.setattr(parser_start, "start_python", killed)
    with GuardedParser(Rules()) as parser:
        assert parser.parse(page("<p>y")).text == "y"


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """A server from which parsers are forked, as those of workers are."""
    monkeypatch.setenv("WIKI_PASSWORD", "hunter2")
    parser_start.start_ahead(guarded_parser.prepare)
    (server,) = parser_start._servers
    yield server
    parser_start._servers.clear()
    server.end()


@pytest.mark.slow
def test_parsers_are_forked_from_a_server_and_have_what_others_have(forking: ForkServer) -> None:
    deep, rules = page("<div>" * 150_000), Rules()
    with GuardedParser(rules, max_cpu_s=1) as parser:
        assert parser.parse(page("<p>x")) == parse_page(page("<p>x"), rules)
        process = psutil.Process(process_of(parser).pid)
        assert process.ppid() == forking.pid
        assert process.name() == "gossamer-parser"
        assert process.nice() >= psutil.Process().nice() + guarded_parser.LOWER
        assert b"hunter2" not in Path(f"/proc/{process.pid}/environ").read_bytes()
        assert "Seccomp:\t2" in Path(f"/proc/{process.pid}/status").read_text()
        failed = parser.parse(deep)
        assert failed.detail == "takes more than 1 s to parse"
        assert parser.parse(page("<p>next")).text == "next"
        os.kill(process_of(parser).pid, signal.SIGKILL)
        assert parser.parse(page("<p>again")).text == "again"
        last = process_of(parser)
    assert last.returncode == 0, "it ends with its parser"


def test_parsers_without_a_sandbox_have_the_environment(forking: ForkServer) -> None:
    with GuardedParser(Rules(sandbox=False)) as parser:
        parser.parse(page("<p>x"))
        process = psutil.Process(process_of(parser).pid)
        assert process.ppid() != forking.pid
        assert "WIKI_PASSWORD" in process.environ()


def test_without_the_server_parsers_start_all_the_same(forking: ForkServer) -> None:
    os.kill(forking.pid, signal.SIGKILL)
    with GuardedParser(Rules()) as parser:
        assert parser.parse(page("<p>x")).text == "x"
    assert parser_start._servers == []


def test_on_other_systems_a_process_that_was_started_ahead_serves_the_first_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fork_server, "is_possible", lambda: False)
    parser_start.start_ahead(guarded_parser.prepare)
    (ahead,) = parser_start._ahead
    with GuardedParser(Rules()) as first, GuardedParser(Rules()) as second:
        assert first.parse(page("<p>x")).text == second.parse(page("<p>x")).text == "x"
        assert first._process is ahead
        assert second._process is not ahead


def test_the_time_of_many_small_pages_is_right_in_total(standing: GuardedParser) -> None:
    """The kernel counts in ticks, so a small page may take none."""
    text = "<p>Some words of a paragraph.</p>" * 300
    standing.parse(page(text))
    process, counted_s = psutil.Process(process_of(standing).pid), standing.cpu_s
    before_s = sum(process.cpu_times()[:2])
    for number in range(150):
        standing.parse(page(f"{text}{number}"))  # an equal body would be read only once
    used_s = sum(process.cpu_times()[:2]) - before_s
    assert 0.85 < (standing.cpu_s - counted_s) / used_s < 1.15


def test_a_process_that_stays_large_ends_after_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        process = process_of(parser)
        assert process.poll() is None
        half = memory_limit.resident_bytes(process.pid) // 2
        monkeypatch.setattr(memory_limit, "MAX_KEPT_BYTES", half)
        assert parser.parse(page("<p>y")).text == "y"
        assert process.returncode == 0
        assert parser.parse(page("<p>z")).text == "z"


def test_the_child_returns_freed_memory_when_it_has_answered_a_large_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit in ("limit_own_memory", "limit_resource"):
        monkeypatch.setattr(memory_limit, limit, lambda *_: None)
    answered: list[int] = []
    answers = io.BytesIO()
    monkeypatch.setattr(
        guarded_parser, "trim_heap", lambda: answered.append(len(answers.getvalue()))
    )
    pages = io.BytesIO()
    for size in (10, guarded_parser.LARGE_BYTES, 10):
        guarded_parser._send(pages, msgspec.msgpack.encode(page(f"<p>{'a' * size}</p>")))
    pages.seek(0)
    guarded_parser.serve(Rules(sandbox=False), MAX_CPU_S, pages, answers)
    answers.seek(0)
    hello, small, large, last = (guarded_parser._receive(answers) or b"" for _ in range(4))
    assert hello == b"hello"
    assert answered == [sum(8 + len(frame) for frame in (hello, small, large))]
    assert len(last) == len(small) < len(large)


def test_a_process_that_ends_after_its_answer_has_no_memory() -> None:
    with GuardedParser(Rules()) as parser:
        parser.parse(page("<p>x"))
        process = process_of(parser)
        process.kill()
        process.wait()
        assert not parser._keeps_too_much(process.pid)
        assert parser.parse(page("<p>y")).text == "y"


@pytest.mark.parametrize("size", [8, 65_528, 65_529, 200_000])
def test_frames_of_any_size_arrive_in_pieces_of_what_a_pipe_holds(
    standing: GuardedParser, size: int
) -> None:
    text = "word " * (size // 5)
    assert standing.parse(page(f"<p>{text}")).text == text.strip()


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with GuardedParser(Rules()) as parser, pytest.raises(EngineError, match="exit code 1"):
        parser.parse(page("<p>x"))


def test_an_exception_is_the_outcome_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("x" * 1_000)

    monkeypatch.setattr(page_parsing, "parse_page", broken)
    encoded = guarded_parser._answer(page("<p>x"), Rules())
    answer = msgspec.msgpack.decode(encoded, type=ParsedPage)
    assert answer.outcome == "failed"
    assert answer.detail is not None
    assert answer.detail.startswith("RecursionError('xxx")
    assert len(answer.detail) == guarded_parser.MAX_DETAIL_CHARS


@pytest.mark.parametrize("cut", [1, 7, 8, 11])
def test_a_frame_that_was_cut_is_none(cut: int) -> None:
    pipe = io.BytesIO()
    guarded_parser._send(pipe, b"frame")
    assert guarded_parser._receive(io.BytesIO(pipe.getvalue())) == b"frame"
    assert guarded_parser._receive(io.BytesIO(pipe.getvalue()[:cut])) is None


def test_a_standing_parser_leaves_nothing_open_at_the_end() -> None:
    program = (
        "from gossamer.parse.process.guarded_parser import Page, Rules, standing_parser;"
        "print(standing_parser(Rules()).parse(Page('http://a.example/', {}, b'<p>text')).text)"
    )
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("text\n", "")
