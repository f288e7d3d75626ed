"""boilerplate: documents → boilerplate, own_texts. Which lines of main texts belong to their site?

    host_lines.py   the lines that stand on many pages of a host
    own_texts.py    what the pages of such hosts say without these lines

An extractor sees one page, so it may take for main text what a site repeats on all of them: members
that each class inherits, terms of use, a menu in prose. Only other pages of the site show it. Such
lines neither make pages similar (`dedup`) nor are shown in snippets while other passages have the
words of the query; and where the extractor itself was in doubt, they are not main text (`index`).

A host's lines are determined again when as many of its pages have changed as it had then. If they
changed sooner, so would all that depends on them: each of its pages would be compared and indexed
again. In between, only new documents are described.

Cost: a pass over the hosts of all documents, and over the URLs of those of hosts with boilerplate;
and over the main texts of what has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer import lsm
from gossamer.boilerplate.host_lines import determined
from gossamer.boilerplate.own_texts import own_texts
from gossamer.monitor import clear
from gossamer.tables import BOILERPLATE, OWN_TEXTS

if TYPE_CHECKING:
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace


def run(work: Workspace) -> StepReport:
    clear(work.root, "boilerplate")
    with work.step("boilerplate", work.round) as draft:
        tables = BOILERPLATE, OWN_TEXTS
        anew = any(work.store.damaged(table.name) for table in tables)
        known, described = (
            work.engine.read([], table.ddl) if anew else lsm.current(work, table)
            for table in tables
        )
        hosts, number = work.scratch(determined(work, known))
        draft.counts["hosts"] = number
        lsm.draft_rows(work, draft, BOILERPLATE, hosts, number, anew=anew)
        texts, number = own_texts(work, known, hosts, described)
        draft.counts["described"] = number
        lsm.draft_rows(work, draft, OWN_TEXTS, texts, number, anew=anew)
    return draft.done
