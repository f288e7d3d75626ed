"""How often is the date of publication right, beside another extractor?

    python bench/dates.py [--pages N] [--worst N]

Generates pages in the manner of publishing systems, in twelve languages: with and without metadata,
in several time zones, with dates in the forms of CLDR (by Babel). Around the text are dates that
belong to something else: today's, those of comments, teasers, events and files. The right day is
the one that the page shows to its readers, or none. Everything that a page has is chosen by a
generator that knows nothing of the extractors.

Prints the shares of right, wrong and missing dates: wrong is any other day than the right one,
missing is none where there is one. The cost is CPU ms per page with parsing.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from importlib.util import find_spec
from typing import NamedTuple

from babel.dates import format_date
from harness import Options, report
from rich.console import Console
from rich.table import Table

from gossamer.parse.page_parsing import parse_response

TODAY = datetime(2026, 11, 28, 12, tzinfo=UTC)
URL = "https://example.org"
LANGUAGES = {
    # locale: time zone, and what themes of publishing systems say in it:
    # posted on, updated, by, comments, related
    "en_US": (-5, "Posted on", "Last updated:", "By", "Comments", "Related stories"),
    "en_GB": (0, "Published", "Updated", "by", "Comments", "More news"),
    "de_DE": (1, "Veröffentlicht am", "Zuletzt aktualisiert:", "Von", "Kommentare", "Mehr dazu"),
    "fr_FR": (1, "Publié le", "Mis à jour le", "Par", "Commentaires", "Lire aussi"),
    "es_ES": (1, "Publicado el", "Actualizado:", "Por", "Comentarios", "Relacionado"),
    "it_IT": (1, "Pubblicato il", "Aggiornato il", "di", "Commenti", "Leggi anche"),
    "pt_BR": (-3, "Publicado em", "Atualizado em", "Por", "Comentários", "Veja também"),
    "nl_NL": (1, "Geplaatst op", "Laatst bijgewerkt:", "door", "Reacties", "Lees ook"),
    "pl_PL": (1, "Opublikowano", "Aktualizacja:", "Autor:", "Komentarze", "Czytaj też"),
    "ru_RU": (3, "Опубликовано", "Обновлено:", "Автор:", "Комментарии", "Читайте также"),
    "tr_TR": (3, "Yayın tarihi:", "Son güncelleme:", "Yazar:", "Yorumlar", "İlgili haberler"),
    "ja_JP": (9, "公開日：", "最終更新日：", "著者：", "コメント", "関連記事"),
    "zh_CN": (8, "发布时间：", "更新时间：", "作者：", "评论", "相关新闻"),
}
SYLLABLES = "ba de ki lo mu na pe ri so tu va le mi ro san ter lin gor das vel"
CYRILLIC = "ба де ки ло му на пе ри со ту ва ле ми ро сан тер лин гор дас вел"
HAN = "港湾船長修理工事海岸風雨灯台町村市民学校橋川山森道"
NAMES = ["Ann Lee", "Jan Kowal", "Marie Dupont", "José Silva", "Eva Braun-Roth", "Li Wei"]


class Page(NamedTuple):
    kind: str
    url: str
    html: str
    right: date | None


class Writer:
    """What all templates use: words, dates and things that are around an article."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  # reproducible
        self.locale = self.random.choice(list(LANGUAGES))
        hours, self.posted, self.updated, self.by, self.comments, self.related = LANGUAGES[
            self.locale
        ]
        self.zone = timezone(timedelta(hours=hours))
        days = self.random.randrange(30, 7_000)
        minutes = self.random.randrange(1_440)
        self.at = (TODAY - timedelta(days=days, minutes=minutes)).astimezone(self.zone)
        self.changed = self.at + timedelta(days=self.random.randrange(1, 20))
        self.title = self.words(5).capitalize()
        self.site = self.words(2).title()
        self.form = self.random.choice(["full", "long", "medium", "numbers"])
        self.author = self.random.choice(NAMES)

    def words(self, count: int) -> str:
        pick = self.random.choice
        if self.locale[:2] in ("ja", "zh"):
            return "".join(pick(HAN) for _ in range(2 * count))
        parts = (CYRILLIC if self.locale[:2] == "ru" else SYLLABLES).split()
        return " ".join("".join(pick(parts) for _ in range(pick([1, 2, 3]))) for _ in range(count))

    def sentence(self) -> str:
        stop = "。" if self.locale[:2] in ("ja", "zh") else "."
        return self.words(self.random.randrange(8, 16)).capitalize() + stop

    def paragraph(self) -> str:
        text = [self.sentence() for _ in range(self.random.randrange(3, 7))]
        if self.random.random() < 0.3:  # an event
            day = self.written(self.other(), "long")
            text.insert(1, f"{self.words(4)} {day} {self.words(6)}.")
        return f"<p>{' '.join(text)}</p>"

    def text(self) -> str:
        return "".join(self.paragraph() for _ in range(self.random.randrange(3, 8)))

    def other(self) -> date:
        return (TODAY - timedelta(days=self.random.randrange(1, 8_000))).date()

    def written(self, day: date, form: str | None = None) -> str:
        form = form or self.form
        if form != "numbers":
            return format_date(day, form, locale=self.locale)
        y, m, d = day.year, day.month, day.day
        return {
            "en_US": f"{m:02}/{d:02}/{y}",
            "en_GB": f"{d:02}-{day:%b}-{y}",
            "ja_JP": f"{y}/{m:02}/{d:02}",
            "zh_CN": f"{y}-{m:02}-{d:02} {self.at:%H:%M}",
            "nl_NL": f"{d:02}-{m:02}-{y}",
            "fr_FR": f"{d:02}/{m:02}/{y} à {self.at:%Hh%M}",
            "es_ES": f"{d:02}/{m:02}/{y}",
            "it_IT": f"{d:02}/{m:02}/{y}",
            "pt_BR": f"{d:02}/{m:02}/{y} às {self.at:%Hh%M}",
        }.get(self.locale, f"{d:02}.{m:02}.{y}, {self.at:%H:%M}")

    def machine(self, at: datetime) -> str:
        """Write an instant for programs: in the local zone, or in UTC."""
        kind = self.random.randrange(3)
        if kind == 0:
            return at.isoformat(timespec="seconds")
        if kind == 1:
            return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return at.date().isoformat()

    def head(self, declared: str) -> str:
        parts = [f"<title>{self.title} | {self.site}</title><meta charset=utf-8>"]
        if declared == "jsonld":
            work = {
                "@context": "https://schema.org",
                "@type": "NewsArticle",
                "headline": self.title,
                "datePublished": self.machine(self.at),
                "dateModified": self.machine(self.changed),
            }
            parts.append(f"<script type='application/ld+json'>{json.dumps(work)}</script>")
        if declared == "og":
            at = self.machine(self.at)
            parts.append(f"<meta property='article:published_time' content='{at}'>")
        return "".join(parts)

    def page(self, body: str, declared: str = "") -> str:
        language = self.random.choice([self.locale.replace("_", "-"), self.locale[:2]])
        if self.locale == "en_US":
            language = "en-US"
        return (
            f"<!doctype html><html lang={language}><head>{self.head(declared)}</head><body>{body}"
        )

    def masthead(self) -> str:
        today = self.written(TODAY.date(), "full")
        place = self.random.choice(
            [
                "<div id=topbar><span>{}</span></div>",
                "<header><time>{}</time></header>",
                "<p>{}</p>",
            ]
        )
        shown = place.format(today) if self.random.random() < 0.4 else ""
        items = "".join(f"<li><a href='/{n}'>{self.words(1)}</a></li>" for n in range(6))
        return f"{shown}<div class=logo><a href='/'>{self.site}</a></div><ul id=menu>{items}</ul>"

    def comment_list(self) -> str:
        if self.random.random() < 0.5:
            return ""
        form = self.random.choice(
            [
                "<li class=comment><cite>{}</cite> <time datetime={}>{}</time><p>{}</p></li>",
                "<div class=comment-body><b>{}</b> <span data-at={}>{}</span><p>{}</p></div>",
                "<article><b>{}</b> <time datetime={}>{}</time><p>{}</p></article>",
                "<div><b>{}</b><br><small id={}>{}</small><p>{}</p></div>",
            ]
        )
        entries = ""
        for _ in range(self.random.randrange(1, 5)):
            day = (self.at + timedelta(days=self.random.randrange(1, 25))).date()
            who = self.random.choice(NAMES)
            entries += form.format(who, day.isoformat(), self.written(day), self.sentence())
        return f"<section id=comments><h2>{self.comments}</h2>{entries}</section>"

    def teasers(self) -> str:
        form = self.random.choice(
            [
                "<li><a href='/o{n}'>{title}</a> <time datetime={iso}>{day}</time></li>",
                "<div class=item><h3><a href='/o{n}'>{title}</a></h3><span>{day}</span></div>",
                "<article><h4><a href='/o{n}'>{title}</a></h4><p class=date>{day}</p></article>",
            ]
        )
        place = self.random.choice(["aside", "div", "section"])
        items = ""
        for n in range(self.random.randrange(1, 6)):
            day = self.other()
            items += form.format(n=n, title=self.words(5), iso=day, day=self.written(day))
        return f"<{place}><h3>{self.related}</h3>{items}</{place}>"

    def around(self, article: str) -> str:
        footer = f"<footer>© {TODAY.year} {self.site}</footer>"
        return self.masthead() + article + self.comment_list() + self.teasers() + footer


