"""check: are the files of a crawl whole, and do its datasets agree?

  1. `Store.verify` compares every file that the manifest names with its size and checksum, the
     listings first; files that a listing names are unknown if both of its files are damaged.
  2. If all are whole, `archived_bodies.py` reads every body that `responses` names and compares it
     with its digest; `dataset_agreement.py` compares the datasets with each other; and
     `index_parts.py` compares the documents in the index with the rows of `indexed`.

`repair.py` mends what these find. It invents nothing: what can be computed is computed again, what
can be fetched becomes due, and the rest is dropped and counted.
"""
