"""Spark's functions of texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.values import cast, column, literal, map_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gossamer.engine.small.values import Function, Value


def _length(given: Sequence[Value], _rows: int) -> Value:
    is_text = pa.types.is_string(given[0].type)
    return cast((pc.utf8_length if is_text else pc.binary_length)(given[0]), pa.int32())


def _substring(given: Sequence[Value], rows: int) -> Value:
    text, begin, *length = given
    if not pa.types.is_string(text.type):
        raise Unsupported(f"a part of {text.type}")
    if not all(isinstance(each, pa.Scalar) for each in (begin, *length)):
        return _each_substring(given, rows)
    first = literal(begin)
    count = literal(length[0]) if length else 1 << 30
    if first < 0:
        raise Unsupported("a substring from the end")
    first = max(first, 1) - 1
    return pc.utf8_slice_codeunits(text, first, first + max(count, 0))


def _each_substring(given: Sequence[Value], rows: int) -> Value:
    """Substrings whose places differ from row to row."""
    texts, begins, counts = (
        column(each, rows).to_pylist() for each in (*given, pa.scalar(1 << 30))[:3]
    )
    if any(each is not None and each < 1 for each in begins):
        raise Unsupported("a substring from the end")
    made = [
        None if None in row else row[0][row[1] - 1 : row[1] - 1 + max(row[2], 0)]
        for row in zip(texts, begins, counts, strict=True)
    ]
    return pa.array(made, given[0].type)


def _left(given: Sequence[Value], rows: int) -> Value:
    return _substring((given[0], pa.scalar(1), given[1]), rows)


def _with_pattern(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        return function(given[0], literal(given[1]))

    return run


def _replace_regex(given: Sequence[Value], _rows: int) -> Value:
    replacement = re.sub(r"\$(\d)", r"\\\1", literal(given[2]).replace("\\", "\\\\"))
    return pc.replace_substring_regex(given[0], literal(given[1]), replacement)


def _replace(given: Sequence[Value], _rows: int) -> Value:
    return pc.replace_substring(given[0], literal(given[1]), literal(given[2]))


def _extract_regex(given: Sequence[Value], rows: int) -> Value:
    pattern, group = re.compile(literal(given[1])), literal(given[2])

    def extract(text: str) -> str:
        match = pattern.search(text)
        return (match[group] or "") if match else ""

    return map_values(given[0], rows, extract, pa.string())


def _extract_all_regex(given: Sequence[Value], rows: int) -> Value:
    pattern, group = re.compile(literal(given[1])), literal(given[2])

    def extract(text: str) -> list[str]:
        return [match[group] or "" for match in pattern.finditer(text)]

    return map_values(given[0], rows, extract, pa.list_(pa.field("element", pa.string())))


def _split_part(given: Sequence[Value], rows: int) -> Value:
    """A part of each text, such as the host of a URL. Links have the same URL in many rows."""
    text, mark, number = given[0], literal(given[1]), literal(given[2])
    if number < 1:
        raise Unsupported("a part from the end")
    encoded = column(text, rows).dictionary_encode()
    parts = pc.split_pattern(encoded.dictionary, mark)
    begins = parts.offsets.to_numpy()[:-1]
    is_long = pc.list_value_length(parts).to_numpy() >= number
    places = pa.array(begins + number - 1, mask=~is_long)
    found = pc.fill_null(parts.values.take(places), "")
    return found.take(encoded.indices)


def _substring_index(given: Sequence[Value], rows: int) -> Value:
    mark: str = literal(given[1])
    count: int = literal(given[2])

    def cut(text: str) -> str:
        parts = text.split(mark)
        return mark.join(parts[:count] if count >= 0 else parts[count:])

    return map_values(given[0], rows, cut, pa.string())


def _split(given: Sequence[Value], rows: int) -> Value:
    pattern = literal(given[1])
    if any(literal(each) > 0 for each in given[2:]):
        raise Unsupported("a limit of parts")
    return pc.split_pattern_regex(column(given[0], rows), pattern)


def _concat_with(given: Sequence[Value], rows: int) -> Value:
    """Texts with a mark between them, without those that are NULL.

    Fact (pyarrow 26): `binary_join_element_wise` with `skip` may return fewer rows.
    """
    mark, *texts = given
    if any(pa.types.is_list(each.type) for each in texts):
        raise Unsupported("a list as texts")
    between = literal(mark)
    columns = [column(cast(each, pa.string()), rows) for each in texts]
    if not any(each.null_count for each in columns):
        return pc.binary_join_element_wise(*columns, between)
    marked = (pc.binary_join_element_wise(between, each, "") for each in columns)
    joined = pc.binary_join_element_wise(*(pc.fill_null(each, "") for each in marked), "")
    return pc.utf8_slice_codeunits(joined, len(between))


def _pad_left(given: Sequence[Value], _rows: int) -> Value:
    width = literal(given[1])
    padded = pc.utf8_lpad(given[0], width, literal(given[2]))
    return pc.utf8_slice_codeunits(padded, 0, width)


def _trim(given: Sequence[Value], _rows: int) -> Value:
    return pc.utf8_trim(given[0], " ")


def _place_of(given: Sequence[Value], rows: int) -> Value:
    part = literal(given[1])
    return map_values(given[0], rows, lambda text: text.find(part) + 1, pa.int32())


TEXTS: Mapping[str, Function] = {
    "length": _length,
    "left": _left,
    "substring": _substring,
    "substr": _substring,
    "trim": _trim,
    "substring_index": _substring_index,
    "split_part": _split_part,
    "split": _split,
    "contains": _with_pattern(pc.match_substring),
    "startswith": _with_pattern(pc.starts_with),
    "startsWith": _with_pattern(pc.starts_with),
    "endswith": _with_pattern(pc.ends_with),
    "endsWith": _with_pattern(pc.ends_with),
    "rlike": _with_pattern(pc.match_substring_regex),
    "replace": _replace,
    "regexp_replace": _replace_regex,
    "regexp_extract": _extract_regex,
    "regexp_extract_all": _extract_all_regex,
    "instr": _place_of,
    "lpad": _pad_left,
    "concat_ws": _concat_with,
    "lower": lambda given, _rows: pc.utf8_lower(given[0]),
    "upper": lambda given, _rows: pc.utf8_upper(given[0]),
}
