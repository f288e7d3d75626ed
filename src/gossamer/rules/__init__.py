"""Does this URL belong to the crawl, and is it the same page as another?"""
