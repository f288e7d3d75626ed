"""What does the crawl know now? The open crawl, its newest rows, and signs of life."""
