from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_to_bytes

import ada_url
import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gossamer.web import urls
from gossamer.web.urls import (
    DEFAULT,
    UrlRules,
    browser_spelling,
    domain_of,
    host_column,
    host_of,
    normalize,
    normalize_all,
    origin_of,
    refusal,
    resolve_all,
)

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine

ALL = UrlRules(schemes=("http", "https", "ftp", "file", "gopher"))
BASE = "http://site.example/shelf/book/page.html?edition=2"
DIGEST = "0f" * 16

# RFC 3986 appendix A, less what a crawlable URL has not: userinfo and fragment.
RFC3986 = re.compile(
    r"https?://(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[0-9]+)?"
    r"(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*)+"
    r"(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})+)?"
)


URI = re.compile(RFC3986.pattern.replace("https?://(", "(https?|ftp|gopher|file)://(|", 1))


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        # RFC 3986 §5.2.2: each branch of the transformation
        ("https://other.example/x", "https://other.example/x"),
        ("//other.example/x?y", "http://other.example/x?y"),
        ("", "http://site.example/shelf/book/page.html?edition=2"),
        ("#top", "http://site.example/shelf/book/page.html?edition=2"),
        ("?edition=3", "http://site.example/shelf/book/page.html?edition=3"),
        ("/index.html", "http://site.example/index.html"),
        ("next.html", "http://site.example/shelf/book/next.html"),
        ("next.html#part", "http://site.example/shelf/book/next.html"),
        ("next.html?q=1#part", "http://site.example/shelf/book/next.html?q=1"),
        # RFC 3986 §5.2.4: dot segments
        (".", "http://site.example/shelf/book/"),
        ("..", "http://site.example/shelf/"),
        ("./a/../b/./c", "http://site.example/shelf/book/b/c"),
        ("../../../../top", "http://site.example/top"),
        ("...", "http://site.example/shelf/book/..."),
        (".hidden", "http://site.example/shelf/book/.hidden"),
        ("a..b/c.", "http://site.example/shelf/book/a..b/c."),
        ("?p=../x", "http://site.example/shelf/book/page.html?p=../x"),
        # WHATWG URL §4.4: a special scheme with no slashes is relative to a base of that scheme
        ("http:next.html", "http://site.example/shelf/book/next.html"),
        ("https:next.html", "https://next.html/"),
        # … backslashes are slashes, blanks around and tabs and line ends within go
        (r"\a\b", "http://site.example/a/b"),
        ("  next.html\n", "http://site.example/shelf/book/next.html"),
        ("ne\nxt.\thtml", "http://site.example/shelf/book/next.html"),
        # … but a blank before the fragment belongs to the path
        ("a b #c", "http://site.example/shelf/book/a%20b%20"),
        ("a//b", "http://site.example/shelf/book/a//b"),
        ("a:b/c", None),
        ("./a:b/c", "http://site.example/shelf/book/a:b/c"),
    ],
)
def test_references_resolve_against_the_base(reference: str, target: str | None) -> None:
    assert normalize(reference, BASE) == target


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        # RFC 3986 §6.2.2.1: case
        ("HTTP://WWW.Example.ORG/Path", "http://www.example.org/Path"),
        ("http://h/%c3%bc%2f", "http://h/%C3%BC%2F"),
        # RFC 3986 §6.2.2.2: unreserved characters are decoded, others never
        ("http://h/%7Euser/%41%2d%5F%2e%30", "http://h/~user/A-_.0"),
        ("http://h/a%2Fb%3fc%23d%26e%25f", "http://h/a%2Fb%3Fc%23d%26e%25f"),
        ("http://h/?%61=%26%3D%2b%20+", "http://h/?a=%26%3D%2B%20+"),
        # RFC 3986 §6.2.2.3: dot segments, also when encoded (WHATWG URL §4.1)
        ("http://h/a/%2E%2e/b/.%2E/c/%2e/d", "http://h/c/d"),
        # RFC 3986 §6.2.3: scheme
        ("http://h", "http://h/"),
        ("http://h:80/", "http://h/"),
        ("https://h:443/", "https://h/"),
        ("http://h:443/", "http://h:443/"),
        ("http://h:0080/", "http://h/"),
        ("http://h:/", "http://h/"),
        ("http://h/?", "http://h/"),
        ("http://h/?#", "http://h/"),
        ("http://h?q", "http://h/?q"),
        # RFC 3987 §3.1: non-ASCII as UTF-8
        ("http://h/ü?ü", "http://h/%C3%BC?%C3%BC"),
        # RFC 3986 §2.1 and §2.4: a percent sign is data only as %25
        ("http://h/100%", "http://h/100%25"),
        ("http://h/%zz%4?%", "http://h/%25zz%254?%25"),
        ("http://h/%%341", "http://h/%2541"),
        # RFC 3986 §3.3, §3.4: what they do not allow
        ("http://h/a|b[c]{d}^`", "http://h/a%7Cb%5Bc%5D%7Bd%7D%5E%60"),
        ("http://h/?a[]=|{}^`\\", "http://h/?a%5B%5D=%7C%7B%7D%5E%60%5C"),
        ("http://h/?a=?b/c", "http://h/?a=?b/c"),
        # user info and trailing dot
        ("http://user:pass@h/", "http://h/"),
        ("http://a@b@h/x@y", "http://h/x@y"),
        ("http://www.example.org./", "http://www.example.org/"),
        ("http://www.example.org.:8080/", "http://www.example.org:8080/"),
        # WHATWG URL §3.5: hosts
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://stra\u00dfe.example/", "http://xn--strae-oqa.example/"),
        ("http://ex%41mple.org/", "http://example.org/"),
        ("http://192.168.257/", "http://192.168.1.1/"),
        ("http://0x7F.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]:81/", "http://[2001:db8::1]:81/"),
        ("http://my_host.example/", "http://my_host.example/"),
    ],
)
def test_one_spelling(url: str, normal: str) -> None:
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://h/a;jsessionid=0A1B.node1", "http://h/a"),
        ("http://h/a;JSESSIONID=0A1B/b;jsessionid=2?q=1", "http://h/a/b?q=1"),
        ("http://h/a;v=1;jsessionid=2;w=3", "http://h/a;v=1;w=3"),
        ("http://h/a;jsessionids", "http://h/a;jsessionids"),
        ("http://h/x/..;jsessionid=1/y", "http://h/x/..;jsessionid=1/y"),
        ("http://h/x/.;jsessionid=1;jsessionid=2", "http://h/x/.;jsessionid=1"),
        ("http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://h/a.aspx"),
        ("http://h/app/(X(1)A(zz)F(yy)S(xx))/a.aspx", "http://h/app/a.aspx"),
        ("http://h/(S(a))/(S(b))/c", "http://h/c"),
        ("http://h/Mean_(S(x))", "http://h/Mean_(S(x))"),
        ("http://h/wiki/Lisp_(language)", "http://h/wiki/Lisp_(language)"),
        ("http://h/?PHPSESSID=1&a=2", "http://h/?a=2"),
        ("http://h/?ASPSESSIONIDCQTRQBRR=1&a=2", "http://h/?a=2"),
        (f"http://h/?sid={DIGEST}&a=2", "http://h/?a=2"),
        (f"http://h/a;PHPSESSID=0A/b;SessionID={DIGEST};v=2", "http://h/a/b;v=2"),
        ("http://h/a;sessionid=1;v=2", "http://h/a;sessionid=1;v=2"),
        (f"http://h/a;sid={DIGEST}/b;sid={DIGEST};v=1;SID={DIGEST.upper()}", "http://h/a/b;v=1"),
        ("http://h/a;sid=story;v=1", "http://h/a;sid=story;v=1"),
        (f"http://h/a;sid={DIGEST}-1", f"http://h/a;sid={DIGEST}-1"),
        (f"http://h/a/..;sid={DIGEST}/b", f"http://h/a/..;sid={DIGEST}/b"),
        ("http://h/app/(s(lit3py55t21z5v55vlm25s55))/a.aspx", "http://h/app/a.aspx"),
        ("http://h/app/%28S%28lit3%29%29/a.aspx", "http://h/app/a.aspx"),
        ("http://h/%28X%281)A(b%29)/a", "http://h/a"),
        ("http://h/app/(S(lit3py55t21z5v55vlm25s55))", "http://h/app/"),
        ("http://h/(S(a))", "http://h/"),
        ("http://h/(S(a));jsessionid=1", "http://h/"),
        ("http://h/(S(a))/(S(b))x", "http://h/(S(b))x"),
        ("http://h/(f(x))/a", "http://h/(f(x))/a"),
        ("http://h/(S(a)b)/c", "http://h/(S(a)b)/c"),
        ("http://h/(lit3py55t21z5v55vlm25s55)/a.aspx", "http://h/a.aspx"),
        ("http://h/app/(lit3py55t21z5v55vlm25s55)", "http://h/app/"),
        ("http://h/%28lit3py55t21z5v55vlm25s55%29/", "http://h/"),
        # not 24, not of a to z and 0 to 5, a word
        ("http://h/(lit3py55t21z5v55vlm25s5)/", "http://h/(lit3py55t21z5v55vlm25s5)/"),
        ("http://h/(lit3py55t21z5v55vlm25s59)/", "http://h/(lit3py55t21z5v55vlm25s59)/"),
        ("http://h/(abcdefghijklmnopqrstuvwx)/", "http://h/(abcdefghijklmnopqrstuvwx)/"),
        ("http://h/(012345012345012345012345)/", "http://h/(012345012345012345012345)/"),
        ("http://h/?ASP.NET_SessionId=1&MoodleSessionTest=2&fe_typo_user=3&a=4", "http://h/?a=4"),
        # HTML 4 §B.2.2: parameters between semicolons
        ("http://h/?jsessionid=1;x=2", "http://h/?x=2"),
        ("http://h/?x=1;jsessionid=2", "http://h/?x=1"),
        ("http://h/?z=1;jsessionid=2;y=3&a=4;utm_source=5", "http://h/?z=1;y=3&a=4"),
        (f"http://h/?x=1;sid={DIGEST}&jsessionid=1;phpsessid=2", "http://h/?x=1"),
        ("http://h/?;jsessionid=1", "http://h/"),
        ("http://h/?;x=1", "http://h/?;x=1"),
        ("http://h/?gclid=a;b&x=1;jsessionid", "http://h/?x=1;jsessionid"),
        # words: only with ids
        (f"http://h/?s={DIGEST}&session={DIGEST}&bbsid={DIGEST.upper()}&a=1", "http://h/?a=1"),
        (f"http://h/?session_id={DIGEST}&sessionid={DIGEST}&sessid={DIGEST}&a=1", "http://h/?a=1"),
        *(
            (f"http://h/?{name}={value}", f"http://h/?{name}={value}")
            for name in ("session_id", "sessionid", "sessId", "sess_id")
            for value in ("", "1", "keynote-2024-opening-remarks", DIGEST[:24])
        ),
        ("http://h/?Session=" + "q7v" * 9, "http://h/"),
        ("http://h/?sid=" + "q7v" * 8, "http://h/?sid=" + "q7v" * 8),
        ("http://h/?sid=" + "0F" * 15, "http://h/?sid=" + "0F" * 15),
        ("http://h/?s=" + "7" * 40, "http://h/?s=" + "7" * 40),
        ("http://h/?s=" + "needle" * 6 + "42", "http://h/?s=" + "needle" * 6 + "42"),
        (
            "http://h/?session=01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "http://h/?session=01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ),
        ("http://h/?bbsId=BBSMSTR_000000000021", "http://h/?bbsId=BBSMSTR_000000000021"),
        (f"http://h/?id={DIGEST}&hash={DIGEST}", f"http://h/?id={DIGEST}&hash={DIGEST}"),
        ("http://h/?sid=08/01/27/story", "http://h/?sid=08/01/27/story"),
        ("http://h/?s=needle", "http://h/?s=needle"),
        ("http://h/?utm_source=x&UTM_Medium=y&utm%5Fterm=z", "http://h/"),
        ("http://h/?a=1&gclid=x&fbclid=y&msclkid=z&mc_eid=w&yclid=v&_ga=u", "http://h/?a=1"),
        ("http://h/?utm=1&gclidx=2", "http://h/?utm=1&gclidx=2"),
        ("http://h/?a=utm_source", "http://h/?a=utm_source"),
        ("http://h/?utm_source", "http://h/"),
    ],
)
def test_sessions_and_tracking_are_no_part_of_a_page(url: str, normal: str) -> None:
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("b=1&a=2", "b=1&a=2"),
        ("thread/1-t/&pageNo=2", "thread/1-t/&pageNo=2"),
        ("a=2&a=1", "a=2&a=1"),
        ("&&b&&a&", "b&a"),
        ("b=2=1&a", "b=2=1&a"),
        ("=v&a", "=v&a"),
        ("%62&a", "b&a"),
        ("a=1&a=1", "a=1&a=1"),
    ],
)
def test_parameters_keep_their_order(query: str, kept: str) -> None:
    assert normalize(f"http://h/?{query}") == f"http://h/?{kept}"


