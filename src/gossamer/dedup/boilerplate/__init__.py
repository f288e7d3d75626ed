"""boilerplate: documents → boilerplate, own_texts. Which lines of main texts belong to their site?

    host_lines.py     the lines that stand on many pages of a host
    own_text_rows.py  what the pages of such hosts say without these lines

An extractor sees one page, so it may take for main text what a site repeats on all of them: members
that each class inherits, terms of use, a menu in prose. Only other pages of the site show it. Such
lines neither make pages similar (`dedup`) nor are shown in snippets while other passages have the
words of the query; and where the extractor itself was in doubt, they are not main text (`index`).

A host's lines are determined again when as many of its pages have changed as it had then. If they
changed sooner, so would all that depends on them: each of its pages would be compared and indexed
again. In between, only new documents are described.

Cost: in proportion to what is new, and to the hosts whose lines are determined again: a pass over
the hosts of all documents finds theirs, and their main texts are read.
"""

from gossamer.dedup.boilerplate.step import run

__all__ = ["run"]
