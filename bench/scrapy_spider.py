"""Scrapy's side of bench/searchable.py, in its own process: a typical spider.

It reads its task as JSON from the first argument (the `host` to crawl, the file `out` for the
items, `tuned`, and after how many pages to stop: `most`, 0 for never) and prints its counts and
times as JSON. Choices that favour Scrapy: no delay, no auto-throttle; links are followed but not
stored; links to other hosts are dropped; its clock starts when it is ready.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

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


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class TextSpider(scrapy.Spider):
    """Extracts title, text and links of every page it reaches."""

    name = "text"

    def __init__(self, task: dict[str, Any], done: dict[str, float]) -> None:
        super().__init__(start_urls=[f"http://{task['host']}/"])
        self.links = LinkExtractor(
            allow_domains=task["host"], process_value=without_fragment if task["tuned"] else None
        )
        self.done = done

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        crawler.signals.connect(spider.closed_, signals.spider_closed)
        return spider

    def opened(self) -> None:
        self.done |= {"pages": 0, "bytes": 0, "from_s": time.time(), "cpu_s": cpu_s()}

    def closed_(self) -> None:
        self.done |= {"to_s": time.time(), "cpu_s": cpu_s() - self.done["cpu_s"]}

    def parse(self, response: Any) -> Iterator[Any]:
        links = self.links.extract_links(response)
        self.done["pages"] += 1
        self.done["bytes"] += len(response.body)
        text = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        yield {
            "url": response.url,
            "title": response.xpath("//title/text()").get(),
            "text": " ".join(" ".join(text).split()),
        }
        for link in links:
            yield scrapy.Request(link.url)


def without_fragment(href: str) -> str | None:
    return href.partition("#")[0] or None


def main() -> None:
    task = json.loads(sys.argv[1])
    done: dict[str, float] = {}
    process = CrawlerProcess(
        FAST
        | {
            "ROBOTSTXT_OBEY": True,
            "CLOSESPIDER_PAGECOUNT": task["most"],
            "FEEDS": {task["out"]: {"format": "jsonlines"}},
        }
    )
    process.crawl(TextSpider, task=task, done=done)
    process.start()
    print(json.dumps(done))


if __name__ == "__main__":
    main()
