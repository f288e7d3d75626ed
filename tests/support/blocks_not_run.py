"""What tests/docs/test_commands_run.py does not run, and why."""

from __future__ import annotations

_MAKE = "make itself: the targets are what CI runs"
_OUTPUT = "output, and no command"
_CONTAINERS = "needs containers: tests/deploy/"
_ROOT = "changes the system, as root: tests/deploy/"
_RULES = "filter rules: tests/rules/"
_HTTP = "a request to the server: tests/serve/"

BLOCKS = {
    "README.md: make demo          # crawl a small web on this ma": _MAKE,
    "README.md: A web of 150 hosts, 40 manuals of this machine, a": _OUTPUT,
    "CONTRIBUTING.md: make setup     # create .venv with gossamer": _MAKE,
    "CONTRIBUTING.md: make wheels-test     # install each wheel i": _MAKE,
    "docs/choosing.md: allow  prefix    https://example.org/tags/": _RULES,
    "docs/choosing.md: allow type text/html": _RULES,
    "docs/choosing.md: $ gossamer filter generate my-web": _OUTPUT,
    "docs/deployment.md: podman build --format docker -t gossamer": _CONTAINERS,
    "docs/deployment.md: cd deploy/compose": _CONTAINERS,
    "docs/deployment.md: deploy/certificates.sh made nodes.gossam": _CONTAINERS,
    "docs/deployment.md: # /etc/gossamer/my-web.env, of mode 600": "a file of settings",
    "docs/deployment.md: cp deploy/gossamer-node@.service /etc/sy": _ROOT,
    "docs/deployment.md: deploy/certificates.sh made node-1.examp": _ROOT,
    "docs/formats.md: my-web/": "a list of files",
    'docs/formats.md: org,example)/a?b=1 20261121191109 {"url":"h': _OUTPUT,
    "docs/formats.md: cd my-web": "needs pywb",
    "docs/operating.md: useradd --system gossamer": _ROOT,
    "docs/searching.md: pip install 'gossamer[semantic]'": "installs from the registry",
    "docs/operating.md: openssl req -x509 -newkey ed25519 -noenc": "certificates of nodes",
    "docs/operating.md: GOSSAMER_EGRESS=eu GOSSAMER_EGRESS_ADDRES": "needs Spark",
    "docs/parsing.md: parsed A page en": _OUTPUT,
    "docs/searching.md: GET /api/v1/search?q=WORDS&offset=0&limit": _HTTP,
    "docs/searching.md: GET /api/v1/diff?url=URL&from=TIME&to=TIM": _HTTP,
    "docs/searching.md: GET /api/v1/document?url=URL&format=json": _HTTP,
    "docs/searching.md: GET /api/v1/changes?since=CURSOR&count=10": _HTTP,
    "docs/searching.md: GET /api/v1/page?url=URL&offset=0&limit=5": _HTTP,
    "docs/searching.md: GET /api/v1/graph/outlinks?url=URL&offset": _HTTP,
    "docs/following.md: http://127.0.0.1:8080/feed.atom?q=event+l": _HTTP,
    "docs/tour.md: make demo": _MAKE,
    "docs/searching.md: GET /api/v1/sections/domains?q=TEXT&offse": _HTTP,
}
"""By page and the beginning of the first line: 60 characters of both."""

_ENDLESS = "has no end of its own"
_LOOPBACK = "has no crawl whose settings allow a server on loopback"

COMMANDS = {
    r"^gossamer (demo|serve|node|top|fakeweb)\b": _ENDLESS,
    r" --forever": _ENDLESS,
    r"^gossamer inspect https://(?!.* --crawl)": _LOOPBACK,
    r"s3://": "needs an object store",
    r"^gossamer graph import ": "needs a graph of that name",
    r"^gossamer duplicates disable ": "needs a rule of that name",
    r"^gossamer embed ": "needs a model: tests/semantic/",
    r"^gossamer follow (?!.* --new-secret)": "posts to a server: tests/serve/test_follow.py",
    r"^gossamer mcp (?!.* --new-token)": "talks to a client: tests/serve/test_mcp.py",
}
"""By a pattern of them."""
