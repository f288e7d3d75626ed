"""What do filter rules cost per URL, with ten and with 100,000 of them?

    python bench/filter_rules.py

Rules are of all kinds for URLs: of each ten, five prefixes (three of one host, nested folders among
them), two domains, two suffixes and one pattern; the same share of URLs matches a rule. Times are
CPU µs per URL, the best of seven laps in turn, without the cache of `Filters`. Beside it, in the
same run: the rules one after the other, as Nutch's urlfilter-regex does with java.util.regex, here
with `re`, on as many URLs as fit into two seconds. The last columns: CPU ms to check the lines, as
the driver does once, and to make the index, as each process does once; and the memory that the
latter adds. At last: how many patterns of hosts RE2 holds.
"""

from __future__ import annotations

import os
import random
import re
import resource
import time
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import ConfigError
from gossamer.filter_rules.index import RuleIndex
from gossamer.filter_rules.language import parse_all
from gossamer.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.filter_rules.language import Rule

COUNTS = (10, 1_000, 100_000)
URLS = 20_000
LAPS = 7
SEQUENTIAL_S = 2.0
"""CPU seconds for the peer."""
MATCHING = 0.2
"""Share of URLs that a rule matches."""


def word(draw: random.Random) -> str:
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=8))


def lines(count: int, draw: random.Random) -> list[str]:
    made = []
    for n in range(count):
        name = f"{word(draw)}{n}"
        made.append(
            (
                f"deny prefix https://big.example/{name}/",
                f"deny prefix https://big.example/{name[:2]}/{name}/",
                f"deny prefix https://big.example/{name[:2]}/{name}/old/",
                f"deny prefix https://{name}.example/tags/",
                f"deny prefix https://www.{name}.example/",
                f"deny domain {name}.example",
                f"deny domain www.{name}.co.uk",
                f"deny suffix .{name}",
                f"deny suffix /{name}.html",
                rf"deny pattern [?&]{name}=\d+",
            )[n % 10]
        )
    return made


def urls(rules: Sequence[Rule], draw: random.Random) -> list[str]:
    """URLs of 200 hosts and of one large host, some of which the rules match."""
    made = []
    for n in range(URLS):
        host = f"www.host{draw.randrange(200)}.example" if n % 2 else "big.example"
        path = f"{word(draw)[:2]}/{word(draw)}/page{n}.html"
        url = f"https://{host}/{path}?id={n}&view=full"
        rule = draw.choice(rules)
        if draw.random() < MATCHING:
            match rule.kind:
                case "prefix":
                    url = f"{rule.value}{path}"
                case "domain":
                    url = f"https://a.{rule.value}/{path}"
                case "suffix":
                    url = f"https://{host}/{word(draw)}{rule.value}?id={n}"
                case _:
                    url += "&" + rule.value.removeprefix("[?&]").removesuffix(r"\d+") + "7"
        made.append(url)
    return made


def sequential(rules: Sequence[Rule]) -> Callable[[str], int]:
    """The rules as regular expressions, one after the other."""
    forms = {
        "prefix": lambda value: "^" + re.escape(value),
        "domain": lambda value: r"^https?://([^/]*\.)?" + re.escape(value) + "[:/]",
        "suffix": lambda value: r"^https?://[^/]*[^?]*" + re.escape(value) + r"(\?|$)",
        "pattern": lambda value: value,
    }
    compiled = [re.compile(forms[rule.kind](rule.value)) for rule in rules]

    def first(url: str) -> int:
        return next((n for n, each in enumerate(compiled) if each.search(url)), 1 << 62)

    return first


def us_each(find: Callable[[str], int], asked: Sequence[str], limit_s: float = 1e9) -> float:
    done, began_s = 0, time.process_time()
    for url in asked:
        find(url)
        done += 1
        if not done % 16 and time.process_time() - began_s > limit_s:
            break
    return (time.process_time() - began_s) / done * 1e6


class Measured(NamedTuple):
    count: int
    asked: list[str]
    find: Callable[[str], int]
    peer: Callable[[str], int]
    parsed_ms: float
    made_ms: float
    more_mb: float


def measured(count: int) -> Measured:
    draw = random.Random(1)  # noqa: S311
    given = lines(count, draw)
    began_s = time.process_time()
    rules = [placed.rule for placed in parse_all((line, "bench") for line in given)]
    parsed_s = time.process_time() - began_s
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began_s = time.process_time()
    index = RuleIndex(rules)
    made_s = time.process_time() - began_s
    asked = urls(rules, draw)
    us_each(index.first, asked)  # RE2 builds its automaton while it searches
    more_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb) / 1024
    peer = sequential(rules)
    assert all(index.first(url) == peer(url) for url in asked[:20])
    return Measured(count, asked, index.first, peer, parsed_s * 1e3, made_s * 1e3, more_mb)


def most_patterns() -> int:
    """The largest multiple of ten thousand, up to 100,000, that does not exceed RE2's memory."""
    draw = random.Random(2)  # noqa: S311
    hosts = [rf"^https?://([^/]*\.)?{word(draw)}{n}\.example/" for n in range(100_000)]
    for count in range(10_000, len(hosts) + 1, 10_000):
        try:
            Patterns("bench", hosts[:count])
        except ConfigError:
            return count - 10_000
    return len(hosts)


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    print(
        f"{'rules':>8}{'µs/URL':>9}{'of ten':>8}{'re, in order':>14}{'ratio':>9}"
        f"{'parse ms':>10}{'index ms':>10}{'MB':>6}"
    )
    made = [measured(count) for count in COUNTS]
    laps = [[us_each(each.find, each.asked) for each in made] for _ in range(LAPS)]
    for each, ours in zip(made, map(min, *laps), strict=True):
        theirs = us_each(each.peer, each.asked, SEQUENTIAL_S)
        ratio = ours / min(lap[0] for lap in laps)
        print(
            f"{each.count:>8,}{ours:>9.2f}{ratio:>8.2f}{theirs:>14,.1f}{theirs / ours:>9,.0f}"
            f"{each.parsed_ms:>10,.0f}{each.made_ms:>10,.0f}{each.more_mb:>6,.0f}"
        )
    print(f"patterns of hosts that fit: {most_patterns():,}")


if __name__ == "__main__":
    main()
