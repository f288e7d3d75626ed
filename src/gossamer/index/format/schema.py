"""The index format: the fields of a tantivy index.

A shard is a folder, and each language in it has an index of its own below (`analysis.py` says why);
`layout.py` names the folders. All indexes have the same fields:

  names   indexed whole: url, host, site (the host, those of pages that this one stands for, and
          every domain above them), copy_site (those of them that are not above the page's own
          host), language, kind, title_key, wish (what its publisher says about uses of the page,
          such as `ai-train=no`), and hash_prefix: some bits of the page's key, a short term to find
          it by
  words   title, anchors, address, text, first_words, boilerplate, vocabulary, and exact forms.
          `text` has all text about the page: title, headings, description, main text, each anchor
          once, the address. So a page matches a word if and only if `text` has it, and one posting
          list suffices. `first_words` has the title and the first words of the main text. In
          `text`, `title` and `first_words`, words in CamelCase are followed by their parts, and so
          are runs of scripts without spaces if the language's words are not split there.
          `boilerplate` is the rest of the visible text: navigation and the like. `vocabulary` has
          the words of title, headings and anchors without stemming, for spelling. `exact_form` has
          the words of `text` without stemming, each once, and `code` its code;
          `title_exact_form` and `title_code` have those of the title (`exact_form.py`)
  values  date_ms (published, else modified), its year, fetched_ms, key (see `page_keys.py`), and
          static_rank (PageRank divided by its mean, when the page was written)
  stored  stored_document: the fields of a result (`stored_document.py`)

The main text is stored whole, because a snippet may show any part. Its boilerplate, the lines that
the site repeats, is stored apart, as a snippet shows another part if it can. It comes last in
`text`, and `first_words` has none of it. `document_builder.py` makes the document of a page.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import tantivy

from gossamer.errors import StoreError
from gossamer.index.format.analysis import whitespace_analyzer
from gossamer.index.format.field_terms import spaces_analyzer

if TYPE_CHECKING:
    from pathlib import Path

META = "meta.json"
"""The file in which tantivy lists the segments of an index."""
MANAGED = ".managed.json"
"""The file in which tantivy lists the files of an index, to delete those of merged segments. It can
be made again, so it is not kept."""
FORMAT = 20
"""Increment whenever the fields or the text analysis change; the index is then rebuilt."""

NAMES = ("url", "hash_prefix", "host", "site", "copy_site", "language", "kind", "title_key", "wish")
FACETS = ("host", "language", "kind")
WORDS = (
    *("title", "anchors", "address", "text", "first_words", "boilerplate", "vocabulary"),
    *("exact_form", "code", "title_exact_form", "title_code"),
)

STORED_BLOCK_BYTES = 4_096
"""Stored documents are compressed and read in blocks of this size. tantivy's default, 16,384, takes
slightly less disk, but more time per document."""

_TERMS, _PLAIN, _EXACT_FORM, _CODE = "terms", "plain", "exact_form", "code"
_TOKENIZERS = {
    **dict.fromkeys(("address", "vocabulary"), _PLAIN),
    **dict.fromkeys(("exact_form", "title_exact_form"), _EXACT_FORM),
    **dict.fromkeys(("code", "title_code"), _CODE),
}
_OPTIONS = {"anchors": "freq"} | dict.fromkeys(
    ("vocabulary", "exact_form", "code", "title_exact_form", "title_code"), "basic"
)


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in NAMES:
        builder.add_text_field(
            name, fast=name in FACETS, tokenizer_name="raw", index_option="basic"
        )
    for name in WORDS:
        builder.add_text_field(
            name,
            tokenizer_name=_TOKENIZERS.get(name, _TERMS),
            index_option=_OPTIONS.get(name, "position"),
        )
    builder.add_integer_field("date_ms", fast=True, indexed=True)
    builder.add_integer_field("year", fast=True)
    builder.add_integer_field("key", fast=True)
    builder.add_integer_field("fetched_ms", fast=True)
    builder.add_float_field("static_rank", fast=True)
    builder.add_bytes_field("stored_document", stored=True)
    return builder.build()


def create(folder: Path) -> tantivy.Index:
    """Create an empty index in an existing folder, named for a language."""
    tantivy.Index(schema(), str(folder))
    path = folder / META
    meta = json.loads(path.read_bytes())
    # The Python binding has no arguments for these settings. Another thread for the compression of
    # stored documents would cost more to wake than it does.
    meta["index_settings"] |= {
        "docstore_blocksize": STORED_BLOCK_BYTES,
        "docstore_compress_dedicated_thread": False,
    }
    path.write_text(json.dumps(meta))
    return resume(folder)


def resume(folder: Path) -> tantivy.Index:
    """Open an index for writing, in a folder of its files only.

    Fields of words get what `FieldTerms` makes of texts.
    """
    names = sorted(file.name for file in folder.iterdir() if file.name[0] != ".")
    (folder / MANAGED).write_text(json.dumps(names))
    return _register_tokenizers(tantivy.Index.open(str(folder)))


def open_index(folder: Path) -> tantivy.Index:
    """Open an index for reading. Raises StoreError.

    Its files are mapped into memory, so they may be deleted while it is open.
    """
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:
        raise StoreError(folder, f"is damaged: {error}", "build it again: gossamer index") from None
    if index.schema != schema():
        raise StoreError(
            folder, "was written by another version of Gossamer", "build it again: gossamer index"
        )
    index.config_reader("Manual")  # a folder never changes, so there is nothing to watch
    return _register_tokenizers(index)


def _register_tokenizers(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_TERMS, spaces_analyzer())
    index.register_tokenizer(_PLAIN, whitespace_analyzer())
    index.register_tokenizer(_EXACT_FORM, spaces_analyzer())
    index.register_tokenizer(_CODE, whitespace_analyzer())
    return index
