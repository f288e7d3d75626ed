"""What all tables of settings are made of."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0)]
Weight = Annotated[float, Meta(ge=0, le=1_000)]


class Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass
