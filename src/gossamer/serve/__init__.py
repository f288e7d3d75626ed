"""serve: the search page and API of one crawl, over HTTP.

It reads the index, unless nodes on other machines do, and single rows of other datasets to show
what the crawl knows about a page. The server notices a commit of `index` within a second and opens
the new shards. The old ones stay mapped until their last search is done, so no answer mixes the
two.

    step.py           the commands `serve` and `node`
    listening.py      the socket that they listen on
    process_setup.py  raises the limit of open files, and shortens garbage collection
    dispatch/         front.py dispatches searches to the processes of a cluster, or to this one;
                      cache.py keeps recent answers, single_flight.py shares those being computed,
                      fair_queue.py decides which request starts next, and reloader.py holds the
                      searcher of the newest index
    cluster/          search processes, on this machine and on others
    web/              the pages and the API (starlette)
    rendering.py      renders their HTML from templates/
    stored_copy.py    the stored copy of a page, shown in a sandbox
    differences.py    what changed on a page, or on a site: page_versions.py finds versions in the
                      archive, and text_diff.py compares texts
    graphs.py         the newest link graphs
    drawing/          charts, the neighbourhood of a page, and the parts of a site

`gossamer.search` parses queries and ranks pages.
"""
