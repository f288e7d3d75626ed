"""What `gossamer top` draws: the figures of `gossamer.status` in as many lines as there are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gossamer.cli.terminal import printable
from gossamer.status.human_units import duration, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from gossamer.status.busy_hosts import Host
    from gossamer.status.fetch_progress import Lane

LANES = 3
"""Steps that are shown; with the pipeline's fetch, parse and harvest, there are no more."""
FIXED_LINES = 11
"""Lines beside those of lanes and lists."""
MOST_LISTED = 10
BARS = "▁▂▃▄▅▆▇█"
CURVE = 20
NOTHING = "–"
TENTHS_BELOW = 100
"""Faster rates are shown without tenths, for which a column has no room."""


def draw_top(
    crawl: Mapping[str, Any], rates: Sequence[tuple[int, float]], height: int | None = None
) -> Group:
    """The state of a crawl, as `status.overview` returns it, in at most `height` lines.

    `rates` are the latest pages per second. With fewer than 15 lines, the last ones are cut off.
    """
    lanes = crawl["lanes"][:LANES]
    room = None if height is None else height - FIXED_LINES - max(len(lanes), 1)
    listed = MOST_LISTED if room is None else min(MOST_LISTED, max(room, 0))
    steps = 0 if room is None else max(room - MOST_LISTED - 2, 0)
    return Group(
        _top_head(crawl, "" if height is None else "  q: quit"),
        _top_state(crawl),
        _top_lanes(lanes),
        Text(""),
        _top_figures(crawl, rates),
        Text(""),
        _top_lists(crawl, listed),
        *(_top_steps(crawl["steps"][-steps:]) if steps else ()),
    )


def unreadable_view(message: str) -> Text:
    """What is shown while the crawl cannot be read."""
    return Text(printable(message), "red")


def _top_head(crawl: Mapping[str, Any], hint: str) -> RenderableType:
    moment = datetime.fromtimestamp(crawl["at_ms"] / 1000, UTC)
    head = _top_grid(1, 0)
    head.add_row(
        Text(printable(crawl["path"]), "bold"),
        f"round {crawl['round']:,}  {moment:%H:%M:%S} UTC{hint}",
    )
    return head


def _top_state(crawl: Mapping[str, Any]) -> Text:
    if crawl["problems"]:
        words, style = crawl["problems"][0], "red"
    elif crawl["paused"]:
        words, style = f"paused: {crawl['paused']}", "yellow"
    elif crawl["running"]:
        words, style = f"running: {crawl['running']}", "green"
    elif crawl["waiting"]:
        words, style = f"waiting: {crawl['waiting']}", "green"
    else:
        words, style = "idle: nothing runs now", "dim"
    line = " ".join(printable(words).split())  # an error has two
    return Text(line, style, no_wrap=True, overflow="ellipsis")


def _top_lanes(lanes: Sequence[Lane]) -> RenderableType:
    if not lanes:
        return Text("no step reports progress", "dim")
    table = _top_grid(0, 0, 1, 0, 0, 0)
    for lane in lanes:
        left = "" if lane.left_s is None else f"{duration(lane.left_s)} left"
        table.add_row(
            Text(lane.step, "bold"),
            f"round {lane.round:,}",
            ProgressBar(total=lane.total, completed=lane.done),
            f"{lane.done:,} of {lane.total:,}",
            f"{lane.per_s:,.1f}/s",
            left,
        )
    return table


def _top_figures(crawl: Mapping[str, Any], rates: Sequence[tuple[int, float]]) -> RenderableType:
    table = _top_grid(0, 1, 0, 1)
    left = [
        ("pages/s", _speed_curve(crawl["lanes"], rates)),
        *_top_rounds(crawl, 4),
        _top_size(crawl),
    ]
    for (left_name, left_value), (name, value) in zip(left, _top_due(crawl), strict=True):
        table.add_row(Text(left_name, "dim"), left_value, Text(name, "dim"), value)
    return table


def _speed_curve(lanes: Sequence[Lane], rates: Sequence[tuple[int, float]]) -> str:
    """The present speed, and a curve of the latest ones."""
    latest = [rate for _, rate in rates[-CURVE:]]
    if not any(lane.step == "fetch" for lane in lanes):
        return NOTHING
    most = max(latest, default=0) or 1
    curve = "".join(BARS[round(rate / most * (len(BARS) - 1))] for rate in latest)
    now = latest[-1] if latest else next(lane.per_s for lane in lanes if lane.step == "fetch")
    return f"{now:,.1f} {curve}"