def wordpress(w: Writer) -> str:
    iso = self_iso(w)
    return f"""<article class="post type-post hentry"><header class=entry-header>
        <h1 class=entry-title>{w.title}</h1><div class=entry-meta><span class=posted-on>{w.posted}
        <a href=/p rel=bookmark><time class="entry-date published" datetime="{iso}">
        {w.written(w.at.date())}</time><time class=updated datetime="{w.changed.isoformat()}">
        {w.written(w.changed.date())}</time></a></span>
        <span class=byline>{w.by} <a href=/a>{w.author}</a></span></div></header>
        <div class=entry-content>{w.text()}</div></article>"""


def self_iso(w: Writer) -> str:
    return w.at.isoformat(timespec="seconds")


def classic(w: Writer) -> str:
    return f"""<div class=post><h2 class=title>{w.title}</h2><p class=meta>{w.posted}
        {w.written(w.at.date())} {w.by} {w.author} | <a href=#c>3 {w.comments}</a></p>
        <div class=entry>{w.text()}</div></div>"""


def blogger(w: Writer) -> str:
    return f"""<div class=date-outer><h2 class=date-header><span>{w.written(w.at.date(), "full")}
        </span></h2><div class=post><h3 class=post-title>{w.title}</h3>
        <div class=post-body>{w.text()}</div></div></div>"""


