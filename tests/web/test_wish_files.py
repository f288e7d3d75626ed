"""tdmrep.json and RSL files: the standards' own examples, what authors write, and noise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.web import rsl, tdmrep
from gossamer.web.publisher_wishes import AI_INPUT, AI_TRAIN, BOTH_BY_AI, SEARCH, judge
from gossamer.web.rsl import parse_rsl
from gossamer.web.tdmrep import parse_tdmrep

HOST = "provider.com"
SITE = f"https://{HOST}"
FILE = f"{SITE}/license.xml"
RESERVED = dict.fromkeys(BOTH_BY_AI, False)
FREE = dict.fromkeys(BOTH_BY_AI, True)
POLICY = "https://provider.com/policies/policy.json"
GROUPS = [
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": POLICY},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
]
"""The second example of TDMRep's chapter on tdmrep.json."""


def tdm(found: Any, path: str, host: str = HOST) -> dict[str, bool]:
    body = found if isinstance(found, bytes) else json.dumps(found).encode()
    return judge(parse_tdmrep(body, host).statements(SITE + path))


@pytest.mark.parametrize(
    ("path", "uses"),
    [
        ("/directory-a/x.pdf", RESERVED),
        ("/directory-b/html/x", RESERVED),
        ("/directory-b/images/x.jpg", FREE),
        ("/directory-b/images/x.png", {}),
        ("/Directory-A/x.pdf", {}),
        ("/", {}),
    ],
)
def test_the_example_of_tdmrep(path: str, uses: dict[str, bool]) -> None:
    assert tdm(GROUPS, path) == uses
    assert tdm([{"location": "/", "tdm-reservation": 1}], path) == RESERVED


def test_a_policy_is_kept_as_evidence() -> None:
    found = parse_tdmrep(json.dumps(GROUPS).encode(), HOST)
    assert found.statements(f"{SITE}/directory-b/html/x") == [
        "tdmrep.json TDM-Reservation: 1",
        f"tdmrep.json TDM-Policy: {POLICY}",
    ]


@pytest.mark.parametrize(
    ("location", "path", "matches"),
    [
        ("/this/path/exactly$", "/this/path/exactly", True),
        ("/this/path/exactly$", "/this/path/exactly/not", False),
        ("/this/*/then", "/this/or/that/then", True),
        ("/path/foo-%24", "/path/foo-$", True),
        ("*", "/anything", True),
        ("", "/anything", True),
        ("directory", "/directory/x", True),
        ("https://provider.com/a/", "/a/x", True),
        ("//PROVIDER.com:443/a/", "/a/x", True),
        ("https://*.provider.com/a/", "/a/x", True),
        ("https://*/a/", "/a/x", True),
        ("https://provider.com", "/a/x", True),
        ("https://other.org/a/", "/a/x", False),
        ("https://notprovider.com/", "/a/x", False),
        ("https://*.not.provider.com/", "/a/x", False),
        ("https://provider.com:8080/", "/a/x", False),
        ("urn:x:y", "/urn:x:y", False),
    ],
)
def test_locations(location: str, path: str, matches: bool) -> None:
    uses = tdm([{"location": location, "tdm-reservation": 1}], path)
    assert uses == (RESERVED if matches else {})


def test_the_first_location_that_matches_decides() -> None:
    everything = {"location": "/", "tdm-reservation": 1}
    part = {"location": "/free/", "tdm-reservation": 0}
    assert tdm([part, everything], "/free/x") == FREE
    assert tdm([part, everything], "/x") == RESERVED
    assert tdm([everything, part], "/free/x") == RESERVED


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        (1, RESERVED),
        ("1", RESERVED),
        (" 1 ", RESERVED),
        (True, RESERVED),
        (1.0, RESERVED),
        (0, FREE),
        ("0", FREE),
        (False, FREE),
        *((wrong, {}) for wrong in (2, -1, 10, "", "yes", None, [1], {"1": 1})),
    ],
)
def test_values_of_reservations(value: object, uses: dict[str, bool]) -> None:
    assert tdm([{"location": "/", "tdm-reservation": value}], "/x") == uses


@pytest.mark.parametrize(
    "body",
    [
        b'{"location": "/", "tdm-reservation": 1}',
        b'[{"tdm-reservation": 1}]',
        b'[{"location": null, "tdm-reservation": 1}]',
        b'[{"location": "/", "tdm-reservation": 1},]',
        b'[{"location": "/", "tdm-reservation": 1 "tdm-policy": "x"}]',
        b"[{'location': '/', 'tdm-reservation': '1'}]",
        b'\xef\xbb\xbf[{"location": "/", "tdm-reservation": 1}]',
        '[{"location": "/", "tdm-reservation": 1}]'.encode("utf-16"),
        b'[{"location": "/", "tdm-reservation": 1}, {"location": "/a',
        b"[" * 100_000 + b'"tdm-reservation": 1',
        b'["x", 1, null, [], {"location": "/", "tdm-reservation": 1}]',
    ],
)
def test_what_authors_get_wrong_is_still_a_reservation(body: bytes) -> None:
    assert tdm(body, "/x") == RESERVED


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"1",
        b"null",
        b"\xff\xfe\x00",
        b"<html>Not found</html>",
        b"tdm-reservation",
        b'{"tdm-reservation": 10',
        b'[{"tdm-reservation": 0}]',
    ],
)
def test_other_files_say_nothing(body: bytes) -> None:
    assert not parse_tdmrep(body, HOST).rules


