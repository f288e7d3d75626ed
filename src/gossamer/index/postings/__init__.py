"""postings: documents, dispositions → postings, numbered. A term-partitioned index, for research.

Reads documents, dispositions; replaces postings, numbered. A shard of `index` holds documents with
all their terms; a partition here holds terms with all their documents. The documents are the same
(index/format/selection.py). Their terms are the words of title, description and text, not stemmed,
in all languages. A map-reduce:

    documents ─deal─▶ map ─runs─▶ shuffle ─▶ reduce ─▶ postings
                       └─────────────────────────────▶ numbered

deal     The engine deals documents to tasks by a hash of their URLs, sorted by URL. Each task
         numbers its documents from where the previous task ends. So numbers are dense, depend only
         on the URLs and `postings.partitions`, and pages of a site get neighbouring numbers.
map      A task splits documents into terms, and combines them before the shuffle: a run holds a
         term's postings in all documents since the last runs were written ("in-mapper combining",
         Lin and Dyer, "Data-Intensive Text Processing with MapReduce", 2010, §3.1 and §4.3 f.).
         5.1 million postings of 20,000 documents in 8 tasks are 0.65 million runs.
shuffle  The engine groups runs by a hash of the term, sorted by term and first document. Tasks have
         disjoint ranges of numbers, so this is the order of the postings.
reduce   A task writes a partition (format: blocks.py) run by run, holding one block in memory.
"""

from gossamer.index.postings.step import run

__all__ = ["run"]