def newspaper(w: Writer) -> str:
    return f"""<main><article><p class=kicker><a href=/n>{w.words(1)}</a></p><h1>{w.title}</h1>
        <p class=lead>{w.sentence()}</p><div class=byline>{w.by} {w.author}</div>
        <div class=timestamp>{w.written(w.at.date())}</div>{w.text()}</article></main>"""


def both_dates(w: Writer) -> str:
    return f"""<main><h1>{w.title}</h1><div class=info>{w.posted} {w.written(w.at.date())} -
        {w.updated} {w.written(w.changed.date())}</div>{w.text()}</main>"""


def chinese_portal(w: Writer) -> str:
    return f"""<div class=wrap><div class=content><h1>{w.title}</h1><div class=info>
        <span>{w.posted}{w.written(w.at.date(), "numbers")}</span><span>{w.by}{w.author}</span>
        </div><div class=txt>{w.text()}</div></div></div>"""


def drupal(w: Writer) -> str:
    return f"""<div class="node node-article"><h1 class=page-title>{w.title}</h1>
        <div class=submitted>{w.by} <span>{w.author}</span>, {w.written(w.at.date())}</div>
        <div class=field-body>{w.text()}</div></div>"""


def joomla(w: Writer) -> str:
    return f"""<div class=item-page><div class=page-header><h2>{w.title}</h2></div>
        <dl class=article-info><dt>Details</dt><dd class=createdby>{w.by} {w.author}</dd>
        <dd class=published>{w.posted} {w.written(w.at.date())}</dd></dl>{w.text()}</div>"""


def ghost(w: Writer) -> str:
    return f"""<article class=gh-article><header><h1>{w.title}</h1><section>
        <h4><a href=/a>{w.author}</a></h4><time datetime={w.at.date()}>
        {w.written(w.at.date(), "medium")}</time> <span>— 5 min</span></section></header>
        <section class=gh-content>{w.text()}</section></article>"""


def tables(w: Writer) -> str:
    return f"""<table width=700><tr><td colspan=2><font size=5><b><h1>{w.title}</h1></b></font>
        <tr><td><font size=1>{w.written(w.at.date())}</font><br>{w.text()}
        <td>{w.words(9)}</table>"""


def release(w: Writer) -> str:
    return f"""<div id=content><p>{w.written(w.at.date())}</p><h1>{w.title}</h1>
        <p><b>{w.sentence()}</b></p>{w.text()}</div>"""


def signed(w: Writer) -> str:
    return f"""<main><h1>{w.title}</h1>{w.text()}
        <p class=foot-note>{w.posted} {w.written(w.at.date())}, {w.author}</p></main>"""


