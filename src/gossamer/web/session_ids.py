"""Session ids in http and https URLs, which give one page a different URL for each visitor.

    /a;jsessionid=…      servlets; others write `;PHPSESSID=`
    /(S(…))/a            ASP.NET 2 and later, cookieless: session (S), authentication (F), anonymous
                         id (A), probe (X); lower-case or percent-encoded in rewritten links
    /(…)/a               ASP.NET 1: 24 characters of a to z and 0 to 5
    ?PHPSESSID=…         a name in the setting `drop_parameters`, whose default includes PARAMETERS
    ?s=…  ?session_id=…  ambiguous names (a search, a session of a conference): only if the value
                         looks like an id; likewise `;sid=`, `;sessionid=`

Trade-off: an id that stays costs a duplicate, but removing something else merges two pages. Names
in PARAMETERS are those that only one software gives to its sessions, so any value will do. For
an ambiguous name the value must be hexadecimal, of 32 digits or more (MD5, and PHP since 7.1), or
of 26 or more lower-case letters and digits (older PHP, at 5 bits per character). Both must contain
a letter and three digits, as nearly all random ids do and long words do not. Ids of things are
shorter (ObjectIds: 24) or in upper case (ULIDs: 26).
"""

from __future__ import annotations

import re

PARAMETERS = (
    "jsessionid",
    "phpsessid",
    "asp.net_sessionid",
    "aspsessionid*",
    "cfid",
    "cftoken",
    "fe_typo_user",
    "moodlesession*",
    "oscsid",
    "zenid",
)
"""Query parameters that only hold session ids, in lower case; see UrlRules.drop_parameters."""

_ID = r"(?=[0-9]*+[A-Za-z])(?=(?:[A-Za-z]*+[0-9]){3})(?:[0-9A-Fa-f]{32,}|[0-9a-z]{26,})"
SESSION = re.compile(rf"(?i:s|sid|sess_?id|session|session_?id|bbsid)={_ID}")
"""Matches a whole query parameter with an ambiguous name and a value that looks like an id."""

# `/..;jsessionid=1` stays: removing it would create a dot segment that nobody has resolved.
_PATH_PARAMETER = re.compile(
    rf"(?<!/\.)(?<!/\.\.);(?:(?i:jsessionid|phpsessid)=[^/;]*"
    rf"|(?i:sid|sess_?id|session_?id)={_ID}(?=[/;]|\Z))"
)
# No lower-case `f` or `a`: `(f(x))` and the like are more probably part of a title.
_COOKIELESS = re.compile(
    r"""
    (?: / (?:\(|%28)
        (?: (?: [AFSXsx] (?:\(|%28) (?: (?!%2[89]) [^()/] )* (?:\)|%29) )+
          | (?=[a-z]*[0-5]) (?=[0-5]*[a-z]) [a-z0-5]{24} )
        (?:\)|%29)
    )+ (?: / | \Z )
    """,
    re.VERBOSE,
)


def strip_session_ids(path: str) -> str:
    """Remove the session ids from a path in normal percent-encoding."""
    if ";" in path:
        path = _PATH_PARAMETER.sub("", path)
    if "(" in path or "%28" in path:
        path = _COOKIELESS.sub("/", path)
    return path
