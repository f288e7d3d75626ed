"""Serve the documentation site, and the search that its box asks (`make site-search`).

The site is crawled as any site of one's own: this is docs/howto/site_search.md, as a script.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PORT = 8000


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> int:
    site, crawl = sys.argv[1:]
    gossamer = [sys.executable, "-m", "gossamer"]
    with ThreadingHTTPServer(("127.0.0.1", PORT), partial(_Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{PORT}/"
        subprocess.run([*gossamer, "crawl", crawl, address, "--own", "--refresh"], check=True)
        print(f"\nThe site is at {address}, and its search at")
        try:
            return subprocess.run([*gossamer, "serve", crawl], check=False).returncode
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main())
