"""The state of a crawl in figures, for everything that shows it.

That is `gossamer status` and `top`, the status page, the API and /metrics.

Each look is cheap. Most figures come from the manifest, the heartbeats of tasks and the free space
of disks; `busy_hosts.py` and `due_queue.py` read datasets, once per commit of these, which a
`Watch` remembers. None needs the engine, except `page_counts`.
"""
