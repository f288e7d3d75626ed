"""In which order does a crawl run its steps? Start with `rounds.py`, which shows the flow."""
