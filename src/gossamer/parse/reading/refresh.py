"""Where a refresh leads: the content of the meta element, or of the header of the same name.

The "shared declarative refresh steps" of WHATWG HTML: seconds, then white space, a semicolon or a
comma, then the URL, with `url=` and quotes or without. Without a separator, `5url=/a` is invalid;
with one, everything that follows is the URL, commas and semicolons included.
"""

from __future__ import annotations

import re
from typing import Final

_REFRESH: Final = re.compile(
    r"""[\t\n\f\r ]*+ (?:[0-9]++|(?=\.)) [0-9.]*+ (?=[;,\t\n\f\r ])
        [\t\n\f\r ]*+ [;,]?+ [\t\n\f\r ]*+
        (?: url [\t\n\f\r ]*+ = [\t\n\f\r ]*+ )?+
        (?: (["']) (.*?) (?:\1|\Z) | (.*+) )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def refresh_target(content: str) -> str | None:
    """Return the URL in a refresh such as `5; url='/there'`, if it has one."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    return found[2] or found[3] or None
