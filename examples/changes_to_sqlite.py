"""Keep a full-text table of SQLite like the index: changes_to_sqlite.py CRAWL DATABASE

Run it again after each harvest. Rows and cursor are committed together, so whenever it is killed,
no change is lost or applied twice.
"""

import sqlite3
import sys

from gossamer import Crawl
from gossamer.errors import ForgottenChanges

TABLES = """
CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, url TEXT UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (title, text);
CREATE TABLE IF NOT EXISTS reached (id INTEGER PRIMARY KEY, cursor TEXT);
"""
folder, path = sys.argv[1:]
store = sqlite3.connect(path)
run = store.execute


def follow(crawl: Crawl, since: str) -> None:
    for change, cursor, page in crawl.changes.each(since, texts=True):
        run("DELETE FROM texts WHERE rowid IN (SELECT id FROM pages WHERE url = ?)", [change.url])
        run("DELETE FROM pages WHERE url = ?", [change.url])
        if page is not None:
            run("INSERT INTO pages (url) VALUES (?)", [change.url])
            run("INSERT INTO texts VALUES (?, ?)", [page.title, page.text])
        run("REPLACE INTO reached VALUES (1, ?)", [cursor])
        store.commit()


store.executescript(TABLES)
with Crawl.open(folder) as crawl:
    try:
        follow(crawl, *(run("SELECT cursor FROM reached").fetchone() or [""]))
    except ForgottenChanges:  # it was not run for index.changes_days: begin again
        store.executescript("DELETE FROM texts; DELETE FROM pages;")
        follow(crawl, "")
