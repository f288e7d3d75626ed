"""search: from a query to its answer, without HTTP or processes.

query.py           parses the text of a query into a tree
page_filters.py    replaces `link:`, `url:` and `related:` by URLs and weighted terms;
                   more_like_this.py selects the significant terms of a page
broker.py          answers a question: requests to nodes (messages.py), and Results (results.py)
                   from their replies; conversation.py keeps track of nodes that fail
matching.py        … the phases that find and order pages; diversity.py limits crowded hosts
hits.py            … and the phase that shows them
node.py            answers requests from some shards of the index, opened by open_parts.py
index_search.py    the search of one index of a node; query_plans.py keeps its plans
languages.py       what a query means on pages of several languages
interpretation.py  the terms to look for in an index: query_units.py for words, typed_forms.py for
                   code and for words as they were typed
ranking.py         turns a tree into tantivy's queries: the one page on ranking. filters.py
                   does so for dates, sites and the like, query_clauses.py combines queries;
                   statistics.py corrects idf
profiles.py        the final order, by our formula or another; recency.py detects
                   queries that want fresh pages
explaining.py      the explanation of a score, within bounds
snippets.py        the snippet of a result, from the passage that passages.py finds
spelling.py        similar words and completions from one index; corrections.py makes a
                   corrected query from those of all nodes
page_info.py       what the crawl knows about a page, and its links in both directions
searcher.py        all of it in one process: a broker, and one node with the whole index
"""
