"""Pages and API over HTTP.

    /                     the search box
    /search?q=&page=      results
    /page?url=&offset=    what is known of a page, links in and out
    /copy?url=            its stored copy, in a frame without rights
    /copy/raw?url=        the copy itself
    /image?url=           a stored picture, for the results that name it
    /status               what the crawl does
    /api/search?q=&offset=&limit=      Results (search.py) as JSON
    /api/page?url=&offset=&limit=      KnownPage (pages.py) as JSON
    /api/status           overview.py as JSON
    /api/openapi.json     the description of these
    /metrics              counts and latencies for Prometheus
    /opensearch.xml       for browsers that add the engine
    /health               200 where an index is being served, else 503

Everything works without JavaScript. What comes from the web is escaped by the templates, links
lead to http and https alone, and the Content-Security-Policy forbids any script but our file.
Errors of the API are problem details (RFC 9457).

    app.py       the application: routes, and what stands around them
    searching.py the search box and its results
    paging.py    what is known of a page
    copying.py   the stored copy of a page, and pictures
    status.py    what the crawl does, and whether an index is served
    metrics.py, openapi.py, opensearch.py
    limits.py    what a request may be, and how many searches may go on at a time
    answers.py   what handlers read of a request, and the forms of what they answer
    problem.py   an error → an answer
    headers.py   what every answer says to browsers
"""

from gossamer.serve.web.app import app
from gossamer.serve.web.headers import HEADERS

__all__ = ["HEADERS", "app"]