def _top_rounds(crawl: Mapping[str, Any], count: int) -> Iterator[tuple[str, str]]:
    """The last rounds, the newest first; lines without any are empty."""
    newest = list(reversed(crawl["rounds"]))[:count]
    for done in newest:
        failed = f", {done.failed:,} failed" if done.failed else ""
        rate = f"{done.per_s:,.1f}" if done.per_s < TENTHS_BELOW else f"{done.per_s:,.0f}"
        yield f"round {done.number:,}", f"{done.asked:,} at {rate}/s{failed}"
    yield from [("", "")] * (count - len(newest))


def _top_size(crawl: Mapping[str, Any]) -> tuple[str, str]:
    disk = crawl["disk"]
    grows = disk.bytes_per_day
    growth = "" if grows is None else f", {'+' if grows > 0 else ''}{size(int(grows))} a day"
    return "size", f"{size(disk.used_bytes)}{growth}"


def _top_due(crawl: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    queue, fresh, disk = crawl["queue"], crawl["freshness"], crawl["disk"]
    yield "due now", NOTHING if queue is None else f"{queue.due:,}"
    hour, day = (0, 0) if queue is None else (queue.within_hour, queue.within_day)
    yield "due soon", NOTHING if queue is None else f"{hour:,} in 1 h, {day:,} in 1 day"
    known = fresh is not None and fresh.fetched
    yield "fresh", f"{percent(fresh.share)} of {fresh.fetched:,} pages" if known else NOTHING
    late = known and fresh.most_overdue_s
    yield "overdue", f"up to {duration(fresh.most_overdue_s)}" if late else NOTHING
    yield "last commit", _top_last_commit(crawl)
    full = "" if disk.full_in_s is None else f", full in {duration(disk.full_in_s)}"
    yield "disk", NOTHING if disk.free_bytes is None else f"{size(disk.free_bytes)} free{full}"


def _top_last_commit(crawl: Mapping[str, Any]) -> str:
    if crawl["last_commit_ms"] is None:
        return NOTHING
    ago_s = max(crawl["at_ms"] - crawl["last_commit_ms"], 0) / 1000
    return f"{duration(ago_s)} ago ({crawl['steps'][-1]['step']})"


def _top_lists(crawl: Mapping[str, Any], listed: int) -> RenderableType:
    hosts = crawl["hosts"]
    failing = hosts.failing[:listed] if hosts else ()
    slowest = hosts.slowest[:listed] if hosts else ()
    of = f" ({hosts.failing_count:,} of {hosts.known:,})" if failing else ""
    errors = [(one.name.replace("_", " "), f"{one.count:,}") for one in crawl["errors"][:listed]]
    table = _top_grid(2, 3, 3)
    table.add_row(
        _list("errors", errors, "none"),
        _list(f"failing hosts{of}", [(host.host, _top_failures(host)) for host in failing], "none"),
        _list("slowest hosts", [(host.host, f"{host.latency_ms:,} ms") for host in slowest]),
    )
    return table


def _top_steps(steps: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """The last steps, the newest first."""
    table = _top_grid(0, 0, 0, 1)
    for step in reversed(steps):
        counts = ", ".join(f"{n:,} {name}" for name, n in sorted(step["counts"].items()) if n)
        seconds = duration(step["seconds"])
        table.add_row(f"round {step['round']:,}", step["step"], seconds, printable(counts))
    yield Text("")
    yield Text("last steps", "bold")
    yield table


def _top_failures(host: Host) -> str:
    return f"{host.outcome.replace('_', ' ')} ×{host.failures:,}"


def _list(title: str, rows: Sequence[tuple[str, str]], otherwise: str = NOTHING) -> RenderableType:
    table = _top_grid(1, 0)
    for name, value in rows:
        table.add_row(Text(printable(name)), Text(printable(value)))
    return Group(Text(title, "bold", no_wrap=True), table if rows else Text(otherwise, "dim"))


def _top_grid(*ratios: int) -> Table:
    """A table without lines, whose columns share the width; those with 0 take what they need.

    The last column of several is aligned to the right if it takes what it needs.
    """
    table = Table.grid(expand=True, padding=(0, 2, 0, 0), pad_edge=False)
    for number, ratio in enumerate(ratios):
        last = number and number == len(ratios) - 1 and not ratio
        table.add_column(
            ratio=ratio or None,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if last else "left",
        )
    return table
