"""Where publishers say that a wish holds: a path, or a URL of the host itself."""

from __future__ import annotations

import pytest

from gossamer.web.own_locations import EVERYTHING, own_location

URL = "http://a.test"


@pytest.mark.parametrize(
    ("location", "paths"),
    [
        ("/x/y", "/x/y /x/yz"),
        (" /x/y ", "/x/y /x/yz"),
        ("x/y", "/x/y /x/yz"),
        ("*.pdf", "/x/b.pdf"),
        ("", "/ /x/y /x/yz /x/b.pdf /X"),
        (EVERYTHING, "/ /x/y /x/yz /x/b.pdf /X"),
        ("http://a.test/x/y", "/x/y /x/yz"),
        ("HTTPS://A.test:443/X", "/X"),
        ("//user@a.test:80/x/y", "/x/y /x/yz"),
        ("http://a.test", "/ /x/y /x/yz /x/b.pdf /X"),
        ("//*.a.test/X", "/X"),
        ("//*.test/X", "/X"),
        ("//*/X", "/X"),
        ("/x/http://b.test/", ""),
        ("//b.test/X", None),
        ("//a.test.b.test/X", None),
        ("//ba.test/X", None),
        ("//*.b.test/X", None),
        ("ftp://a.test/X", None),
        ("mailto:x", None),
    ],
)
def test_a_location_on_the_host_itself(location: str, paths: str | None) -> None:
    found = own_location(location, "a.test")
    every = ["/", "/x/y", "/x/yz", "/x/b.pdf", "/X"]
    matched = None if found is None else [path for path in every if not found.allow(URL + path)]
    assert matched == (None if paths is None else paths.split())


def test_a_port_is_a_part_of_the_host() -> None:
    assert own_location("http://a.test:81/x", "a.test:81") is not None
    assert own_location("http://a.test/x", "a.test:81") is None
