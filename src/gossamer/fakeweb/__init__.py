"""A deterministic web on loopback, for demo, tests and benchmarks to crawl.

What every URL answers is a pure function of (seed, URL): nothing is stored, and a million hosts
cost nothing. It also serves folders of real HTML as hosts, and logs every request with its time,
so that a crawl is judged from the server's side.

    with FakeWeb(Web(seed=7, hosts=200)) as fake:
        crawl(fake.web.seeds(), connect_to=fake.address)
        assert_polite(fake.log())

From URL to bytes: `web.py` finds the kind of host; a folder (`folders.py`), or a synthetic host
(`hosts.py`), whose pages `pages.py` writes out of `text.py` and `links.py`, and whose other
URLs `odd.py` answers; or a hostile one (`hostile/`), which says what no honest server would.
`server.py` speaks HTTP, `tls.py` HTTPS, `doors.py` opens ports for what happens before a request,
`process.py` runs it in a process of its own.
"""

from gossamer.fakeweb.answer import Answer
from gossamer.fakeweb.folders import doc_folders
from gossamer.fakeweb.log import LogEntry, log_table, read_log
from gossamer.fakeweb.mix import Mix
from gossamer.fakeweb.process import FakeWeb
from gossamer.fakeweb.server import Server, serve
from gossamer.fakeweb.web import Web

__all__ = [
    "Answer",
    "FakeWeb",
    "LogEntry",
    "Mix",
    "Server",
    "Web",
    "doc_folders",
    "log_table",
    "read_log",
    "serve",
]
