"""/robots.txt: crawlers may fetch the search box, and nothing that costs a search (RFC 9309).

Crawlers only read /robots.txt of a host. If Gossamer is below a path of a site, these lines belong
into the site's own file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from gossamer.serve.web.site_path import root_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_RULES = """User-agent: *
Disallow: {root}/
Allow: {root}/$
Allow: {root}/static/
Allow: {root}/opensearch.xml$
"""


def robots(request: Request) -> Response:
    return PlainTextResponse(_RULES.format(root=root_of(request.scope)))


ROUTES = [Route("/robots.txt", robots)]