def test_a_reservation_after_many_rules_is_for_all_pages() -> None:
    many = [{"location": f"/{n}/", "tdm-reservation": 0} for n in range(tdmrep.MAX_RULES)]
    assert tdm(many, "/x") == {}
    assert tdm([*many, {"location": "/last/", "tdm-reservation": 1}], "/x") == RESERVED
    assert tdm([*many, {"location": "/last/", "tdm-reservation": 0}], "/last/") == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["location", "tdm-reservation", "tdm-policy", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON, st.binary(max_size=40), st.integers(0, 80), st.text("/ab*$%#?:.[]", max_size=12))
def test_any_tdmrep_can_be_read(found: object, noise: bytes, at: int, path: str) -> None:
    body = json.dumps(found).encode()
    for each in (body, body[:at] + noise + body[at:]):
        said = parse_tdmrep(each, HOST).statements(f"{SITE}/{path}")
        assert judge(said) in ({}, RESERVED, FREE)


def licence(inside: str, url: str = "/", attributes: str = "") -> str:
    return f'<content url="{url}"{attributes}><license>{inside}</license></content>'


def rsl_file(*contents: str) -> bytes:
    return f'<rsl xmlns="https://rslstandard.org/rsl">{"".join(contents)}</rsl>'.encode()


def terms(body: bytes, path: str = "/x") -> dict[str, bool] | None:
    """What is said about a page by an RSL file, beside the link to it; None: it is not read."""
    found = parse_rsl(body, HOST)
    if found is None:
        return None
    return judge([f"page License: {FILE}", found.statement(SITE + path, FILE)])


def uses(search: bool | None, ai_input: bool, ai_train: bool) -> dict[str, bool]:
    by_ai = {AI_INPUT: ai_input, AI_TRAIN: ai_train}
    return by_ai if search is None else {SEARCH: search} | by_ai


def usage(permits: str = "", prohibits: str = "") -> str:
    given = f'<permits type="usage">{permits}</permits>' if permits else ""
    return given + (f'<prohibits type="usage">{prohibits}</prohibits>' if prohibits else "")


SOLD = '<payment type="crawl"><amount currency="USD">0.015</amount></payment>'


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (usage("search", "ai-train") + SOLD, uses(None, False, False)),
        (usage("search", "ai-train"), uses(True, False, False)),
        (usage("ai-all") + SOLD, uses(None, False, False)),
        (usage("ai-all"), uses(None, True, True)),
        (usage("all"), uses(True, True, True)),
        (usage("search ai-input"), uses(True, True, False)),
        (usage("search, ai-input"), uses(True, True, False)),
        (usage("", "ai-all"), uses(True, False, False)),
        (usage("", "ai-train"), uses(True, True, False)),
        (usage("", "ai-index"), uses(True, False, True)),
        (usage("", "search"), uses(False, True, True)),
        (usage("", "all"), uses(False, False, False)),
        (usage("all", "ai-train"), uses(True, True, False)),
        (usage("ai-train", "ai-train"), uses(None, False, False)),
        (usage("", "train-ai train-genai"), uses(True, True, False)),
        ("<permits>search</permits>", uses(True, False, False)),
        ("", uses(True, True, True)),
        ('<payment type="free"/>' + usage("ai-input"), uses(None, True, False)),
        ('<payment type="attribution"/>' + usage("ai-input"), uses(None, False, False)),
        ("<payment/>" + usage("ai-input"), uses(None, False, False)),
        ('<permits type="user">education</permits>', uses(None, False, False)),
        ('<prohibits type="geo">fr</prohibits>', uses(None, False, False)),
        ("<reporting/>" + usage("all"), uses(None, False, False)),
        ('<legal type="contact">x</legal>' + usage("all"), uses(True, True, True)),
        (usage("something-new"), uses(None, False, False)),
    ],
)
def test_licences(inside: str, said: dict[str, bool]) -> None:
    assert terms(rsl_file(licence(inside))) == said


def test_licences_are_alternatives_and_prohibitions_add_up() -> None:
    both = f"<license>{usage('search ai-input')}</license><license>{usage('ai-train') + SOLD}"
    body = rsl_file(f'<content url="/">{both}</license></content>')
    assert terms(body) == uses(True, True, False)
    again = f"<license>{usage('', 'ai-input')}</license><license>{usage('all')}</license>"
    assert terms(rsl_file(f'<content url="/">{again}</content>')) == uses(True, False, True)


