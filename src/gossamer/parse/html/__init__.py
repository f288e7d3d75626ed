"""The HTML parser: lexbor's tree, walked once for text, links and metadata, and for the main text.

The life of a page:

  1. `walk.py` visits the nodes. `lines.py` collects their text; `findings.py` headings and
     references. Metadata elements go to `head_metadata.py`; `microdata.py` and `jsonld.py` read
     these two formats.
  2. `page_metadata.py` interprets what was collected: title, authors and image with
     `schema_org.py`, dates with `page_dates.py`.
  3. `gossamer.parse.maintext` extracts the main text from the outline that `lines.py` makes.
  4. A rule for the site overrides all of this (`site_rules.py`, with `css_selectors.py`).
"""