@pytest.mark.parametrize(
    ("href", "url", "spelling"),
    [
        ("/a?b=1&a=2#c", "/a?b=1&a=2", None),
        ("/%7euser/%c3%bc|?|", "/~user/%C3%BC%7C?%7C", None),
        ("/a?", "/a", "/a?"),
        ("/a?b?", "/a?b?", None),
        ("/a?b=1&&c&", "/a?b=1&c", "/a?b=1&&c&"),
        ("/a?utm_source=x&b=%7e", "/a?b=~", "/a?utm_source=x&b=~"),
        ("/a;jsessionid=1?PHPSESSID=2", "/a", "/a;jsessionid=1?PHPSESSID=2"),
        ("/(S(0a1b))/a", "/a", "/(S(0a1b))/a"),
        ("//u:p@H:80/a?gclid=1#d", "//h/a", "//h/a?gclid=1"),
    ],
)
def test_what_a_normal_form_lacks_is_in_the_spelling(
    href: str, url: str, spelling: str | None
) -> None:
    def whole(path: str) -> str:
        return f"http:{path}" if path.startswith("//") else f"http://site.example{path}"

    spellings = {} if spelling is None else {href: whole(spelling)}
    assert resolve_all([href], BASE) == ([whole(url)], spellings)


@pytest.mark.parametrize(
    ("href", "written"),
    [
        ("/%7euser/%c3%bc|?|#x", "http://site.example/%7euser/%c3%bc|?|"),
        ("?", "http://site.example/shelf/book/page.html?"),
        ("/a;jsessionid=1?b&&a", "http://site.example/a;jsessionid=1?b&&a"),
        ("http://u:p@SITE.example.:80/./a?PHPSESSID=1", "http://site.example/a?PHPSESSID=1"),
        ("gopher://site.example?%7E", "gopher://site.example/?~"),
    ],
)
def test_browsers_request_what_a_server_wrote(href: str, written: str) -> None:
    assert browser_spelling(href, BASE, str(normalize(href, BASE, ALL))) == written


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("FTP://Me:Secret@FTP.Example.:21/Pub/%7ea/../b", "ftp://ftp.example/Pub/b"),
        ("ftp://h:2121", "ftp://h:2121/"),
        ("ftp://h:21", "ftp://h/"),
        ("ftp://h/a;type=i;TYPE=a?b;c", "ftp://h/a;type=i;TYPE=a?b;c"),
        ("ftp://h/a%3Fb%3b%0D%0A", "ftp://h/a%3Fb%3B%0D%0A"),
        # what is a session on the Web is a name here
        ("ftp://h/(S(a))/b;jsessionid=1", "ftp://h/(S(a))/b;jsessionid=1"),
        # RFC 8089 §2 and appendix B
        ("file:///a%7eb/c", "file:///a~b/c"),
        ("file:///a%26b%3d%2F%3A%3b%%zz", "file:///a&b=%2F%3A%3B%25%25zz"),
        ("file:/a/./b", "file:///a/b"),
        ("FILE://LocalHost/a?b#c", "file:///a"),
        ("file:", "file:///"),
        ("file:////a", "file:////a"),
        ("file://host/a", None),
        # RFC 8089 appendix E: a drive letter. No drives are here, so it is a folder
        ("file:///C|/a", "file:///C%3A/a"),
        ("file:///%43:", "file:///C%3A"),
        ("file:///ab/C:/d", "file:///ab/C%3A/d"),
        # a plugin's: RFC 3986 §6.2.2, §6.2.3
        ("GOPHER://U@Host.Example:070", "gopher://host.example:70/"),
        (
            "gopher://h/1/a b/%2E%2e/%7e|?b=2&a=%7e|&utm_source=c",
            "gopher://h/1/~%7C?b=2&a=~%7C&utm_source=c",
        ),
        ("gopher://h?a@b/", "gopher://h/?a@b/"),
        ("gopher://[2001:DB8::1]:70/0", "gopher://[2001:db8::1]:70/0"),
        ("gopher:a", None),
        ("gopher:///a", None),
        ("gopher://a,b/", None),
        ("gopher://ü/", None),
        ("gopher://" + "a." * 126 + "ab", None),
        ("gopher://h" + "a" * 2000, None),
        ("telnet://h/", None),
        ("ws://h/", None),
    ],
)
def test_other_schemes(url: str, normal: str | None) -> None:
    assert normalize(url, None, ALL) == normal
    assert normalize(normal or "", None, ALL) == normal
    assert normalize(url) is None


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        ("ftp://h/a/b", "c", "ftp://h/a/c"),
        ("ftp://h/a/", "/c", "ftp://h/c"),
        ("ftp://h/a/", "//g/c", "ftp://g/c"),
        ("gopher://h/1/a", "b", "gopher://h/1/b"),
        ("gopher://H:70", "b", "gopher://h:70/b"),
        ("file:///a/b", "c", "file:///a/c"),
        ("file:///a/b", "/c", "file:///c"),
        ("file:///a/b", "../../../c", "file:///c"),
        ("file:///C:/a/b", "/c", "file:///c"),
        ("file:///C:", "c", "file:///c"),
        ("file:///a/b", "//localhost/c", "file:///c"),
        ("file:///a/b", "//h/c", None),
        ("file:///a/b", "http://h/c", "http://h/c"),
    ],
)
def test_references_within_other_schemes(base: str, reference: str, target: str | None) -> None:
    assert normalize(reference, base, ALL) == target


