"""Which files are the crawl, and how are they opened?"""
