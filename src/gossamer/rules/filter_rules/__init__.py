"""Rules of the owner for URLs, content types and languages, in order: the first match decides.

language.py      a rule as a line of text
index.py         which rule decides, by look-ups whose cost does not grow with the number of rules
recipe.py        what tasks make their filters of; one compilation per process
crawl_rules.py   all rules of a crawl: those of its settings, of files, and of the store
stored_rules.py  the rules in the store: add, remove, disable, enable
"""
