"""What follows from the head of an answer, without a server."""

from __future__ import annotations

import pytest

from gossamer.config import FetchConfig
from gossamer.fetch import fetch_loop
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.http import fetcher
from gossamer.fetch.http.site_settings import NO_SITE
from gossamer.state.credible_times import LONGEST_HOST_WAIT_S
from gossamer.web.urls import UrlRules

URL = "http://a.test/x/y"
PLAIN = Request(URL, 100)
KNOWN = PLAIN._replace(etag='"1"')


def classified(
    status: int | None, request: Request = PLAIN, **headers: str
) -> tuple[str, str | None]:
    answer = FetchResult("broken", 0, http_status=status)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    fetcher._classify(request, named, answer, UrlRules())
    return answer.outcome, answer.detail


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (100, "broken"),
        (199, "broken"),
        (200, "ok"),
        (299, "ok"),
        (300, "ok"),
        (399, "ok"),
        (400, "refused"),
        (404, "not_found"),
        (410, "not_found"),
        (429, "busy"),
        (499, "refused"),
        (500, "server_error"),
        (503, "busy"),
        (600, "server_error"),
        (99, "server_error"),
        (None, "server_error"),
    ],
)
def test_outcomes_by_status(status: int | None, outcome: str) -> None:
    assert classified(status) == (outcome, None if outcome == "ok" else f"HTTP {status or 0}")


@pytest.mark.parametrize("request_", [KNOWN, PLAIN._replace(last_modified="now")])
def test_a_page_may_be_unchanged(request_: Request) -> None:
    assert classified(304, request_) == ("unchanged", None)
    assert classified(304) == ("broken", "HTTP 304 to an unconditional request")
    assert classified(304, PLAIN, Location="/z")[0] == "broken"


@pytest.mark.parametrize(
    ("location", "url", "spelling"),
    [
        ("/z", "http://a.test/z", None),
        ("z?", "http://a.test/x/z", "http://a.test/x/z?"),
        ("https://b.test", "https://b.test/", None),
    ],
)
def test_where_a_redirect_leads(location: str, url: str, spelling: str | None) -> None:
    answer = FetchResult("broken", 0, http_status=302)
    fetcher._classify(PLAIN, {"Location": location}, answer, UrlRules())
    assert (answer.outcome, answer.redirect_url, answer.redirect_spelling) == (
        *("redirect", url, spelling),
    )
    assert answer.detail == "HTTP 302"


def test_a_redirect_that_leads_nowhere() -> None:
    assert classified(301, Location="mailto:x") == ("bad_redirect", "HTTP 301 to mailto:x")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": "soon"}, None),
        ({}, None),
        (
            {
                "Retry_After": "Mon, 12 Jan 1970 13:46:50 GMT",
                "Date": "Mon, 12 Jan 1970 13:46:40 GMT",
            },
            10,
        ),
    ],
)
def test_a_busy_server_names_a_time(headers: dict[str, str], seconds: int | None) -> None:
    answer = FetchResult("broken", 0, http_status=503)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    fetcher._classify(PLAIN, named, answer, UrlRules())
    assert answer.retry_after_s == seconds
    refused = FetchResult("broken", 0, http_status=403)
    fetcher._classify(PLAIN, named, refused, UrlRules())
    assert refused.retry_after_s is None


def test_headers_of_a_request() -> None:
    site = NO_SITE._replace(headers={"Accept-Language": "fi"})
    assert fetcher._headers(PLAIN, NO_SITE) is None
    assert fetcher._headers(PLAIN, site) == {"Accept-Language": "fi"}
    assert fetcher._headers(KNOWN, site) == {"Accept-Language": "fi", "If-None-Match": '"1"'}
    assert site.headers == {"Accept-Language": "fi"}
    dated = PLAIN._replace(last_modified="now")
    assert fetcher._headers(dated, NO_SITE) == {"If-Modified-Since": "now"}


def test_our_name() -> None:
    named = FetchConfig(agent="spider", contact="mail@a.test")
    assert fetcher.user_agent(named).startswith("spider/")
    assert fetcher.user_agent(named).endswith(" (+mail@a.test)")
    assert " " not in fetcher.user_agent(FetchConfig(agent="spider"))


@pytest.mark.parametrize(
    ("value", "sent", "seconds"),
    [
        (None, None, None),
        (" 7 ", None, 7),
        ("0", None, 0),
        ("-7", None, None),
        ("\u0667", None, None),
        ("9" * 9, None, LONGEST_HOST_WAIT_S),
        ("9" * 5_000, None, LONGEST_HOST_WAIT_S),
        ("Thu, 01 Jan 1970 00:02:00 GMT", None, 20),
        ("Thu, 01 Jan 1970 00:02:00 -0000", None, 20),
        ("Thu, 01 Jan 1970 01:02:00 +0100", None, 20),
        ("Thu, 01 Jan 1970 00:01:00 GMT", None, 0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", 120),
        ("Thu, 01 Jan 1970 00:02:00 GMT", "yesterday", 20),
        ("Thu, 01 Jan 2970 00:02:00 GMT", None, LONGEST_HOST_WAIT_S),
        ("Thu, 99 Jan 1970", None, None),
        ("", None, None),
    ],
)
def test_times_after_which_a_server_may_be_asked(
    value: str | None, sent: str | None, seconds: int | None
) -> None:
    assert fetcher.retry_after_s(value, sent, 100.0) == seconds


@pytest.mark.parametrize(
    "url", ["http://a.example/", "https://a.example:81/b%20c?", "http://a.example/x?y=%2f&z"]
)
def test_urls_are_sent_as_they_are(url: str) -> None:
    assert str(fetcher._request_url(url)) == url


@pytest.mark.parametrize(
    ("outcome", "status", "is_reached", "shown"),
    [
        ("ok", 200, True, 200),
        ("ok", None, True, 0),
        ("not_found", 404, True, 404),
        ("broken", 200, True, 0),
        ("broken", None, False, 0),
        ("timeout", None, False, 0),
        ("timeout", 200, False, 0),
        ("unreachable", None, False, 0),
        ("tls", None, False, 0),
        ("forbidden_address", None, False, 0),
    ],
)
def test_an_answer_has_a_status_if_its_head_is_whole(
    outcome: str, status: int | None, is_reached: bool, shown: int
) -> None:
    answer = FetchResult(outcome, 0, http_status=status)
    assert fetch_loop._is_reached(answer) is is_reached
    assert fetch_loop._status(answer) == shown