@pytest.mark.parametrize(
    "base",
    [
        "http://h/",
        "https://h/",
        "ftp://h/",
        "gopher://h/",
        "file://h/",
        "about:blank",
        "relative",
        "",
    ],
)
@pytest.mark.parametrize(
    "href", ["file:///etc/passwd", "file:/a", "FILE:a", "\tfi\nle:///a", "file://localhost/a"]
)
def test_only_a_file_leads_to_a_file(href: str, base: str) -> None:
    assert normalize(href, None, ALL) is not None
    assert normalize(href, base, ALL) is None
    assert normalize(href, "file:///x/", ALL) is not None


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_web_s_schemes_are_a_choice_too(scheme: str) -> None:
    rules = UrlRules(schemes=(scheme,))
    other = {"http": "https", "https": "http"}[scheme]
    # plain, folded, with a query
    for rest in ("://www.example.org/a", "://H/a|b", "://h/a?b"):
        assert normalize(scheme + rest, None, rules) == normalize(scheme + rest)
        assert normalize(other + rest, None, rules) is None
        assert normalize(other + rest, scheme + rest, rules) is None
        assert normalize("/c", other + rest, rules) is None


@pytest.mark.parametrize(
    "href",
    [
        "mailto:a@b.example",
        "javascript:void(0)",
        "data:text/html,hello",
        "tel:+49",
        "ftp://h/",
        "file:///etc/passwd",
        "blob:http://h/1",
        "about:blank",
        "ws://h/",
        "http://",
        "http://:80/",
        "http://h:65536/",
        "http://h:x/",
        "http://[::1/",
        "http://1.2.3.256/",
        "http://a b/",
        "http://a%00b/",
        "http://./",
        "http://.a/",
        "http://a..b/",
        "http://a../",
        "http://'+host+'/",
        "http://a,b/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 126 + "ab/",
        "http://h/" + "a" * 2000,
        "http://h/?" + "%" * 700,  # short as given, not as %25
        "http://h\x00/",
        "http://h\x7f/",
        "http://h:8\x010/",
        "http://h/\ud800",
        "relative",
        "/absolute",
        "?query",
        "",
        "#",
    ],
)
def test_what_cannot_be_crawled_is_none(href: str) -> None:
    assert normalize(href) is None


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("mailto:a@b.example", "scheme"),
        (" MAIL\nTO:a", "scheme"),
        ("gopher://h/", "scheme"),
        ("data:," + "a" * 3_000, "scheme"),
        ("http://h/" + "a" * 2_000, "long_url"),
        ("/" + "ü" * 400, "long_url"),
        ("http://[", "no_url"),
        ("http://a,b/", "no_url"),
        ("http://h\x00/", "no_url"),
        ("\ud800", "no_url"),
    ],
)
def test_why_it_cannot_be_crawled(href: str, reason: str) -> None:
    assert normalize(href, BASE) is None
    assert refusal(href, BASE) == reason


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("http://h/a\x00b\x1f\x7f\x80c", "http://h/a%00b%1F%7F%C2%80c"),
        ("http://h/?a\x01=\x0b", "http://h/?a%01="),
        ("http://h/?\x01=\x0b&b=c", "http://h/?%01=%0B&b=c"),
        ("http://h/a#\x01", "http://h/a"),
        ("http://u\x01:p\x7f@h/a", "http://h/a"),
        ("http://h\t:8\n0/a\r/b", "http://h/a/b"),
        ("\x00 \x1fhttp://h/a \x00", "http://h/a"),
        ("http://h/a\x01#", "http://h/a%01"),
        ("\x08//h/a\x08\x08", "http://h/a"),
        ("/.\x01./a", "http://site.example/.%01./a"),
        ("ftp://h/a\x01", "ftp://h/a"),
        ("ftp://h/a\x01b;type=i", "ftp://h/a%01b;type=i"),
        ("gopher://h/1\x01/?\x7f", "gopher://h/1%01/?%7F"),
    ],
)
def test_control_characters_are_encoded_as_browsers_do(href: str, url: str) -> None:
    assert normalize(href, BASE, ALL) == url


