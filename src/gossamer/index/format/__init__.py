"""The full-text index format, which `index` writes and `search` reads.

selection.py   which documents are indexed
analysis.py    how text becomes terms, language by language
schema.py      the fields of a tantivy index, and how a page becomes a document
layout.py      the folders of shards and languages
"""
