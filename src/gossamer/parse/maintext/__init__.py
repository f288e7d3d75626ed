"""The main text of a page, without boilerplate: navigation, teasers, comments and the like.

How a page is processed:

1. The walk (`html/walk.py`) makes an outline of the page (`blocks.py`): blocks of text in boxes,
   each box with marks from its element, role and classes (`marks.py`).
2. `boilerplate.py` drops the blocks of boxes that are not part of an article, provided that enough
   text is left.
3. `_core` finds the box with the most prose. Each block adds to the score of its box and, reduced
   by DECAY per level, to the boxes around it, as in Readability. So the box around the paragraphs
   wins over a single paragraph and over the page; a list of teasers loses, as each item is a box
   of its own.
4. `_widen_core` adds the text around the core while that is prose.
5. `trim.py` drops lists of links, the title, bylines before the first paragraph, and what follows
   the last one.

Not every page is an article. Two other kinds of page are recognised by their content and are
trimmed less:

- A *reference* has some prose among much text that is neither prose nor links: signatures, tables,
  code, short descriptions. The core is only a part of it, and grows until it contains most of that
  text; nothing is trimmed at the ends.
- An *index* has next to no prose: a table of contents, a list of terms. Everything after its title
  is kept.

The text of an index is *doubtful*, as there is no prose to find it by; so is that of a page all of
whose prose lies in boxes marked as boilerplate. What such a page repeats of its site is no main
text, but only other pages show it: see gossamer.index.boilerplate.

Sources: Readability (Arc90, Mozilla) for 3 and 4; Kohlschütter et al., "Boilerplate Detection using
Shallow Text Features" (WSDM 2010) for link density and length as the features that count.

Bounds: time is linear in the page, and nothing recurses.
"""
