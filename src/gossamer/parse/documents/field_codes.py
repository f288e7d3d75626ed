r"""Instructions of fields, as Word, and all that write its formats, put them: HYPERLINK "https://…".

ISO/IEC 29500-1 §17.16.5.25: an argument with or without quotes, and switches, of which `\l` names a
place in the target.
"""

from __future__ import annotations

import re

_HYPERLINK = re.compile(
    r"""\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))(.*)\Z""", re.IGNORECASE | re.DOTALL
)
_PLACE = re.compile(r"""\s\\l\s+(?:"([^"]*)"|(\S+))""", re.IGNORECASE)


def hyperlink_target(instruction: str) -> str | None:
    """Return the URL of a HYPERLINK; None for other fields, and for places in the document."""
    found = _HYPERLINK.match(instruction)
    if found is None:
        return None
    url = found[1] or found[2] or ""
    place = _PLACE.search(found[3])
    if place is None or not url or "#" in url:
        return url or None
    return f"{url}#{place[1] or place[2]}"
