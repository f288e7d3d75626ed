"""The encoding of messages between search processes; invalid bytes are rejected."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.messages import Complete, Find, Question, Suggest, Survey
from gossamer.search.query import parse
from gossamer.serve.cluster import wire


@given(st.text(max_size=80), st.booleans(), st.integers(0, 1000))
def test_messages_come_out_as_they_went_in(text: str, any_term: bool, most: int) -> None:
    tree = parse(text)
    for message in (
        Question(text, most, 10, by_date=any_term),
        Survey(tree),
        Find(tree, most, any_term=any_term),
        Complete(text, most),
        Suggest(text, most),
    ):
        assert wire.request_of(wire.pack(message)[4:]) == message


@given(st.binary(max_size=200))
def test_strange_bytes_are_a_bad_frame(body: bytes) -> None:
    for read in (wire.request_of, wire.outcome_of):
        try:
            read(body)
        except wire.BadFrameError:
            continue
