"""What stands beside an article without being marked: teasers, captions, citations; and quotes."""

from __future__ import annotations

import pytest

from tests.support.discussed_articles import ARTICLE, article, lines_of

EXCERPT = "Number {} of the news tells about the lighthouse, and that its keeper is not amused."
TEASER = "<div><h3><a href=/{n}>Lighthouse number {n} is for sale</a></h3><p>{text}</p></div>"


def teasers(number: int, excerpt: str = EXCERPT) -> str:
    return "".join(TEASER.format(n=n, text=excerpt.format(n)) for n in range(number))


@pytest.mark.parametrize("place", ["{article}{teasers}", "{article}<div>{teasers}</div>"])
def test_a_list_of_other_articles_is_no_main_text(place: str) -> None:
    page = place.format(article=article(), teasers=teasers(3))
    assert lines_of(f"<div>{page}</div>") == ARTICLE


def test_a_page_of_teasers_alone_is_its_teasers() -> None:
    text = "\n".join(lines_of(f"<h1>The ferry</h1><div>{teasers(9)}</div>"))
    assert all(EXCERPT.format(n) in text for n in range(9))


def test_a_list_of_reviews_with_links_is_the_article() -> None:
    review = " ".join([EXCERPT] * 8)
    text = "\n".join(lines_of(f"<div>{article()}{teasers(9, review.replace('{}', 'x'))}</div>"))
    assert text.count("Number x") == 72


def test_a_caption_that_a_gallery_repeats_is_main_text_once() -> None:
    figure = "<figure><img src=a.png><figcaption>The lighthouse in the evening, seen from the sea"
    close = "</figcaption></figure>"
    gallery = f"<div>{figure}{close}{figure}{close}</div>"
    text = " ".join(lines_of(f"<div>{article()}{gallery}<p>{ARTICLE[0]}</p></div>"))
    assert text.count("The lighthouse in the evening") == 1


@pytest.mark.parametrize("name", ["cite-this-article", "howToCite", "suggested-citation"])
def test_a_box_that_tells_how_to_cite_is_no_main_text(name: str) -> None:
    box = f"<div class={name}><p>Lee, A. The ferry to the island. Letters 3, 1 to 9.</p></div>"
    assert lines_of(f"<div>{article()}{box}<p>{ARTICLE[0]}</p></div>") == [*ARTICLE, ARTICLE[0]]


@pytest.mark.parametrize("name", ["twitter-tweet", "instagram-media", "social-embed"])
def test_an_embedded_quote_is_main_text(name: str) -> None:
    quote = f"<blockquote class={name}><p>{EXCERPT.format(1)}</p></blockquote>"
    lines = lines_of(f"<div>{article()}{quote}<p>{ARTICLE[0]}</p></div>")
    assert lines == [*ARTICLE, EXCERPT.format(1), ARTICLE[0]]
