"""The full-text index format, which `index` writes and `search` reads.

selection.py   which documents are indexed
analysis.py    how text becomes terms, language by language
normalization.py, han_variants.py   … in one spelling of each word
field_terms.py, term_table.py       … and how tantivy gets the terms
exact_form.py  … and code, words as they are written, and words in CamelCase
schema.py      the fields of a tantivy index
document_builder.py   how a page becomes a document of it
page_keys.py          the hashes by which pages and titles are found
stored_document.py    the fields of a result, which a snippet reads in part
layout.py      the folders of shards and languages
"""
