"""Feeds and sitemaps as parsed pages: we follow their links but do not index them.

How a listing is read:

  1. `sitemap.py` unpacks a sitemap and reads its entries; `feed.py` reads those of a feed, or
     `feed_json.py` if it is in JSON. `feed_model.py` defines feeds and their entries, and
     `feed_text.py` extracts their texts.
  2. Both get XML from `xml_reader.py`: one small tree per record (`xml_node.py`), even from broken
     files.
  3. Entries become links with dates and anchor texts. A file that only claims to be a listing is
     read as the XML or JSON that it is.
"""
