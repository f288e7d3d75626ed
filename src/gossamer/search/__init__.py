"""search: from a query to its answer, without HTTP or processes.

query.py           parses the text of a query into a tree
page_filters.py    replaces `link:`, `url:` and `related:` by URLs and weighted terms;
                   more_like_this.py selects the significant terms of a page
broker.py          turns a tree into requests to nodes, and their replies into Results
                   (results.py); messages.py defines both, conversation.py keeps track of nodes
                       that fail, diversity.py limits crowded hosts
node.py            answers requests from some shards of the index, opened by open_parts.py
ranking.py         turns a tree into tantivy's queries: the one page on ranking. filters.py
                   does so for dates, sites and the like; statistics.py corrects idf
profiles.py        the final order, by our formula or another; recency.py detects
                   queries that want fresh pages
explaining.py      the explanation of a score, within bounds
snippets.py        the snippet of a result
spelling.py        similar words and completions from one index; corrections.py makes a
                   corrected query from those of all nodes
page_info.py       what the crawl knows about a page, and its links in both directions
searcher.py        all of it in one process: a broker, and one node with the whole index
left_out.py        why the crawl does not hold a URL
"""