controls = st.text("a \t\n\r\x00\x01\x0b\x0c\x1f\x7f\x80\x9f")


@given(path=controls, query=controls, fragment=st.none() | controls)
def test_control_characters_in_each_part_are_encoded(
    path: str, query: str, fragment: str | None
) -> None:
    tail = "" if fragment is None else f"#{fragment}"
    stripped = f"http://h/{path}?q={query}{tail}".rstrip("".join(map(chr, range(0x21))))
    encoded = quote(re.sub("[\t\n\r]", "", stripped.partition("#")[0]), safe=":/?=")
    assert normalize(f"\x00 http://h/{path}?q={query}{tail}") == encoded


def test_lengths_are_inclusive() -> None:
    longest_name = "a." * 126 + "a"
    assert normalize(f"http://{longest_name}/") == f"http://{longest_name}/"
    assert normalize(f"http://{longest_name}./") == f"http://{longest_name}/"
    short = UrlRules(max_length=32)
    url = "http://site.example/".ljust(32, "a")
    for suffix in ("", "#" + "f" * 100):
        assert normalize(url + suffix, None, short) == url
    assert normalize(url + "a", None, short) is None
    assert normalize("a" * 32, url, short) is None
    assert normalize("?" + "a" * 32, url, short) is None


@pytest.mark.parametrize(
    "base",
    [None, "", "relative", "about:blank", "mailto:a@b.example", "http://[", "\ud800", "\x00" * 9],
)
def test_a_base_that_is_no_url_resolves_absolute_references_only(base: str | None) -> None:
    hrefs = ["http://h/a?b", "/a", "a", "", "#a", "//h/"]
    assert normalize_all(hrefs, base) == ["http://h/a?b", None, None, None, None, None]


