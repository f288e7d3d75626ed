"""Text, links and metadata of files that are not HTML; one function reads all types.

How a file is read:

  1. Its type is the declared one, if that is plausible: the type of a zip file follows from its
     contents, and a file that starts like PDF, RTF or an image is one, whatever is declared
     (`kind_of`).
  2. The type's reader fills a `Draft` (`document_draft.py`) with text, links and metadata, until
     there is enough text. Readers of zipped formats get an `Archive` (`zip_archive.py`), which
     unpacks at most 64 MB; XML is read as a stream by `xml_markup.py`, which refuses entities.
  3. What was read of a damaged file before the error is kept, and `detail` reports the error.

Readers are imported when the first file of their kind arrives, so HTML does not pay for PDFium.
Memory is bounded, and so is time, except for what PDFium does within one page. So these readers
must run in the process that the kernel limits (`gossamer.parse.process.guarded_parser`).
"""
