"""A site whose pages no link leads to, but its robots.txt, feeds or well-known paths."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WELLKNOWN = "/sitemap.xml"


def listed_site(home: str) -> Mapping[str, bytes]:
    """By path. `home` is its origin."""
    return {
        "/": b"<title>Home</title><link rel=alternate type=application/rss+xml href=/feed.xml>"
        b"<p>This page links to <a href=/about.html>one page</a> alone.",
        "/about.html": b"<title>About</title><p>What this is about.",
        "/robots.txt": b"Sitemap: %s/index.xml\nSitemap: /index.xml\nSitemap: ftp://a.test/s"
        % home.encode(),
        "/index.xml": b"<sitemapindex><sitemap><loc>/maps/1.xml.gz</loc></sitemap></sitemapindex>",
        "/maps/1.xml.gz": gzip.compress(
            b"<urlset><url><loc>%s/hidden.html</loc><lastmod>2024-05-01</lastmod></url></urlset>"
            % home.encode(),
            mtime=0,
        ),
        "/hidden.html": b"<title>Treasure</title><p>Nobody links here.",
        "/feed.xml": b"<rss version='2.0'><channel><title>News</title><item><title>It happened"
        b"</title><link>/news.html</link></item></channel></rss>",
        "/news.html": b"<title>Happened</title><p>Yesterday.",
    }


def unlisted_site() -> Mapping[str, bytes]:
    """It has no robots.txt, and a sitemap where many have it."""
    return {
        "/": b"<title>Front</title><p>No links.",
        WELLKNOWN: b"<urlset><url><loc>/deep.html</loc></url></urlset>",
        "/deep.html": b"<title>Deep</title><p>Nobody links here either.",
    }


def write_site(folder: Path, site: Mapping[str, bytes]) -> Path:
    """As a folder that fakeweb serves."""
    for path, body in site.items():
        file = folder / (path[1:] or "index.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    return folder
