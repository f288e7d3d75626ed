"""Which names of meta elements answer which question, the most trusted first.

Sources: Open Graph (ogp.me, with article: and book:), Twitter's cards, Dublin Core in HTML (DCMI),
Highwire Press tags (citation_, which Google Scholar requires), Parse.ly (parsely-), Sailthru, and
non-standard names that newspapers' software writes. All are in lower case, with colons in place of
dots: dc.date and DC:date are the same.
"""

from __future__ import annotations

from itertools import chain

_NAMES = {
    "headline": "og:title twitter:title citation_title dc:title dcterms:title",
    "description": "description og:description twitter:description",
    "abstract": "dc:description dcterms:description",
    "author": """citation_author parsely-author sailthru:author author byl article:author
        book:author dc:creator dcterms:creator""",
    "published": """article:published_time article:published datepublished dc:date:issued
        dcterms:issued parsely-pub-date sailthru:date citation_publication_date
        citation_online_date citation_date pubdate publishdate publish-date publish_date
        published-date dc:date dcterms:date date dc:date:created dcterms:created""",
    "modified": """article:modified_time article:modified datemodified dc:date:modified
        dcterms:modified og:updated_time last-modified last_modified lastmod revised modified""",
    "image": "og:image:secure_url og:image og:image:url twitter:image twitter:image:src",
    "thumbnail": "thumbnail",
    "site": "og:site_name",
    "application": "application-name",
    "type": "og:type",
    "locale": "og:locale",
}
NAMES = {question: tuple(names.split()) for question, names in _NAMES.items()}
KNOWN = frozenset(chain.from_iterable(NAMES.values()))
