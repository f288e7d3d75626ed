"""Filter rules that refuse sections without fit pages.

step.py        what `filter generate` does
section_candidates.py  sections without fit pages, as far as is known
reachability_proof.py       whether a site's fit pages stay reachable without such a section
rulings.py         what becomes of a page that they refuse
withheld_pages.py  what `update` does about the pages that they refuse
"""
