"""A sitemap, an index and a feed of the same two pages."""

from __future__ import annotations

URL = "https://e.org/maps/list"
PAGES = ["https://e.org/1", "https://e.org/2"]
URLSET = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>https://e.org/1</loc></url><url><loc>https://e.org/2</loc></url></urlset>"
)
INDEX = URLSET.replace("urlset", "sitemapindex").replace("<url>", "<sitemap>")
INDEX = INDEX.replace("</url>", "</sitemap>")
RSS = (
    '<rss version="2.0"><channel><title>T</title><item><link>https://e.org/1</link></item>'
    "<item><link>https://e.org/2</link></item></channel></rss>"
)
