"""An OpenSearch 1.1 description, with which browsers add this server as a search engine."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

MEDIA_TYPE = "application/opensearchdescription+xml"
_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Gossamer</ShortName>
  <Description>Search the crawl at {name}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image width="16" height="16" type="image/svg+xml">{base}static/mark.svg</Image>
  <Url type="text/html" template={pages}/>
  <Url type="application/x-suggestions+json" template={suggestions}/>
  <Url type="application/json" rel="results" indexOffset="0" template={api}/>
  <Url type="application/opensearchdescription+xml" rel="self" template={own}/>
</OpenSearchDescription>
"""


def describe(request: Request) -> Response:
    """The description. KnownNames has checked the host name that it is built from."""
    base = str(request.base_url)
    text = _DESCRIPTION.format(
        name=escape(request.base_url.netloc)[:900],
        base=escape(base),
        pages=quoteattr(f"{base}search?q={{searchTerms}}&page={{startPage?}}"),
        api=quoteattr(
            f"{base}api/search?q={{searchTerms}}&offset={{startIndex?}}&limit={{count?}}"
        ),
        suggestions=quoteattr(f"{base}suggest?q={{searchTerms}}"),
        own=quoteattr(f"{base}opensearch.xml"),
    )
    return Response(text, media_type=MEDIA_TYPE)


ROUTES = [Route("/opensearch.xml", describe)]
