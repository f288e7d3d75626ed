"""The step `boilerplate`: determine the lines of hosts, and describe their pages without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.dedup.boilerplate.host_lines import count_documents, determine_lines
from gossamer.dedup.boilerplate.own_text_rows import missing_own_texts
from gossamer.state import lsm, unread
from gossamer.tables import BOILERPLATE, COUNTED, DOCUMENTS, HOST_DOCUMENTS, OWN_TEXTS

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

INPUTS = (DOCUMENTS,)


def run(work: Workspace) -> StepReport:
    with work.step("boilerplate", work.round) as draft:
        tables = BOILERPLATE, OWN_TEXTS, HOST_DOCUMENTS
        damaged = any(work.store.damaged(table.name) for table in tables)
        since = unread.unread_inputs(work, COUNTED, INPUTS, anew=damaged)
        known, described = (
            work.engine.read([], table.ddl) if damaged else lsm.current(work, table)
            for table in tables[:2]
        )
        changed, number = work.scratch(count_documents(work, since))
        lsm.draft_rows(work, draft, HOST_DOCUMENTS, changed, number, anew=since.anew)
        known, before = work.scratch(
            known.join(changed.select("host"), on="host", how="left_semi"), BOILERPLATE.ddl
        )
        hosts, number = work.engine.read([], BOILERPLATE.ddl), 0
        if (rows := determine_lines(work, known, changed)) is not None:
            hosts, number = work.scratch(rows, BOILERPLATE.ddl)
        draft.counts["hosts"] = number
        lsm.draft_rows(work, draft, BOILERPLATE, hosts, number, anew=damaged)
        texts, number = work.engine.read([], OWN_TEXTS.ddl), 0
        if before or draft.counts["hosts"]:
            texts, number = missing_own_texts(work, since, known, hosts, described)
        draft.counts["described"] = number
        lsm.draft_rows(work, draft, OWN_TEXTS, texts, number, anew=damaged)
        draft.replace[COUNTED.name] = unread.write_record(work, COUNTED, INPUTS)
    return draft.done
