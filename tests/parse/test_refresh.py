"""Refreshes as Chromium follows them, and as WHATWG HTML's shared declarative refresh steps say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.refresh import refresh_target


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5; url=/t", "/t"),
        ("5;/t", "/t"),
        ("5,/t", "/t"),
        ("5 /t", "/t"),
        ("5 url=/t", "/t"),
        (" 5.5.5 ; URL = /t", "/t"),
        (".5;url=/t", "/t"),
        ("1;\turl\n=\n/t", "/t"),
        # commas and semicolons belong to the URL
        ("0;url=/a,b;c", "/a,b;c"),
        ("0,url=/a;b", "/a;b"),
        ("0 /a,b", "/a,b"),
        # quotes
        ("5; url='/t'", "/t"),
        ('0;url="/t"x', "/t"),
        ("0; '/t", "/t"),
        ("0;url='/a\"b'c", '/a"b'),
        # not followed by `=`, it is a URL
        ("0; url.html", "url.html"),
        ("0;urls/x", "urls/x"),
        ("0;u", "u"),
        # no URL, or no refresh
        ("5", None),
        ("5;", None),
        ("0;url=", None),
        ("", None),
        ("x; url=/t", None),
        ("; url=/t", None),
        ("-1;url=/t", None),
        ("0url=/t", None),
        ("0/t", None),
    ],
)
def test_refresh(content: str, target: str | None) -> None:
    assert refresh_target(content) == target


@given(st.text("0. ;,url='\"\n/", max_size=30))
def test_the_target_is_a_part_of_the_content(content: str) -> None:
    target = refresh_target(content)
    assert target is None or (target and target in content)