def test_the_base_is_normalised_too() -> None:
    assert normalize("b", "http://u:p@H.:80/x/../%7ea;jsessionid=1/c#d") == "http://h/~a/b"
    assert normalize("?q", "http://h/a|b") == "http://h/a%7Cb?q"


def test_rules() -> None:
    url = "http://h/?z=1&Lang=en&b=2&utm_source=x&phpsessid=y"
    keep_all = UrlRules(drop_parameters=())
    assert normalize(url, None, keep_all) == url
    assert normalize(url, None, UrlRules(drop_parameters=("LANG", "u*", "php*"))) == (
        "http://h/?z=1&b=2"
    )
    assert normalize(url, None, UrlRules(drop_parameters=("*",))) == "http://h/"


@pytest.mark.parametrize(
    "table",
    [
        {"drop_parameters": ["a*b"]},
        {"max_length": 0},
        {"other": 1},
        {"schemes": []},
        {"schemes": ["HTTP"]},
        {"schemes": ["http://"]},
    ],
)
def test_rules_from_a_file_are_checked(table: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(table, UrlRules)


PIECES = [
    *"/?#:@;&=%.()[]\\ \n\x00'",
    "..",
    "%2e",
    "%2F",
    "%4",
    "%%",
    "//",
    "ü",
    "\ud800",
    "xn--",
    "0x7f",
    "1.2.3",
    ";jsessionid=",
    "/(S(",
    "))/",
    "%28s%28",
    "%29%29",
    ";PHPSESSID=",
    ";sid=",
    DIGEST,
    f"/({DIGEST[:24]})",
    "utm_source=",
    "&s=",
    "http:",
    "https://",
    "ftp://",
    "file:",
    "C:",
    ";type=i",
    "gopher://",
    "example",
    ".org",
]
reference = st.one_of(
    st.text(),
    st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join),
)
absolute = reference.map("http://h".__add__) | reference.map("https://www.example.org/".__add__)
other = st.builds(
    str.__add__, st.sampled_from(["ftp://h", "file:", "file:///", "gopher://h"]), reference
)


