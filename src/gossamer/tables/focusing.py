"""Datasets of what the owner has marked, and what is learned from that: see marks.py."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

MARKS = Dataset(
    "marks",
    "the pages that the owner has marked as wanted or not, by `gossamer mark`",
    key=("url",),
    writer="mark, update",
    readers=("mark", "update"),
    newest_wins=True,
    columns=(
        Column("url", "string", "normalised URL"),
        Column("fit", "boolean", "the owner wants it"),
        Column("marked_ms", "long", "when it was marked"),
        Column(
            "words",
            "array<string>",
            "the words of its title and main text, each once; null: no text of it was parsed yet",
        ),
    ),
)

FIT_WORDS = Dataset(
    "fit_words",
    "the classifier that is learned from marks: the words by which pages are judged, at most 8,192",
    key=("word",),
    writer="mark, update",
    readers=("mark", "generate"),
    newest_wins=True,
    columns=(
        Column("word", "string", "in lower case"),
        Column("weight", "double", "log-odds; above 0: it speaks for a page (see classifier)"),
        Column("wanted", "long", "pages marked as wanted that have it"),
        Column("unwanted", "long", "pages marked as not wanted that have it"),
    ),
)
