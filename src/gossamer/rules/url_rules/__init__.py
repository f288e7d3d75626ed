"""Learned rules for URLs: which spellings of a host lead to the same page?

After Bar-Yossef, Keidar and Schonfeld ("Do not crawl in the DUST: different URLs with similar
text", ACM TWEB 2009). A site often has several URLs for a page. The URLs themselves do not say so,
but the pages that were fetched do. So a crawl learns, host by host, from pages whose contents
agreed:

    forms.py         the forms of a URL by kind: scheme, www, slash, index, case, parameter, order,
                     host
    fingerprints.py  do two pages have the same contents?
    verdicts.py      what the pages of a round say about forms
    rule_states.py      from evidence to rules, and when a rule is dropped
    rewriting.py     rewriting URLs by the rules that are active
    aliases.py       URLs that were rewritten, and their return
    alias_samples.py       which of them are fetched all the same
    rule_updates.py       what `update` and `parse` call
    rule_listing.py       reading, testing and disabling rules

`update` learns at the end of a round, `parse` rewrites the links of the next ones. Nothing is lost:
each rewritten URL is remembered (dataset `aliases`), and becomes a page if its rule is dropped, or
if the URL that it was rewritten to has no page. A sample of what a rule would lose is fetched.
"""
