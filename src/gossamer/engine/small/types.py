"""The types of columns: as Spark writes them, and as Arrow has them."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.engine.small.limits import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.connect.proto import DataType

_NAMED = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "tinyint": pa.int8(),
    "short": pa.int16(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "void": pa.null(),
    "null": pa.null(),
}
_NUMBERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64())
"""From the narrowest to the widest."""
_KNOWN = {kind: name for name, kind in _NAMED.items()}


@cache
def parse_columns(schema: str) -> pa.Schema:
    """The columns of a schema in SQL (`url string, round int`) or in Spark's JSON."""
    if schema.startswith("{"):
        return pa.schema(
            [(each["name"], _from_json(each["type"])) for each in json.loads(schema)["fields"]]
        )
    found = []
    for part in _split(schema):
        name, kind = re.split(r"[\s:]+", part.strip(), maxsplit=1)
        found.append((name.strip("`"), parse_type(kind)))
    return pa.schema(found)


@cache
def parse_type(text: str) -> pa.DataType:
    """A type in SQL, such as `array<struct<url:string,round:int>>`."""
    text = text.strip()
    head, _, rest = text.partition("<")
    match head.lower():
        case "array" if rest:
            return list_of(parse_type(rest[:-1]))
        case "struct" if rest:
            fields = (part.partition(":") for part in _split(rest[:-1]))
            return pa.struct([(name.strip(), parse_type(kind)) for name, _, kind in fields])
    return _named(text)


def ddl_of(schema: pa.Schema) -> str:
    """Columns in SQL, of which `parse_columns` makes the same."""
    return ", ".join(f"{field.name} {_text_of(field.type)}" for field in schema)


def _text_of(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{_text_of(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{each.name}:{_text_of(each.type)}' for each in kind)}>"
    return _KNOWN[kind]


def from_proto(kind: DataType) -> pa.DataType:
    which = str(kind.WhichOneof("kind"))
    if which == "array":
        return list_of(from_proto(kind.array.element_type))
    if which == "struct":
        fields = kind.struct.fields
        return pa.struct([(each.name, from_proto(each.data_type)) for each in fields])
    return _named(which)


def list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind))


def plain(kind: pa.DataType) -> pa.DataType:
    """A type without what only Arrow tells apart, such as texts with large offsets."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return list_of(plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, plain(field.type)) for field in kind])
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if kind not in _KNOWN:
        raise Unsupported(f"the type {kind}")
    return kind


def common_type(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """The type to which Spark converts values of these types to compare or choose them."""
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    known = [kind for kind in kinds if not pa.types.is_null(kind)]
    if not known:
        return pa.null()
    first = known[0]
    if all(kind == first for kind in known):
        return first
    if all(kind in _NUMBERS for kind in known):
        return max(known, key=_NUMBERS.index)
    raise Unsupported(f"values of the types {', '.join(map(str, kinds))}")


def _named(name: str) -> pa.DataType:
    if name.lower() not in _NAMED:
        raise Unsupported(f"the type {name}")
    return _NAMED[name.lower()]


def _from_json(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        return _named(kind)
    match kind["type"]:
        case "array":
            return list_of(_from_json(kind["elementType"]))
        case "struct":
            return pa.struct([(each["name"], _from_json(each["type"])) for each in kind["fields"]])
    raise Unsupported(f"the type {kind['type']}")


def _split(text: str) -> list[str]:
    """The parts of a text between commas that are not within <>."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append(text[begin:place])
            begin = place + 1
    last = text[begin:]
    return [*parts, last] if last.strip() else parts
