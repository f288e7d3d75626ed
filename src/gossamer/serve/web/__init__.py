"""Pages and API over HTTP.

    /                     the search box; with ?q=, results
    /search?q=&page=      results
    /page?url=&offset=    what the crawl knows about a page, with its neighbourhood and links
    /copy?url=            its stored copy, in a sandboxed frame
    /copy/raw?url=        the content of that frame
    /diff?url=&from=&to=  two of its versions side by side
    /image?url=           a stored image, for the results that name it
    /status               the state of the crawl
    /sections?q=&offset=  the domains whose sections were counted
    /sections?domain=&section=&colour=&offset=  what a section holds, and rules that refuse it
    /api/v1/search?q=&offset=&limit=   search.results.Results as JSON
    /api/v1/complete?q=   completions of a query that is being typed
    /api/v1/instant?q=&site=&limit=    results for a query that is being typed
    /api/v1/page?url=&offset=&limit=   search.page_info.KnownPage as JSON
    /api/v1/diff?url=&from=&to=        two versions as serve.differences.Difference
    /api/v1/graph/outlinks?url=&offset=&limit=  pages to which a page links; hosts=1: of a host
    /api/v1/graph/inlinks?url=&offset=&limit=   pages that link to it, with anchor texts
    /api/v1/graph/common?url=&url=              pages that link to all of these, or are linked
    /api/v1/graph/path?from=&to=                a shortest way along links
    /api/v1/graph/neighbourhood?url=&depth=&limit= what is around a page
    /api/v1/graph/host?host=&limit=             the links between a host and others
    /api/v1/sections?domain=&section=&offset=&limit=  what a section holds as JSON
    /api/v1/sections/domains?q=&offset=&limit=     the domains
    /api/v1/status        status.overview as JSON
    /api/v1/openapi.json  the description of the API
    /suggest?q=           completions in the form that browsers expect
    /embed.js             a search box for other sites, which shows /api/v1/instant
    /open-webui           POST: the search as Open WebUI asks for it
    /metrics              counts and latencies for Prometheus
    /opensearch.xml       lets browsers add Gossamer as a search engine
    /robots.txt           keeps crawlers off everything but the search box
    /health               200 if an index is being served, else 503

All of it may be below a path of a site. Everything works without JavaScript. The templates escape
text from the Web, links lead only to http and https, and the Content-Security-Policy forbids all
scripts but our files. Errors of the API are problem details (RFC 9457).

    app.py                  the application: routes and middleware
    search_routes.py        the search box, results and completions, and how browsers add it
    embed_routes.py         the search box for other sites, and instant results
    open_webui_route.py     the search for Open WebUI
    mcp_route.py            tools for language models
    token_gate.py           who may use the two routes before
    cors.py                 which other sites may read the API in browsers
    page_routes.py          what the crawl knows about a page
    graph_routes.py         the link graph
    copy_routes.py          stored copies and images
    diff_routes.py          versions of a page side by side
    section_routes.py       what the parts of sites hold
    status_routes.py        the state of the crawl, and whether an index is served
    metrics.py, openapi.py, robots_route.py
    expensive_responses.py  expensive responses: few are computed at once, each is reused for a
                            second
    request_limits.py       bounds on the URL, and on the concurrent requests of a client
    site_path.py            the path of the site, and what trusted proxies report
    compression.py          brotli and gzip
    paced_sending.py        large responses, in pieces
    connections.py          bounds the number of connections; protocol.py bounds each of them
    clients.py              determines which client an address belongs to
    responses.py            parses parameters, and builds HTML and JSON responses
    problem.py              turns errors into responses
    headers.py              security headers of every response
"""

from gossamer.serve.web.app import server
from gossamer.serve.web.headers import HEADERS

__all__ = ["HEADERS", "server"]
