"""Ids of visitors in the URLs of http and https: the same page for everybody, spelt anew for each.

    /a;jsessionid=…      servlets; others write `;PHPSESSID=`, `;sessionid=`, `;sid=`
    /(S(…))/a            ASP.NET 2 and later, cookieless: session (S), authentication (F), anonymous
                         id (A), probe (X); lower-case or percent-encoded where links were rewritten
    /(…)/a               ASP.NET 1: 24 characters of a to z and 0 to 5
    ?PHPSESSID=…         a name of the setting `drop_parameters`, where PARAMETERS are the default
    ?s=…  ?sid=…         names that mean other things too (a search, a story, a board): only where
                         the value looks like an id

Trade-off: an id that stays costs a duplicate; what is no id and is dropped makes two pages one. So
the value of a word has to be hexadecimal, of 32 digits or more (MD5, and PHP since 7.1), or of 26
or more lower-case letters and digits (PHP before, at 5 bits a character). Either has a letter
and three digits, as nearly all random ids have, and long words have not. What names things is
shorter (ObjectIds: 24), or in upper case (ULIDs: 26).
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
    "sessid",
    "session_id",
    "sessionid",
    "zenid",
)
"""Names of query parameters that hold nothing else, in lower case; see UrlRules.drop_parameters."""

_ID = r"(?=[0-9]*+[A-Za-z])(?=(?:[A-Za-z]*+[0-9]){3})(?:[0-9A-Fa-f]{32,}|[0-9a-z]{26,})"
SESSION = re.compile(rf"(?i:s|sid|session|bbsid)={_ID}")
"""Matches a whole query parameter whose name may mean a session, and whose value does."""

# `/..;jsessionid=1` stays: without it a dot segment would appear that servers have not resolved.
_PATH_PARAMETER = re.compile(
    rf"(?<!/\.)(?<!/\.\.);(?:(?i:jsessionid|phpsessid|sessionid)=[^/;]*|(?i:sid)={_ID}(?=[/;]|\Z))"
)
# `f` and `a` in lower case are functions of a title, rather.
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


def without_sessions(path: str) -> str:
    """A path, percent-encoded as in normal forms, less the ids in it."""
    if ";" in path:
        path = _PATH_PARAMETER.sub("", path)
    if "(" in path or "%28" in path:
        path = _COOKIELESS.sub("/", path)
    return path
