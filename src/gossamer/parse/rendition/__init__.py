"""A page as Markdown and as passages, for programs that read rather than search.

How a page is rendered:

1. `recording.py` walks over the elements as the parser does, and keeps what it meets: starts and
   ends of elements, and the texts of those blocks that `gossamer.parse.maintext` chooses.
2. `building.py` makes blocks of that (`blocks.py`): headings, paragraphs, lists, tables, code.
   Formats other than HTML have lines of text, which become paragraphs (`plain_text.py`).
3. `markdown.py` writes the blocks as CommonMark with GFM's tables, `inlines.py` their text, with
   `escaping.py`. A renderer gets the same words from it, in the same order.
4. `passages.py` cuts the blocks at headings, and gives each passage a name that depends on nothing
   but its own text and the headings above it.

Bounds: time is linear in the page, nothing recurses deeper than MAX_DEPTH, and the result is not
longer than `Rules.max_text_chars`. It happens in the parser's process (`process/`), as all else
that reads strangers' bytes.
"""
