"""nginx and Caddy of Debian, as people put them before a search server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.machine_needs import lacking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 30
NGINX = """
daemon off;
user root;
pid {folder}/pid;
error_log {folder}/log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  gzip on;
  gzip_proxied any;
  gzip_types *;
  server {{
    listen 127.0.0.1:{port};
    {rules}
  }}
}}
"""
LOCATION = """
location {path}/ {{
  proxy_pass {upstream};
  proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Prefix "{reported}";
}}
"""
CADDY = """
{{
  admin off
  auto_https off
  storage file_system {folder}
}}
http://:{port} {{
  bind 127.0.0.1
  encode gzip
  {rules}
}}
"""
HANDLE = """
{handle} {path}/* {{
  reverse_proxy {upstream} {{
    header_up X-Forwarded-Prefix "{reported}"
  }}
}}
"""


@contextmanager
def nginx(folder: Path, upstream: str, path: str, *, removes: bool) -> Iterator[str]:
    """Run nginx before `upstream`, a URL or a socket; yields its own URL.

    It shows the server below `path`. If it `removes` the path, it reports that.
    """
    is_socket = upstream.startswith("/")
    target = f"http://unix:{upstream}" if is_socket else upstream
    if removes:
        target += ":/" if is_socket else "/"
    reported = path if removes else ""
    rules = LOCATION.format(path=path, upstream=target, reported=reported)
    with running("nginx", folder, rules) as url:
        yield url


@contextmanager
def caddy(folder: Path, upstream: str, path: str, *, removes: bool) -> Iterator[str]:
    """Run Caddy like `nginx`."""
    target = f"unix/{upstream}" if upstream.startswith("/") else upstream
    handle, reported = ("handle_path", path) if removes else ("handle", "")
    rules = HANDLE.format(handle=handle, path=path, upstream=target, reported=reported)
    with running("caddy", folder, rules) as url:
        yield url


@contextmanager
def running(program: str, folder: Path, rules: str) -> Iterator[str]:
    """Run nginx or Caddy with the rules of one site; yields its URL."""
    if shutil.which(program) is None:
        lacking(f"this needs {program}: apt-get install nginx-light caddy")
    folder.mkdir()
    port = _free_port()
    file = folder / "settings"
    text = {"nginx": NGINX, "caddy": CADDY}[program]
    file.write_text(text.format(folder=folder, port=port, rules=rules))
    words = {
        "nginx": ["nginx", "-p", str(folder), "-e", str(folder / "log"), "-c", str(file)],
        "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)],
    }[program]
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with (
        (folder / "output").open("wb") as output,
        subprocess.Popen(words, stdout=output, stderr=output, env=environment) as process,
    ):
        try:
            _wait(port, process, folder / "output")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes], output: Path) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            continue
        return
    raise AssertionError(f"the proxy did not start: {output.read_text()[-2000:]}")