@given(href=reference | absolute, base=st.none() | reference | absolute)
@example(href="http://h/" + "/(S(" * 100_000, base=None)
@example(href="http://h/" + "/(S(a))" * 250 + "x", base=None)
@example(href="http://h/?" + ";a=" * 600, base=None)
@example(href="a/" * 50_000 + "!", base="http://h/")
@example(href="?" + "&sid=" * 50_000, base="http://h/" + "../" * 50_000)
@example(href="http://" + "a." * 100_000 + "b", base="x" * 100_000)
@example(href="\x00" * 100_000, base="\ud800")
def test_normal_forms_are_fixed_points_and_uris(href: str, base: str | None) -> None:
    url = normalize(href, base)
    if url is not None:
        assert normalize(url) == url
        assert normalize(url, "https://elsewhere.example/") == url
        assert ada_url.normalize_url(url) == url
        assert RFC3986.fullmatch(url)
        assert len(url) <= DEFAULT.max_length
        assert all(map(str.isascii, (host_of(url), domain_of(url))))


@given(href=reference | absolute | other, base=st.none() | absolute | other)
@example(href="file:" + "/C|" * 50_000, base="file:///C:")
@example(href="ftp://h/" + ";type=a" * 100_000 + "x", base=None)
@example(href="gopher://" + "a." * 100_000 + "b", base="gopher://h?" + "@" * 100_000)
def test_normal_forms_of_all_schemes_are_fixed_points(href: str, base: str | None) -> None:
    url = normalize(href, base, ALL)
    if url is not None:
        assert normalize(url, None, ALL) == url
        assert ada_url.normalize_url(url) == url
        assert URI.fullmatch(url)
        assert url.startswith(origin_of(url) + "/")
        assert (host_of(url) == "localhost") or host_of(url) in origin_of(url)
        assert all(map(str.isascii, (host_of(url), domain_of(url))))
        if url.startswith("file:"):
            assert base is None or base.lower().startswith("file:")


