"""What does robots.txt cost, beside protego? CPU µs, the best of three.

    python bench/robots.py

Every parsed file is different, so that the cache of parsed files does not help.
"""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

from protego import Protego

from gossamer import robots

if TYPE_CHECKING:
    from collections.abc import Callable

AGENT = "gossamer"
HOME = "http://a.test/"
URL = "http://a.test/section12/some/other/page.html?q=1&b=c"
MANY = 20_000
NEW = count()
COMMON = [*(f"/section{n}/private/" for n in range(50)), "/*?sort=", "/*.pdf$", "/cgi-bin/"]
FILES = {
    f"{len(COMMON)} rules": (COMMON, 20),
    f"{MANY:,} prefixes": ([f"/section{n:06}/" for n in range(MANY)], 1),
    f"{MANY:,} wildcards": ([f"/*s{n}*x{n}$" for n in range(MANY)], 1),
}


def best_us(run: Callable[[], object], times: int) -> float:
    laps = []
    for _ in range(3):
        started_s = time.process_time()
        for _ in range(times):
            run()
        laps.append((time.process_time() - started_s) / times * 1e6)
    return min(laps)


def ours(body: bytes) -> robots.Robots:
    read = robots.parse(body + b"# %d" % next(NEW))
    read.allows(AGENT, HOME)
    return read


def theirs(text: str) -> Protego:
    read = Protego.parse(text)
    read.can_fetch(HOME, AGENT)
    return read


def main() -> None:
    print(f"{'µs':<18}{'parse':>12}{'protego':>12}{'allows':>12}{'protego':>12}")
    for name, (patterns, times) in FILES.items():
        text = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
        body, asked = text.encode(), 20 * times
        mine, other = ours(body), theirs(text)
        row = (
            best_us(lambda body=body: ours(body), times),
            best_us(lambda text=text: theirs(text), times),
            best_us(lambda mine=mine: mine.allows(AGENT, URL), asked),
            best_us(lambda other=other: other.can_fetch(URL, AGENT), asked),
        )
        print(f"{name:<18}" + "".join(f"{us:12,.1f}" for us in row))


if __name__ == "__main__":
    main()
