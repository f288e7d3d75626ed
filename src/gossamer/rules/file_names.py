"""Does a URL name a file, or a page about one?

The last letters of a URL are not its type: `/wiki/File:Sun.jpg`, `/tagged/node.js?tab=new` and
`/owner/chart.js` are pages. Only an answer tells, but most links to `photo.jpg` and `setup.zip`
lead to what they say, and each would be a download. So a URL whose path has the extension of a
file without text is requested only if something else in it speaks for a page:

- a colon in the last segment, as in the namespaces of wikis (`Datei:Sonne.jpg`);
- a folder whose entries are named after their subjects: a wiki's, or tags;
- a folder by which sites that show source code show a file (`/blob/main/logo.png`);
- a program before it, which gets the rest of the path (`/index.php/Sun.jpg`);
- a parameter by which programs choose what of a page they show (`?tab=new`, `?page=2`);
- a script, in a folder that is not one of assets: programs are libraries by name (`/owner/d3.js`).
  Pages link to scripts that they run by other elements, which we do not follow.
"""

from __future__ import annotations

import re

SUBJECT_FOLDERS = frozenset(
    ("label", "labels", "tag", "tagged", "tags", "topic", "topics", "wiki", "wikis")
)
"""The folder of the last segment, in lower case."""
VIEW_FOLDERS = frozenset(("blame", "blob", "commits", "tree"))
"""Any folder, in lower case."""
PAGE_PARAMETERS = frozenset(("action", "diff", "oldid", "page", "sort", "tab"))
ASSET_FOLDERS = frozenset(
    (
        *("asset", "assets", "bower_components", "build", "cdn", "content", "dist", "files"),
        *("inc", "includes", "javascript", "javascripts", "js", "lib", "libs", "media", "min"),
        *("modules", "node_modules", "plugins", "pub", "public", "raw", "resources", "script"),
        *("scripts", "src", "static", "themes", "uploads", "vendor", "wp-content", "wp-includes"),
    )
)
"""Folders of files that pages load, in lower case."""
SCRIPTS = ("js", "css")

_PROGRAM = re.compile(r"\.(?:php\d?|cgi|pl|py|aspx?|jspx?|dll|exe)/", re.IGNORECASE)
_ASSET_NAME = re.compile(
    r"[.-](?:min|bundle|umd|esm|slim|prod)\.|[.-][0-9a-f]{8,}\.|\d+\.\d+", re.IGNORECASE
)
"""Names that builds give to scripts: minified, with a hash, or with a version."""
_FIRST_SEGMENT = 3
"""The place of the path's first segment in a URL that is split at slashes."""


def is_about_file(url: str, ending: str) -> bool:
    """Whether a normalised URL, whose path ends with `ending`, names a page about a file."""
    address, _, query = url.partition("?")
    *folders, name = address.lower().split("/")[_FIRST_SEGMENT:]
    if ":" in name or "%3a" in name:
        return True
    if folders and folders[-1] in SUBJECT_FOLDERS:
        return True
    if not VIEW_FOLDERS.isdisjoint(folders) or _PROGRAM.search(address):
        return True
    if query and any(part.partition("=")[0] in PAGE_PARAMETERS for part in query.split("&")):
        return True
    return (
        ending in SCRIPTS
        and bool(folders)
        and ASSET_FOLDERS.isdisjoint(folders)
        and _ASSET_NAME.search(name) is None
    )
