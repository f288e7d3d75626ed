"""Filter rules that refuse sections without fit pages.

step.py        what `filter generate` does
section_candidates.py  sections without fit pages, as far as is known
reachability_proof.py       whether a site's fit pages stay reachable without such a section
"""
