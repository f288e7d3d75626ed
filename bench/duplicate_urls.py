"""Which fetches of several URLs of a page do learned rules avoid, and do they lose any page?

    python bench/duplicate_urls.py [--pages 800] [--per-round 500] [--rounds 40] [--seed 7]

Crawls the sites of `gossamer.fakeweb.dust_sites` to their end, once with `url_rules.learn = false`
and once with rules, at most PER_ROUND pages of each host in a round. SEED determines their texts
and links. For each site it prints

  pages          different contents
  without, with  fetches from the third round on that brought no new content, redirects included
  avoided        the share of these that rules avoided
  lost           contents that the crawl without rules has, and the one with rules has not
  rules          active rules, and those that were contradicted

The last sites are attacks: a parameter that changes nothing in ten folders matters in another one,
which the crawl finds when it has learned its rules.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from harness import Options, local_settings, report

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.fakeweb.dust_sites import SITES

FROM_ROUND = 3


class Run(NamedTuple):
    """What a crawl has fetched, by site."""

    contents: dict[str, set[str]]
    duplicates: Counter[tuple[str, bool]]
    """Fetches without new content, by site, and whether they were from FROM_ROUND on."""
    rules: Counter[tuple[str, str]]
    """Learned rules, by site and state."""


def crawl_sites(crawl: Crawl, web: Web, rounds: int) -> Run:
    """Crawl to the end, or up to a number of rounds."""
    assert web.dust is not None
    crawl.inject(web.seeds())
    crawl.run(rounds)
    rows = crawl.dataset("responses").select("round", "url", "outcome").collect()
    contents: dict[str, set[str]] = {name: set() for name in SITES}
    duplicates: Counter[tuple[str, bool]] = Counter()
    for round_, url, outcome in sorted(rows):
        site, content = web.dust.site(url), web.dust.content(url)
        if outcome == "ok" and content is not None and content not in contents[site]:
            contents[site].add(content)
        else:
            duplicates[site, round_ >= FROM_ROUND] += 1
    rules = Counter((web.dust.site(f"http://{r.host}/"), r.state) for r in crawl.url_rules())
    return Run(contents, duplicates, rules)


def main() -> None:
    options = Options(
        __doc__, pages=(800, 10), per_round=(500, 90), rounds=(40, 2), seed=(7, 7)
    ).read()
    web = Web(options.seed, hosts=0, dust_pages=options.pages)
    runs = []
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="duplicate-urls-") as folder:
        for learn in (False, True):
            settings = local_settings(
                fake.address,
                {
                    "generate.pages": 100_000,
                    "generate.pages_per_host": options.per_round,
                    "url_rules.learn": learn,
                },
            )
            with Crawl.create(str(Path(folder, str(learn))), settings) as crawl:
                runs.append(crawl_sites(crawl, web, options.rounds))
    without, with_rules = runs
    print(f"{'site':10}{'pages':>7}{'without':>9}{'with':>7}{'avoided':>9}{'lost':>6}  rules")
    sums = [0, 0, 0]
    for name in SITES:
        before, after = (run.duplicates[name, True] for run in runs)
        lost = without.contents[name] - with_rules.contents[name]
        sums = [a + b for a, b in zip(sums, (before, after, len(lost)), strict=True)]
        states = [
            f"{with_rules.rules[name, state]} {state}" for state in ("active", "contradicted")
        ]
        print(
            f"{name:10}{len(without.contents[name]):7}{before:9}{after:7}"
            f"{1 - after / max(before, 1):9.1%}{len(lost):6}  {', '.join(states)}"
        )
        for content in sorted(lost)[:3]:
            print(f"          lost: {content}")
    avoided = 1 - sums[1] / max(sums[0], 1)
    report(f"{avoided:.1%} of {sums[0]:,} fetches avoided, {sums[2]} pages lost")


if __name__ == "__main__":
    main()