@given(href=absolute)
def test_a_spelling_has_its_normal_form(href: str) -> None:
    (url,), spellings = resolve_all([href], None)
    if url is not None:
        assert spellings.get(href) != url
        assert normalize(spellings.get(href, url)) == url
        assert normalize(browser_spelling(href, "http://h/", url)) == url


@given(href=reference | absolute | other)
def test_there_is_always_a_reason(href: str) -> None:
    assert refusal(href, BASE) in ("scheme", "long_url", "no_url")


@given(absolute)
def test_servers_see_the_same_octets(href: str) -> None:
    # RFC 3986 §2.4: both spellings decode to the same, where there is no session to drop.
    url = normalize(href, None, UrlRules(drop_parameters=()))
    assume(url is not None and "\ud800" not in href)
    given_, normal = ada_url.URL(href), ada_url.URL(str(url))
    assume(not re.search(r";(jsession|phpsess|s)id=|/\(", unquote(given_.pathname), re.IGNORECASE))
    assume(DIGEST not in given_.search)
    assert unquote_to_bytes(normal.pathname) == unquote_to_bytes(given_.pathname)
    queries = [
        [unquote_to_bytes(pair) for pair in parsed.search[1:].split("&") if pair]
        for parsed in (given_, normal)
    ]
    assert queries[0] == queries[1]
    assert (normal.protocol, normal.port) == (given_.protocol, given_.port)
    assert normal.hostname == given_.hostname.removesuffix(".")


plain_segment = st.from_regex(r"[A-Za-z0-9._~-]{0,4}", fullmatch=True)
plain_path = st.lists(plain_segment, max_size=4).map("/".join)
upwards = st.integers(1, 5).map("../".__mul__)
plain_host = st.from_regex(
    r"https?://([a-z0-9-]{1,3}\.|xn--[a-z]{1,3}\.){0,4}[a-z0-9]{1,3}/", fullmatch=True
)


