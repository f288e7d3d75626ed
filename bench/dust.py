"""Which duplicate fetches do learned rules for URLs avoid, and do they lose any page?

    python bench/dust.py [--pages 800] [--per-round 500] [--rounds 40] [--seed 7]

Crawls the sites of `gossamer.fakeweb.dust` to their end, once with `url_rules.learn = false` and
once with rules, at most --per-round pages of each host in a round. --seed determines their texts
and links. For each site it prints

  pages          different contents
  without, with  fetches from the third round on that brought no new content, redirects included
  avoided        the share of these that rules avoided
  lost           contents that the crawl without rules has, and the one with rules has not
  rules          active rules, and those that were contradicted
  rounds         all fetches of each round, with rules, that brought no new content

and then each active rule with its evidence.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.fakeweb.dust import SITES

if TYPE_CHECKING:
    from collections.abc import Sequence

FROM_ROUND = 3
SETTINGS = """
[fetch]
delay_s = 0
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
resolve = {{ "*.test" = "{address}" }}
[generate]
pages = 100_000
pages_per_host = {per_round}
[filter]
scope = "any"
[url_rules]
learn = {learn}
"""


class Run(NamedTuple):
    """What a crawl has fetched, by site."""

    contents: dict[str, set[str]]
    duplicates: Counter[tuple[str, int]]
    """Fetches without new content, by site and round."""
    rounds: int
    cpu_s: float


def crawled(crawl: Crawl, web: Web, rounds: int) -> Run:
    """Crawl to the end, or up to a number of rounds."""
    assert web.dust is not None
    crawl.inject(web.seeds())
    begun_s = time.process_time()
    crawl.run(rounds)
    cpu_s = time.process_time() - begun_s
    rows = crawl.dataset("responses").select("round", "url", "outcome").collect()
    contents: dict[str, set[str]] = {name: set() for name in SITES}
    duplicates: Counter[tuple[str, int]] = Counter()
    for round_, url, outcome in sorted(rows):
        site, content = web.dust.site(url), web.dust.content(url)
        if outcome == "ok" and content is not None and content not in contents[site]:
            contents[site].add(content)
        else:
            duplicates[site, round_] += 1
    return Run(contents, duplicates, max(round_ for round_, _, _ in rows), cpu_s)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--per-round", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7, help="of the texts and links of the sites")
    options = parser.parse_args(arguments)
    web = Web(options.seed, hosts=0, dust_pages=options.pages)
    runs: dict[bool, Run] = {}
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="dust-") as folder:
        for learn in (False, True):
            settings = SETTINGS.format(
                address=fake.address, per_round=options.per_round, learn=str(learn).lower()
            )
            with Crawl.create(str(Path(folder, str(learn))), settings) as crawl:
                runs[learn] = crawled(crawl, web, options.rounds)
                rules = crawl.url_rules() if learn else []
    without, with_rules = runs[False], runs[True]
    print(f"{without.rounds} rounds without rules, {with_rules.rounds} with rules")
    print(
        f"{'site':10}{'pages':>7}{'without':>9}{'with':>7}{'avoided':>9}{'lost':>6}  rules, rounds"
    )
    of_all = [0, 0]
    for name in SITES:
        before, after = (
            sum(run.duplicates[name, each] for each in range(FROM_ROUND, run.rounds + 1))
            for run in (without, with_rules)
        )
        of_all = [of_all[0] + before, of_all[1] + after]
        lost = without.contents[name] - with_rules.contents[name]
        of_site = [rule for rule in rules if web.dust.site(f"http://{rule.host}/") == name]
        states = Counter(rule.state for rule in of_site)
        by_round = [with_rules.duplicates[name, each + 1] for each in range(with_rules.rounds)]
        avoided = 1 - after / max(before, 1)
        print(
            f"{name:10}{len(without.contents[name]):7}{before:9}{after:7}{avoided:9.1%}"
            f"{len(lost):6}  {states['active']} active, {states['contradicted']} contradicted, "
            + " ".join(map(str, by_round))
        )
        for content in sorted(lost)[:3]:
            print(f"          lost: {content}")
    print(f"all: {1 - of_all[1] / of_all[0]:.1%} of {of_all[0]} duplicate fetches avoided")
    for rule in rules:
        if rule.state == "active":
            print(
                f"\n{rule.title}: {rule.supports} agree, {rule.rewritten} URLs rewritten, "
                f"{rule.sampled} sampled\n  {rule.examples[0]}\n  {rule.examples[1]}"
            )


if __name__ == "__main__":
    main()
