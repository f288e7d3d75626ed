"""The settings of Sphinx: MyST reads Markdown, Furo is the theme. Nothing comes from elsewhere."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SERVED = ROOT / "src" / "gossamer" / "serve" / "static"

project = "Gossamer"
with (ROOT / "pyproject.toml").open("rb") as file:
    release = tomllib.load(file)["project"]["version"]
extensions = ["myst_parser"]
root_doc = "index"
nitpicky = True
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]  # JSON with an ellipsis, for example

myst_heading_anchors = 4  # the anchors of headings that a forge has

html_theme = "furo"
html_title = "Gossamer"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2440b8",
        "color-brand-content": "#2440b8",
        "color-brand-visited": "#6a3d9a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#9db2ff",
        "color-brand-content": "#9db2ff",
        "color-brand-visited": "#c9a6f0",
    },
}
html_logo = html_favicon = str(SERVED / "mark.svg")
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
templates_path = [str(HERE / "templates")]
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False


def _without_own_search(app: Sphinx) -> None:
    app.builder.search = False  # the box asks Gossamer


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", _without_own_search)