@given(
    href=plain_path | st.builds(str.__add__, plain_host | upwards, plain_path),
    base=absolute | other | st.builds(str.__add__, plain_host, plain_path),
)
@pytest.mark.parametrize("rules", [DEFAULT, ALL, UrlRules(schemes=("https", "file", "gopher"))])
def test_the_shortcut_agrees_with_the_parser(href: str, base: str, rules: UrlRules) -> None:
    short = normalize(href, base, rules)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_PLAIN", "_PLAIN_PATH"):
            patch.setattr(urls, name, re.compile(r"(?!)"))
        patch.setattr(urls, "plain_urls", lambda hrefs, *_: [None] * len(hrefs))
        urls._form.cache_clear()
        assert normalize(href, base, rules) == short
    urls._form.cache_clear()


@given(hrefs=st.lists(reference | absolute), base=absolute)
def test_in_bulk_as_one_by_one(hrefs: list[str], base: str) -> None:
    assert normalize_all(hrefs, base) == [normalize(href, base) for href in hrefs]


def test_plain_references_of_pages_in_folders() -> None:
    hrefs = ["part", "../part", "/part", "?part", "", "http://other.example/part"]
    for origin, folders in (("http://h.example", "/x/y"), ("http://i.example", "/x/y/z")):
        folder, above = origin + folders, origin + folders[:-2]
        assert normalize_all(hrefs, f"{folder}/page") == [
            f"{folder}/part",
            f"{above}/part",
            f"{origin}/part",
            f"{folder}/page?part",
            f"{folder}/page",
            "http://other.example/part",
        ]


def test_plain_references_are_too_long_by_their_urls() -> None:
    rules = UrlRules(max_length=32)
    hrefs = ["a" * (32 - len("http://h.example/")), "a" * (33 - len("http://h.example/"))]
    assert normalize_all(hrefs, "http://h.example/", rules) == [
        f"http://h.example/{hrefs[0]}",
        None,
    ]


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://example.org/", "example.org", "example.org"),
        ("http://www.example.org:8080/a?b", "www.example.org:8080", "example.org"),
        ("https://a.b.co.uk/x/y", "a.b.co.uk", "b.co.uk"),
        ("http://co.uk/", "co.uk", "co.uk"),
        ("http://localhost:81/", "localhost:81", "localhost"),
        ("http://10.0.0.1:81/a", "10.0.0.1:81", "10.0.0.1"),
        ("http://[2001:db8::1]/a", "[2001:db8::1]", "[2001:db8::1]"),
        ("http://[::1]:81/a", "[::1]:81", "[::1]"),
        # the list's private section, wildcards and exceptions
        ("http://alice.github.io/", "alice.github.io", "alice.github.io"),
        ("http://a.b.c.ck/", "a.b.c.ck", "b.c.ck"),
        ("http://a.www.ck/", "a.www.ck", "www.ck"),
        # a name the list does not know, and one that only looks numeric
        ("http://a.b.test/", "a.b.test", "b.test"),
        ("http://1.2.x3/", "1.2.x3", "2.x3"),
        ("http://h/?a=http://b/", "h", "h"),
        ("ftp://ftp.example.org:2121/a", "ftp.example.org:2121", "example.org"),
        ("file:///etc/hosts", "localhost", "localhost"),
        ("file:///", "localhost", "localhost"),
        ("gopher://h/1/a", "h", "h"),
    ],
)
def test_host_and_domain(url: str, host: str, domain: str) -> None:
    assert normalize(url, None, ALL) == url
    assert host_of(url) == host
    assert domain_of(url) == domain


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://h/", "http://h"),
        ("https://h:8080/a//b?c=/d", "https://h:8080"),
        ("ftp://h/a/b", "ftp://h"),
        ("file:///", "file://"),
        ("file:///etc/hosts", "file://"),
    ],
)
def test_origins(url: str, origin: str) -> None:
    assert normalize(url, None, ALL) == url
    assert origin_of(url) == origin


def test_the_engine_knows_the_same_hosts(engine: Engine) -> None:
    known = [
        "http://a.example:81/b?c=/d",
        "ftp://h/",
        "file:///etc/hosts",
        "file:////x",
        "https://[::1]/",
    ]
    table = engine.spark.createDataFrame([(url,) for url in known], "url string")
    found = table.select("url", host_column(table["url"])).collect()
    assert {url: host_of(url) for url in known} == {row[0]: row[1] for row in found}
