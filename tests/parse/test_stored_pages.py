"""What the tasks of the step read of a round: weights, redirects, moved and postponed pages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.parse.step.body_copies import Moves, gather_copies, read_moves
from gossamer.parse.step.cpu_budget import domain_weights
from gossamer.parse.step.planning import fetch_began_ms
from gossamer.parse.step.postponed import INTERRUPTED, LATER, POSTPONED, PostponedWriter
from gossamer.parse.step.stored_responses import (
    PAGE_BYTES,
    Piece,
    ResponseRow,
    read_stored_redirects,
)
from gossamer.storage.manifest import StepReport
from gossamer.tables import RESPONSES, UNPARSED

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace


def answer(number: int, file: str = "a.warc", offset: int = 0, digest: str = "x") -> ResponseRow:
    url = f"http://{number}.example/"
    host = f"{number}.example"
    return ResponseRow(1, url, host, 0, 1, 0, "text/html", 10, False, digest, file, offset)


def write(path: Path, schema: pa.Schema, *rows: dict[str, Any]) -> str:
    plain = {field.name: None for field in schema}
    pq.write_table(pa.Table.from_pylist([plain | row for row in rows], schema), path)
    return str(path)


def test_the_weight_of_a_domain_is_that_of_its_pages_and_bodies(tmp_path: Path) -> None:
    def row(host: str, size: int | None, outcome: str = "ok") -> dict[str, Any]:
        return {"host": host, "body_bytes": size, "outcome": outcome}

    responses = write(
        tmp_path / "responses",
        RESPONSES.schema,
        row("a.example.org", 50),
        row("b.example.org", 7),
        row("other.org", None),
        row("other.org", 1_000, "not_found"),
    )
    unparsed = write(tmp_path / "unparsed", UNPARSED.schema, {"host": "other.org", "body_bytes": 3})
    assert domain_weights((responses,), (unparsed,)) == {
        "example.org": 2 * PAGE_BYTES + 57,
        "other.org": 2 * PAGE_BYTES + 3,
    }
    assert domain_weights((), ()) == {}


def test_redirects_have_a_target(tmp_path: Path) -> None:
    rows = [
        {"round": 1, "url": "http://a.example/", "outcome": outcome, "redirect_url": target}
        for outcome, target in (
            ("redirect", "http://b.example/"),
            ("redirect", None),
            ("redirect", ""),
            ("ok", "http://c.example/"),
        )
    ]
    path = write(tmp_path / "responses", RESPONSES.schema, *rows)
    assert [row.redirect_url for row in read_stored_redirects([path])] == ["http://b.example/"]
    assert read_stored_redirects([]) == []


def test_moves_from_and_to_some_files(tmp_path: Path) -> None:
    rows = [
        answer(1, "b.warc", 5)._asdict() | {"home": "a.warc"},
        answer(2, "b.warc", 3)._asdict() | {"home": "a.warc"},
        answer(3, "c.warc", 1, "y")._asdict() | {"home": "b.warc"},
        answer(4, "d.warc", 1, "z")._asdict() | {"home": "c.warc"},
    ]
    path = str(tmp_path / "moved")
    pq.write_table(pa.Table.from_pylist(rows), path)
    moves = read_moves([path], ["a.warc", "b.warc"])
    assert moves.leaving == {("b.warc", "x"), ("c.warc", "y")}
    assert moves.arriving == {
        ("a.warc", "x"): [answer(2, "b.warc", 3), answer(1, "b.warc", 5)],
        ("b.warc", "y"): [answer(3, "c.warc", 1, "y")],
    }
    assert read_moves([path], ["e.warc"]) == Moves(frozenset(), {})
    assert read_moves([], ["a.warc"]) == Moves(frozenset(), {})
    assert read_moves([path], []) == Moves(frozenset(), {})


def test_moved_pages_follow_the_first_record_of_their_body() -> None:
    first, again, other = answer(1), answer(2, offset=9), answer(3, offset=4, digest="y")
    answers = [first, other, again]
    whole = Piece("responses", 0, 1, 0)
    come = answer(4, "b.warc")
    arriving = {("a.warc", "x"): [come]}
    stay = Moves(frozenset(), arriving)
    assert [*gather_copies(answers, whole, stay)] == [first, come, other, again]
    leave = Moves(frozenset({("a.warc", "y")}), {})
    assert [*gather_copies(answers, whole, leave)] == [first, again]


def test_pages_that_a_task_leaves_are_in_three_files(tmp_path: Path) -> None:
    for alone in (False, True):
        folder = str(tmp_path / str(alone))
        left = PostponedWriter(folder, ("unparsed/1", "scratch/2"), alone=alone, later="scratch/3")
        left.postponed.append(answer(1))
        left.interrupted += [answer(2), answer(3)]
        left.later.append(answer(4))
        files = {str(row["path"]).rpartition("/")[0]: row for row in left.close()}
        reasons = {
            name: pq.read_table(f"{folder}/{row['path']}").select(["url", "why"]).to_pylist()
            for name, row in files.items()
        }
        found = {
            name: [(each["url"][7], each["why"]) for each in rows] for name, rows in reasons.items()
        }
        interrupted = [("2", INTERRUPTED), ("3", INTERRUPTED)]
        unparsed = [("1", POSTPONED), *(interrupted if alone else [])]
        again = {} if alone else {"scratch/2": interrupted}
        assert found == {"unparsed/1": unparsed, **again, "scratch/3": [("4", LATER)]}
    nothing = PostponedWriter(str(tmp_path / "none"), ("unparsed/1", "scratch/2"), alone=False)
    assert nothing.close() == []


def test_the_fetch_of_a_round_began_at_the_last_try() -> None:
    history = [
        StepReport("fetch", 1, 10, 1.0),
        StepReport("fetch", 2, 20, 1.0),
        StepReport("fetch", 2, 30, 1.0),
        StepReport("parse", 2, 40, 1.0),
        StepReport("fetch", 3, 50, 1.0),
    ]

    def began_ms(round_: int) -> int:
        manifest = SimpleNamespace(history=history)
        store = SimpleNamespace(manifest=manifest)
        return fetch_began_ms(cast("Workspace", SimpleNamespace(store=store, round=round_)))

    assert [began_ms(round_) for round_ in (1, 2, 3, 4)] == [10, 30, 50, 0]
