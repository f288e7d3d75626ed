"""A deterministic web on loopback for the demo, tests and benchmarks to crawl.

The answer for each URL is a pure function of (seed, URL): nothing is stored, and a million hosts
cost nothing. The web also serves folders of real HTML as hosts, and logs every request with its
time, so that a crawl can be judged from the server's side.

    with FakeWeb(Web(seed=7, hosts=200)) as fake:
        crawl(fake.web.seeds(), connect_to=fake.address)
        assert_polite(fake.log())

From URL to bytes: `web.py` finds the host. A host is a folder (`folders.py`), a synthetic host
(`synthetic_hosts.py`) or a hostile host (`hostile/`), which sends what no honest server would.
`synthetic_pages.py` writes the pages of a synthetic host with `prose.py` and `link_makers.py`;
`special_urls.py` answers its other URLs. `http_server.py` speaks HTTP and `tls.py` HTTPS;
`connect_ports.py` opens a port for each host that misbehaves before a request is read.
`server_process.py` runs the web in its own process.
"""

from gossamer.fakeweb.folders import doc_folders
from gossamer.fakeweb.http_answer import Answer
from gossamer.fakeweb.http_server import Server, serve
from gossamer.fakeweb.link_mix import Mix
from gossamer.fakeweb.request_log import LogEntry, log_table, read_log
from gossamer.fakeweb.server_process import FakeWeb
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
