"""Sources: RSS 0.91 to 2.0, RSS 1.0, RFC 4287, RFC 5005, JSON Feed 1.1."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.listing.feed import parse_feed
from gossamer.parse.listing.feed_model import (
    MAX_LINKS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Entry,
    Feed,
    FeedLink,
)
from gossamer.parse.listing.feed_text import plain

DAY = datetime(2024, 5, 1, tzinfo=UTC)
NEXT_DAY = datetime(2024, 5, 2, tzinfo=UTC)


def parsed(body: bytes | str, declared: str | None = None) -> Feed:
    feed = parse_feed(body if isinstance(body, bytes) else body.encode(), declared)
    assert feed is not None
    return feed


def rss_item(content: str) -> Entry:
    (entry,) = parsed(f"<rss version='2.0'><channel><item>{content}</item></channel></rss>").entries
    return entry


def atom_entry(content: str) -> Entry:
    (entry,) = parsed(
        f"<feed xmlns='http://www.w3.org/2005/Atom'><entry>{content}</entry></feed>"
    ).entries
    return entry


def test_rss_2_0() -> None:
    feed = parsed("""<?xml version="1.0" encoding="utf-8"?>
      <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
          xmlns:dc="http://purl.org/dc/elements/1.1/"
          xmlns:content="http://purl.org/rss/1.0/modules/content/">
        <channel>
          <title>Knots</title><link>http://a.example/</link>
          <description>All about &lt;b&gt;knots&lt;/b&gt;</description><language>en-gb</language>
          <lastBuildDate>Thu, 02 May 2024 00:00:00 GMT</lastBuildDate>
          <atom:link rel="self" type="application/rss+xml" href="http://a.example/feed"/>
          <atom:link rel="hub" href="http://hub.example/"/>
          <image><title>Logo</title><url>http://a.example/l.png</url><link>http://x/</link></image>
          <item>
            <title>Bowline</title><link>http://a.example/bowline</link>
            <guid isPermaLink="false">17</guid><pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate>
            <dc:creator>Ann B.</dc:creator>
            <description><![CDATA[<p>A loop.</p><p>It holds.</p>]]></description>
            <content:encoded><![CDATA[<div>All of<br>it</div>]]></content:encoded>
            <enclosure url="http://a.example/b.mp3" length="12" type="audio/mpeg; codecs=x"/>
          </item>
        </channel></rss>""")
    assert feed == Feed(
        kind="rss",
        title="Knots",
        description="All about knots",
        language="en-gb",
        updated=NEXT_DAY,
        links=(
            FeedLink(url="http://a.example/"),
            FeedLink(
                url="http://a.example/feed", relation="self", content_type="application/rss+xml"
            ),
            FeedLink(url="http://hub.example/", relation="hub"),
        ),
        entries=(
            Entry(
                url="http://a.example/bowline",
                title="Bowline",
                published=DAY,
                enclosures=("http://a.example/b.mp3",),
            ),
        ),
    )


@pytest.mark.parametrize(
    "space", ["http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"]
)
def test_rdf(space: str) -> None:
    feed = parsed(f"""<rdf:RDF xmlns="{space}" xmlns:dc="http://purl.org/dc/elements/1.1/"
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <channel rdf:about="http://a.example/feed"><title>Knots</title>
        <link>http://a.example/</link><dc:language>en</dc:language>
        <items><rdf:Seq><rdf:li resource="http://a.example/1"/></rdf:Seq></items></channel>
      <item rdf:about="http://a.example/1"><title>One</title><link>http://a.example/1</link>
        <dc:date>2024-05-01</dc:date></item>
      <item rdf:about="http://a.example/2"><title>Two</title></item></rdf:RDF>""")
    assert (feed.kind, feed.title, feed.language) == ("rdf", "Knots", "en")
    assert feed.links == (FeedLink(url="http://a.example/"),)
    assert feed.entries == (
        Entry(url="http://a.example/1", title="One", published=DAY),
        Entry(url="http://a.example/2", title="Two"),
    )


@pytest.mark.parametrize("prefix", ["", "a:"])
def test_atom(prefix: str) -> None:
    bound = f"xmlns{':a' if prefix else ''}='http://www.w3.org/2005/Atom'"
    text = """<feed BOUND xml:lang="de"><title>Knoten</title><subtitle>Alle</subtitle>
      <updated>2024-05-02T00:00:00Z</updated>
      <link href="http://a.example/"/><link rel="next" href="http://a.example/feed?page=2"/>
      <author><name>Ann</name><uri>http://a.example/ann</uri></author>
      <entry><title type="text">1 &lt;b&gt; 2</title><id>urn:uuid:1</id>
        <link rel="alternate" type="application/json" href="http://a.example/1.json"/>
        <link rel="alternate" type="text/html" href="http://a.example/1"/>
        <link rel="enclosure" type="audio/ogg" href="http://a.example/1.ogg"/>
        <published>2024-05-01T00:00:00Z</published><updated>2024-05-02T00:00:00Z</updated>
        <author><name>Bea</name></author>
        <summary type="html">&lt;p&gt;Kurz&lt;/p&gt;</summary>
        <content type="xhtml" xml:lang="fr"><div xmlns="http://www.w3.org/1999/xhtml">
          <p>Lang <em>und</em></p><p>breit</p></div></content>
      </entry></feed>"""
    for name in (
        *("feed", "title", "subtitle", "updated", "link", "author", "name", "uri", "entry", "id"),
        *("published", "summary", "content"),
    ):
        text = text.replace(f"<{name}", f"<{prefix}{name}").replace(
            f"</{name}", f"</{prefix}{name}"
        )
    feed = parsed(text.replace("BOUND", bound))
    assert (feed.kind, feed.title, feed.description) == ("atom", "Knoten", "Alle")
    assert (feed.language, feed.updated) == ("de", NEXT_DAY)
    assert [link.relation for link in feed.links] == ["alternate", "next"]
    assert feed.entries == (
        Entry(
            url="http://a.example/1",
            title="1 <b> 2",
            published=DAY,
            updated=NEXT_DAY,
            enclosures=("http://a.example/1.ogg",),
        ),
    )


def test_json_feed() -> None:
    feed = parsed(
        json.dumps(
            {
                "version": "https://jsonfeed.org/version/1.1",
                "title": "Knots",
                "home_page_url": "http://a.example/",
                "feed_url": "http://a.example/feed.json",
                "next_url": "/feed2.json",
                "language": "en",
                "hubs": [{"type": "WebSub", "url": "http://hub.example/"}, 3],
                "items": [
                    {
                        "id": "1",
                        "url": "http://a.example/1",
                        "title": "One",
                        "content_html": "<p>A<p>B",
                        "summary": "Short",
                        "date_published": "2024-05-01T02:00:00+02:00",
                        "authors": [{"name": "Ann"}],
                        "language": "de",
                        "attachments": [
                            {"url": "1.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 7},
                            {"url": 5},
                        ],
                    },
                    {"id": 2, "external_url": "http://b.example/", "author": {"name": "Bea"}},
                    {"id": "3", "title": ["no text"]},
                    "junk",
                ],
            }
        )
    )
    assert (feed.kind, feed.title, feed.language) == ("json", "Knots", "en")
    assert [(link.relation, link.url) for link in feed.links] == [
        ("alternate", "http://a.example/"),
        ("self", "http://a.example/feed.json"),
        ("next", "/feed2.json"),
        ("hub", "http://hub.example/"),
    ]
    assert feed.entries == (
        Entry(
            url="http://a.example/1",
            title="One",
            published=DAY,
            enclosures=("1.mp3",),
        ),
        Entry(url="http://b.example/"),
    )
    assert feed.refused == {"no_url": 1}


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("<link> http://a.example/1 </link>", "http://a.example/1"),
        ("<link><![CDATA[http://a.example/?a=1&b=2]]></link>", "http://a.example/?a=1&b=2"),
        ("<link>http://a.example/?a=1&copy=2</link>", "http://a.example/?a=1&copy=2"),
        ("<link href='http://a.example/1'/>", "http://a.example/1"),
        ("<guid>http://a.example/1</guid>", "http://a.example/1"),
        ("<guid isPermaLink='true'>http://a.example/1</guid>", "http://a.example/1"),
        ("<link/><guid>http://a.example/1</guid>", "http://a.example/1"),
        ("<link xml:base='http://a.example/x/'>1</link>", "http://a.example/x/1"),
        ("<link>1</link>", "1"),
        (
            "<atom:link rel='replies' href='http://a.example/c'/><link>http://a.example/1</link>",
            "http://a.example/1",
        ),
    ],
)
def test_the_page_of_an_item(content: str, url: str) -> None:
    assert rss_item(content).url == url


def test_an_item_that_leads_nowhere_is_counted_and_one_with_a_file_alone_is_kept() -> None:
    feed = parsed("""<rss><item><title>x</title></item>
        <item><guid isPermaLink="false">http://a.example/1</guid></item>
        <item><guid>4711</guid></item><item><enclosure url="a.mp3" length="-1"/></item></rss>""")
    assert feed.entries == (Entry(enclosures=("a.mp3",)),)
    assert feed.refused == {"no_url": 3}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("Tom & Jerry", "Tom & Jerry"),
        ("Tom &amp;amp; Jerry", "Tom & Jerry"),
        ("<![CDATA[Tom &amp; <i>Jerry</i>]]>", "Tom & Jerry"),
        ("a &lt; b", "a < b"),
        ("a\n  b&nbsp;c\u200b\x07", "a b c\u200b"),
        ("", None),
        ("<b>bold</b>", "bold"),
    ],
)
def test_titles_of_rss(title: str, text: str | None) -> None:
    assert rss_item(f"<title>{title}</title><link>x</link>").title == text


def test_media_rss_and_how_many_files_there_may_be() -> None:
    one = '<media:content url="a.png" type="image/png" fileSize="9"/>'
    entry = rss_item(f"<link>x</link><media:group>{one * 2}</media:group>{one * MAX_LINKS}")
    assert entry.enclosures == ("a.png",) * MAX_LINKS


def test_atom_0_3_and_atom_without_its_namespace() -> None:
    for bound in ("xmlns='http://purl.org/atom/ns#'", ""):
        feed = parsed(f"""<feed {bound}><title>T</title><entry><title>One</title>
            <link rel="alternate" href="http://a.example/1"/><issued>2024-05-01</issued>
            </entry></feed>""")
        assert feed.title == "T"
        assert [(entry.url, entry.title) for entry in feed.entries] == [
            ("http://a.example/1", "One")
        ]
    assert atom_entry("<link href='x'/><id>http://a.example/2</id>").url == "x"
    assert atom_entry("<id>http://a.example/2</id>").url == "http://a.example/2"


def atom(version: str, title: str) -> str | None:
    space = {"0.3": "http://purl.org/atom/ns#", "1.0": "http://www.w3.org/2005/Atom"}[version]
    return parsed(f"<feed xmlns='{space}'>{title}</feed>").title


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("K<:b>n</:b>ots", "Knots"),
        ("<:p>Two</:p><:p>knots<:br/>here</:p>", "Two knots here"),
        ("<:i>how</:i> to use &lt;b&gt; &amp;amp; co", "how to use <b> &amp; co"),
        ("Knots<:script>no()</:script>", "Knots"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "h:"])
def test_atom_type_xhtml_is_read_as_elements(markup: str, text: str, prefix: str) -> None:
    inner = markup.replace("<:", f"<{prefix}").replace("</:", f"</{prefix}")
    space = f"{'xmlns:h' if prefix else 'xmlns'}='http://www.w3.org/1999/xhtml'"
    for written in (inner, f"<{prefix}div {space}>{inner}</{prefix}div>"):
        assert atom("1.0", f"<title type='xhtml'>{written}</title>") == text
        assert atom("0.3", f"<title type='application/xhtml+xml'>{written}</title>") == text
        assert parsed(f"<feed><title type='xhtml'>{written}</title></feed>").title == text


def test_inline_elements_do_not_split_words_in_any_feed() -> None:
    assert rss_item("<title>K<b>n</b>ots</title><link>x</link>").title == "Knots"
    assert atom("1.0", "<title type='html'>K<i>n</i>ots</title>") == "Knots"


def test_atom_type_xhtml_without_elements_is_escaped_html() -> None:
    assert atom("1.0", "<title type='xhtml'>K&lt;b&gt;n&lt;/b&gt;ots</title>") == "Knots"


@pytest.mark.parametrize(
    ("attributes", "content", "text"),
    [
        ("", "AT&amp;amp;T", "AT&amp;T"),
        ("mode='escaped' type='text/html'", "K&lt;b&gt;n&lt;/b&gt;ots", "Knots"),
        ("mode='escaped' type='text/plain'", "&lt;b&gt; is bold", "<b> is bold"),
        ("mode='xml' type='text/html'", "K<b>n</b>ots", "Knots"),
        ("mode='base64' type='text/html'", b64encode(b"K<b>n</b>ots").decode(), "Knots"),
        ("mode='base64' type='text/plain'", b64encode(b"<b> is bold").decode(), "<b> is bold"),
        ("mode='base64'", "4oi\n IIHM=", "∈ s"),
        ("mode='base64'", b64encode("Узлы".encode()).decode().rstrip("="), "Узлы"),
        ("mode='base64'", "a", None),
        ("mode='base64'", "§", None),
    ],
)
def test_atom_0_3_modes_and_base64(attributes: str, content: str, text: str | None) -> None:
    assert atom("0.3", f"<title {attributes}>{content}</title>") == text


def test_atom_0_3_tagline_is_the_description() -> None:
    tagline = "<tagline mode='base64'>QWxsIGtub3Rz</tagline>"
    assert parsed(f"<feed xmlns='http://purl.org/atom/ns#'>{tagline}</feed>").description == (
        "All knots"
    )
    assert parsed("<feed><tagline>All knots</tagline></feed>").description == "All knots"


def test_atom_content_that_is_elsewhere_is_the_page_of_an_entry() -> None:
    content = "<content type='text/html' src='/c'/>"
    assert atom_entry(f"<id>http://a.example/1</id>{content}").url == "/c"
    assert atom_entry(f"<link href='/1'/>{content}").url == "/1"
    assert atom_entry("<id>http://a.example/1</id><content>aGk=</content>").url == (
        "http://a.example/1"
    )


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
def test_base64_of_any_text_is_the_text(text: str) -> None:
    title = f"<title mode='base64' type='text/plain'>{b64encode(text.encode()).decode()}</title>"
    known = text.encode().decode("utf-8-sig")
    assert atom("0.3", title) == (" ".join(known.split())[:MAX_TITLE_CHARS] or None)


def test_entries_and_texts_are_bounded() -> None:
    title, description = "t " * 9_999, f"<description>{'d' * 99_999}</description>"
    item = f"<item><link>x</link><title>{title}</title></item>"
    feed = parse_feed(
        f"<rss><channel>{description}{item * 3}</channel></rss>".encode(), max_entries=2
    )
    assert feed is not None
    assert len(feed.entries) == 2
    assert feed.refused == {"too_many": 1}
    assert len(feed.entries[0].title or "") <= MAX_TITLE_CHARS
    assert len(feed.description or "") == MAX_TEXT_CHARS


@pytest.mark.parametrize(("header", "codec"), [("windows-1251", "cp1251"), (None, "utf-8")])
def test_the_encoding_is_that_of_the_header_or_the_declaration(
    header: str | None, codec: str
) -> None:
    text = "<?xml version='1.0' encoding='utf-8'?><rss><title>Привет, мир</title></rss>"
    assert parsed(text.encode(codec), header).title == "Привет, мир"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"prose", b"{}", b"[]", b'{"version": "1"}', b'{"version": 1', b"{" * 99_999),
        *(
            b"<html><body><item>x</item></body></html>",
            b"<urlset/>",
            b"<rssx/>",
            b"\0",
            b"\x1f\x8b",
        ),
    ],
)
def test_what_is_no_feed(body: bytes) -> None:
    assert parse_feed(body) is None


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a < b & c", "a < b & c"),
        ("<p>One</p><p>two<br>three</p>", "One two three"),
        ("fo<b>o</b>", "foo"),
        ("a<script>b</script><style>c</style>d<!-- e -->", "ad"),
        ("&lt;b&gt;", "<b>"),
        ("<>", "<>"),
        ("", ""),
    ],
)
def test_the_text_of_markup(markup: str, text: str) -> None:
    assert plain(markup, 100) == text


PIECES = st.sampled_from(
    [
        *(
            b"<rss>",
            b"<channel>",
            b"<item>",
            b"</item>",
            b"<feed xmlns='http://www.w3.org/2005/Atom'>",
        ),
        *(
            b"<entry>",
            b"<link>",
            b"<link href='http://['/>",
            b"</link>",
            b"<title>",
            b"<title type=text>",
        ),
        *(
            b"<description>",
            b"<![CDATA[<p>",
            b"]]>",
            b"&lt;p&gt;",
            b"<pubDate>",
            b"2024",
        ),
        *(
            b"<name>",
            b"<enclosure url='x' length='9'/>",
            b"<guid>http://a.example/",
            b"xml:base='/'",
        ),
        *(
            b'{"version":"https://jsonfeed.org/version/1"',
            b',"items":[',
            b"{",
            b"}",
            b"]",
            b"\xff",
            b"\0",
        ),
    ]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(
            st.sampled_from(["url", "title", "items", "attachments", "hubs", "name"]),
            inner,
        ),
    ),
    max_leaves=20,
)


@given(
    st.one_of(st.binary(), st.lists(PIECES).map(b"".join)), st.sampled_from([None, "utf-16", "?"])
)
def test_no_bytes_raise(body: bytes, declared: str | None) -> None:
    parse_feed(body, declared)
    parse_feed(b"<rss>" + body, declared)


@given(JSON, JSON)
def test_no_json_raises(items: object, other: object) -> None:
    version = "https://jsonfeed.org/version/1.1"
    for item in (items, {"url": "x", "attachments": items, "title": other}):
        feed = {"version": version, "items": [item], "hubs": other, "home_page_url": other}
        parse_feed(json.dumps(feed).encode())


def test_enclosures_may_be_in_groups_of_groups() -> None:
    one, two = (f"<media:content url='https://a.test/{n}.mp3' type='audio/mpeg'/>" for n in (1, 2))
    entry = rss_item(f"{one}<media:group><media:group>{two}</media:group></media:group>")
    assert entry.enclosures == ("https://a.test/1.mp3", "https://a.test/2.mp3")
