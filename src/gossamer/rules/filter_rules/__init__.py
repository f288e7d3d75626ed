"""Rules of the owner for URLs, content types and languages, in order: the first match decides.

rule_syntax.py      a rule as a line of text
rule_index.py         which rule decides, by look-ups whose cost does not grow with the number of
                      rules
filter_recipe.py        what tasks make their filters of; one compilation per process
crawl_rules.py   all rules of a crawl: those of its settings, of files, and of the store
stored_rules.py  the rules in the store: add, remove, disable, enable
"""
