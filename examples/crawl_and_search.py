"""Crawl a small web that runs on this machine, and search it.

To crawl the real web, omit FakeWeb and these settings, and set your contact address instead:
settings='fetch.contact = "you@example.org"'.
"""

import tempfile

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web

SETTINGS = """
filter.scope = "any"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.host_overrides = {{ "*.test" = "{address}" }}
"""

with (
    tempfile.TemporaryDirectory() as folder,
    FakeWeb(Web(hosts=1, pages_per_host=10)) as fake,
    Crawl.create(folder, SETTINGS.format(address=fake.address)) as crawl,
):
    crawl.inject(fake.web.seeds())
    for step in crawl.run(rounds=3):
        print(step.round, step.step, dict(sorted(step.counts.items())))

    title = fake.web.title("site-0.test", 5)
    found = crawl.search(title, limit=3)
    print(f"\n{found.total} pages for {title!r}")
    for hit in found.hits:
        print(hit.title, hit.url)
