"""How do programs use a crawl? `from gossamer import Crawl`."""