def labelled(w: Writer) -> str:
    return f"""<main><h1>{w.title}</h1><dl><dt>{w.posted.rstrip(":：")}</dt>
        <dd>{w.written(w.at.date())}</dd><dt>{w.updated}</dt>
        <dd>{w.written(w.changed.date())}</dd></dl>{w.text()}</main>"""


def undated(w: Writer) -> str:
    return f"<main><article><h1>{w.title}</h1>{w.text()}</article></main>"


def changed_only(w: Writer) -> str:
    return f"""<main><h1>{w.title}</h1>{w.text()}
        <p id=lastmod>{w.updated} {w.written(w.changed.date())}</p></main>"""


def front_page(w: Writer) -> str:
    items = "".join(
        f"<article><h2><a href='/{n}'>{w.words(5)}</a></h2><time datetime={day}>{w.written(day)}"
        f"</time><p>{w.sentence()}</p></article>"
        for n in range(8)
        if (day := w.other())
    )
    return f"<main><h1>{w.title}</h1>{items}</main>"


def files(w: Writer) -> str:
    rows = "".join(
        f"<tr><td><a href='f{n}.zip'>f{n}.zip</a><td>{w.other()} 10:2{n}<td>{n}M" for n in range(6)
    )
    return f"<h1>{w.title}</h1><table><tr><th>Name<th>Date<th>Size{rows}</table>"


def preformatted_files(w: Writer) -> str:
    rows = "\n".join(
        f"<a href='f{n}'>f{n}</a>   {w.other():%d-%b-%Y} 10:20   {n}K" for n in range(6)
    )
    return f"<h1>{w.title}</h1><hr><pre>{rows}</pre><hr>"


Template = Callable[[Writer], str]
DATED: list[Template] = [
    *(wordpress, classic, blogger, newspaper, both_dates, chinese_portal, drupal, joomla, ghost),
    *(tables, release, signed, labelled),
]
UNDATED: list[Template] = [undated, changed_only, front_page, files, preformatted_files]


def generate(seed: int) -> Page:
    w = Writer(seed)
    url = f"{URL}/{seed}.html"
    if w.random.random() < 0.2:
        template = w.random.choice(UNDATED)
        return Page(template.__name__, url, w.page(w.around(template(w))), None)
    template = w.random.choice(DATED)
    declared = w.random.choice(["", "", "jsonld", "og"])
    if not declared and w.random.random() < 0.1:
        url = f"{URL}/{w.at:%Y/%m/%d}/{seed}"
    kind = f"{template.__name__}{' with metadata' * bool(declared)}"
    return Page(kind, url, w.page(w.around(template(w)), declared), w.at.date())


def ours(page: Page) -> date | None:
    headers = {"content-type": "text/html; charset=utf-8"}
    found = parse_response(page.url, headers, page.html.encode(), fetched=TODAY)
    return found.published and found.published.date()


def htmldate(page: Page) -> date | None:
    from htmldate import find_date

    today = TODAY.date().isoformat()
    found = find_date(
        page.html, original_date=True, url=page.url, min_date="1990-01-01", max_date=today
    )
    return None if found is None else date.fromisoformat(found)


def outcome(found: date | None, right: date | None) -> str:
    if found == right:
        return "right"
    return "missing" if found is None else "wrong"


def main() -> None:
    parser = Options(__doc__, pages=(1_000, 30))
    parser.add_argument("--worst", type=int, default=0, help="kinds of pages to list")
    options = parser.read()
    pages = [generate(seed) for seed in range(options.pages)]
    extractors = {"Gossamer": ours}
    if find_spec("htmldate"):
        extractors["htmldate"] = htmldate
    table = Table(
        "extractor", "right", "wrong", "missing", "ms per page", title=f"{len(pages)} pages"
    )
    shares = {}
    for name, extract in extractors.items():
        start = time.process_time()
        found = [extract(page) for page in pages]
        cost = 1_000 * (time.process_time() - start) / len(pages)
        outcomes = [outcome(got, page.right) for got, page in zip(found, pages, strict=True)]
        counts = Counter(outcomes)
        shares[name] = {each: counts[each] / len(pages) for each in ("right", "wrong", "missing")}
        table.add_row(name, *(f"{share:.1%}" for share in shares[name].values()), f"{cost:.2f}")
        if name == "Gossamer" and options.worst:
            bad = Counter(
                f"{result}: {page.kind}"
                for page, result in zip(pages, outcomes, strict=True)
                if result != "right"
            )
            for kind, count in bad.most_common(options.worst):
                print(count, kind)
    Console().print(table)
    best = shares["Gossamer"]
    report(f"{best['right']:.1%} of dates right, {best['wrong']:.1%} wrong")


if __name__ == "__main__":
    main()
