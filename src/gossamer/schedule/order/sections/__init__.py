"""What the parts of sites hold, and what a visit to them is worth.

section_names.py  the sections that a URL is in
step.py           counting pages by section
section_finds.py          in which sections visits found new pages, and of which sections these are
section_worth.py          what a visit to a section is worth, from both (bandit.py)
page_worth.py     what a visit to a page is worth
section_tree.py           sections as a tree that a person opens step by step
section_refusal.py        filter rules that refuse a section
"""
