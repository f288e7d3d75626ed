"""The language of code, as the classes around it name it."""

from __future__ import annotations

import re

_MARKED = re.compile(
    r"""(?:^|\s)(?:language-|lang-|lang:|brush:\s*|src-|highlight-source-|highlight-text-
    |highlight-(?!source|text))([A-Za-z][\w+#.-]{0,30})""",
    re.VERBOSE,
)
"""HTML §4.5.15 suggests `language-`; the others are Prettify, SyntaxHighlighter, Org, GitHub and
Sphinx."""
_AFTER = re.compile(r"(?:^|\s)(?:sourceCode|src|prettyprint|programlisting)\s+([a-z][\w+#]{0,20})")
"""Pandoc and others write the language behind the word for code."""
_NO_LANGUAGE = frozenset(
    ("default", "none", "text", "plain", "plaintext", "notranslate", "linenums")
)
_OTHER_NAMES = {
    "python3": "python",
    "ipython3": "python",
    "pycon3": "pycon",
    "shell-session": "console",
}


def language_of(classes: str | None) -> str:
    """Return the language that a class attribute names, or ""."""
    if not classes:
        return ""
    found = _MARKED.search(classes[:500]) or _AFTER.search(classes[:500])
    if found is None:
        return ""
    name = found[1].lower().rstrip(".-")
    return "" if name in _NO_LANGUAGE else _OTHER_NAMES.get(name, name)