def test_the_most_specific_content_grants_and_all_prohibit() -> None:
    site = licence(usage("search", "ai-train"))
    part = licence(usage("all"), "/free/")
    for body in (rsl_file(site, part), rsl_file(part, site)):
        assert terms(body, "/free/x") == uses(True, True, False)
        assert terms(body, "/x") == uses(True, False, False)
    alike = rsl_file(licence(usage("ai-input"), "/a*"), licence(usage("ai-train"), "/ab"))
    assert terms(alike, "/abc") == uses(None, False, False)


def test_a_licence_server_is_a_condition() -> None:
    server = ' server="https://api.example.org"'
    body = rsl_file(licence(usage("all"), "/", server), licence(usage("all"), "/free/"))
    assert terms(body) == uses(None, False, False)
    assert terms(body, "/free/x") == uses(None, False, False)


def test_a_file_speaks_only_of_its_own_host() -> None:
    other = licence(usage("", "all"), "https://other.org/")
    assert terms(rsl_file(other)) is None
    own = licence(usage("all"), f"{SITE}/a/")
    assert terms(rsl_file(other, own), "/a/x") == uses(True, True, True)
    assert terms(rsl_file(other, own), "/b/x") == {}


def test_a_content_without_a_url_grants_nothing() -> None:
    nowhere = f"<content><license>{usage('all', 'search')}</license></content>"
    assert terms(rsl_file(nowhere)) == uses(False, False, False)
    assert terms(rsl_file("<content url='/'/>")) == uses(None, False, False)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<rsl/>",
        b"<rsl><content url='/'>",
        b"<html><body>Not found</body></html>",
        b"<rss><channel/></rss>",
        b"<feed><content url='/'><license/></content></feed>",
        b"<!DOCTYPE rsl [<!ENTITY a 'b'>]><rsl><content url='/'><license/></content></rsl>",
        b"<!DOCTYPE rsl SYSTEM 'http://x.test/x.dtd'><rsl><content url='/'/></rsl>",
        b"<rsl><content url='/'><license>&x;</license></content></rsl>",
        b"<?xml version='1.0' encoding='x'?><rsl><content url='/'/></rsl>",
        b"<?xml version='1.0' encoding='shift_jis'?><rsl><content url='/'/></rsl>",
        b"<rsl>" + b"<content>" * (rsl.MAX_DEPTH + 1) + b"</content>" * 33 + b"</rsl>",
        b"<rsl>" + b"<content url='/'/>" * (rsl.MAX_CONTENTS + 1) + b"</rsl>",
        b"<rsl><content url='/'>" + b"<a/>" * rsl.MAX_ELEMENTS + b"</content></rsl>",
        b"{}",
        b"\xff\xfe\x00",
    ],
)
def test_what_is_not_read_stays_a_reservation(body: bytes) -> None:
    assert terms(body) is None


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_prefixes_and_case(coding: str) -> None:
    text = (
        f"<?xml version='1.0' encoding='{coding}'?><!-- é -->"
        "<r:RSL xmlns:r='https://rslstandard.org/rsl'><r:Content URL='/'><r:license>"
        "<r:permits type=' Usage '> AI-Input\n</r:permits></r:license></r:Content></r:RSL>"
    )
    assert terms(text.encode(coding)) == uses(None, True, False)


PIECES = st.sampled_from(
    [
        "<content url='/'>",
        "<content url='https://other.org/'>",
        "</content>",
        "<license>",
        "</license>",
        *(usage("all"), usage("", "ai-train"), SOLD, "<payment type='free'/>"),
        *("<![CDATA[all]]>", "&amp;", "&#0;", "<!-- x -->", "<", "]]>", "é", "<?x y?>"),
    ]
)


@given(st.lists(PIECES, max_size=12), st.binary(max_size=8), st.integers(0, 200))
def test_any_rsl_can_be_read(pieces: list[str], noise: bytes, at: int) -> None:
    body = rsl_file(*pieces)
    for each in (body, body[:at] + noise + body[at:]):
        said = terms(each, "/a?b")
        assert said is None or said == {} or set(said) >= set(BOTH_BY_AI)


def test_the_link_to_another_file_is_still_a_reservation() -> None:
    found = parse_rsl(rsl_file(licence(usage("all"))), HOST)
    assert found is not None
    line = found.statement(f"{SITE}/x", FILE)
    assert line == f"robots.txt RSL: search=yes, ai-input=yes, ai-train=yes; {FILE}"
    assert judge([line, f"header License: {FILE}"]) == uses(True, True, True)
    assert judge([line, "page License: https://provider.com/other.xml"]) == uses(True, False, False)


def test_a_url_in_a_statement_says_nothing() -> None:
    found = parse_rsl(rsl_file(licence(usage("all"))), HOST)
    assert found is not None
    for url in (f"{FILE}?ai-train=no", f"{FILE}?{'x' * 400}"):
        assert judge([found.statement(f"{SITE}/x", url)]) == uses(True, True, True)
