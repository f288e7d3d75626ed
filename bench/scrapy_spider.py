"""Scrapy's sides of peers.py, each in its own process.

    python scrapy_spider.py plain|tuned URL FOLDER

Both crawl the host of URL without delay, obey robots.txt. `plain` is
written as Scrapy's documentation shows: a link extractor, XPath, and a feed of JSON lines. It has
no queue on disk and no index. `tuned` does what Scrapy's users do about its costs: selectolax
parses, URLs that are known never become requests, the queue is on disk (JOBDIR), and a pipeline
indexes with tantivy, in threads of its own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

import scrapy
import tantivy
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor
from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterator

FAST = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
"""Settings of a Scrapy that does nothing but fetch, as fast as it can."""
TUNED = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DEPTH_PRIORITY": 1,
    "DOWNLOAD_MAXSIZE": 32 << 20,
    "LOGSTATS_INTERVAL": 0,
    "REACTOR_THREADPOOL_MAXSIZE": 4,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
"""What the tuned one has besides: breadth first, like the other crawlers, and no large bodies."""
WRITER_BYTES = 256_000_000
WRITER_THREADS = 2
NOT_PAGES = re.compile(
    r"\.(bmp|bz2|css|epub|exe|gif|gz|ico|jpe?g|js|mp[34]|pdf|png|svg|tgz|woff2?|xz|zip)$",
    re.IGNORECASE,
)
NOT_LINKS = ("#", "mailto:", "javascript:", "data:")


class PlainSpider(scrapy.Spider):
    """Extracts title, text and links of every page it reaches."""

    name = "plain"

    def __init__(self, url: str) -> None:
        super().__init__(start_urls=[url])
        self.links = LinkExtractor(allow_domains=urlsplit(url).netloc)

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, TextResponse):
            return
        text = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        yield {
            "url": response.url,
            "title": response.xpath("//title/text()").get(),
            "text": " ".join(" ".join(text).split()),
        }
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


class TunedSpider(scrapy.Spider):
    """Does the same with selectolax, and asks once for each URL."""

    name = "tuned"

    def __init__(self, url: str) -> None:
        super().__init__(start_urls=[url])
        self.host = urlsplit(url).hostname
        self.seen = {url}

    def parse(self, response: Any) -> Iterator[Any]:
        if b"html" not in response.headers.get("Content-Type", b""):
            return
        is_utf8 = response.encoding == "utf-8"
        tree = LexborHTMLParser(response.body if is_utf8 else response.text)
        for url in self.new_urls(response.url, tree):
            yield scrapy.Request(url)
        title = tree.css_first("title")
        tree.strip_tags(["script", "style", "noscript"])
        yield {
            "url": response.url,
            "title": title.text(strip=True) if title else "",
            "text": tree.body.text(separator=" ") if tree.body else "",
        }

    def new_urls(self, url: str, tree: LexborHTMLParser) -> Iterator[str]:
        """Return links that no page had before. Scrapy's own filter hashes a request for each."""
        if (base := tree.css_first("base[href]")) is not None:
            url = urljoin(url, base.attributes["href"] or "")
        for href in set(references(tree)):
            try:
                link = urldefrag(urljoin(url, href)).url
                parts = urlsplit(link)
            except ValueError:
                continue
            if link in self.seen or parts.hostname != self.host:
                continue
            if parts.scheme in {"http", "https"} and not NOT_PAGES.search(parts.path):
                self.seen.add(link)
                yield link


def references(tree: LexborHTMLParser) -> Iterator[str]:
    """Return what links, frames and refreshes of a page refer to, as it is written there."""
    for node in tree.css("a[href], area[href], iframe[src], frame[src]"):
        href = (node.attributes.get("href") or node.attributes.get("src") or "").strip()
        followed = "nofollow" not in (node.attributes.get("rel") or "")
        if href and followed and not href.startswith(NOT_LINKS):
            yield href
    for node in tree.css('meta[http-equiv="refresh"]'):
        if href := (node.attributes.get("content") or "").partition("=")[2].strip("'\" "):
            yield href


class TantivyPipeline:
    """Adds the items to an index, with positions and stored texts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def from_crawler(cls, crawler: Any) -> TantivyPipeline:
        return cls(Path(crawler.settings["JOBDIR"]).with_name("index"))

    def open_spider(self) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("url", stored=True, tokenizer_name="raw")
        schema.add_text_field("title", stored=True)
        schema.add_text_field("text", stored=True)
        self.folder.mkdir()
        index = tantivy.Index(schema.build(), path=str(self.folder))
        self.writer = index.writer(WRITER_BYTES, WRITER_THREADS)

    def process_item(self, item: dict[str, str]) -> dict[str, str]:
        document = tantivy.Document()
        for name, value in item.items():
            document.add_text(name, value)
        self.writer.add_document(document)
        return item

    def close_spider(self) -> None:
        self.writer.commit()
        self.writer.wait_merging_threads()


def main() -> None:
    which, url, folder = sys.argv[1:]
    settings: dict[str, Any] = FAST | {"ROBOTSTXT_OBEY": True}
    if which == "tuned":
        settings |= TUNED | {"JOBDIR": f"{folder}/job", "ITEM_PIPELINES": {TantivyPipeline: 1}}
    else:
        settings |= {"FEEDS": {f"{folder}/pages.jsonl": {"format": "jsonlines"}}}
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(TunedSpider if which == "tuned" else PlainSpider)
    process.crawl(crawler, url)
    process.start()


if __name__ == "__main__":
    main()
