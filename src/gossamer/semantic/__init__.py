"""semantic: documents, indexed → vectors. Passages by their meaning, in whatever language.

Optional: `[semantic] model` names a model that turns texts into vectors, which are near each other
if the texts mean the same (docs/searching.md). Without it, nothing here is imported.

    models.py      the model, from an installed package; universal_encoder.py is the usual one
    passages.py    the passages of a page
    quantizing.py  vectors of 8-bit integers
    scanning.py    the nearest of many vectors
    segments.py    the file format, and merging.py its log-structured merge
    vector_parts.py the folders of the files
    step.py        the step `embed`, and embedding.py the task that changes a shard
    nearest.py     the pages that are nearest to a vector, for the search
"""
