"""Feeds of a search: the pages that match a query, those that came or changed last first.

    newest_matches.py  which pages are in a feed, and since when they are as they are
    feed_formats.py    feeds as Atom and as JSON

A date in a feed is that of the harvest that added or changed the page in the index (the dataset
`changes`). So it stays as long as the page has the same text, whatever its server says about dates,
and a page that says nothing about its date is in the feed as well.
"""
