"""Pages whose language a filter rule refuses: they get a document that is not indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gossamer.rules.filter_rules.recipe import index_of
from gossamer.tables.outcomes import FILTERED

if TYPE_CHECKING:
    from gossamer.parse.page import ParsedPage
    from gossamer.parse.step.stored import ResponseRow
    from gossamer.rules.filter_rules.recipe import RuleFile


def judged(rules: RuleFile | None, answer: ResponseRow, page: ParsedPage) -> ParsedPage:
    """The page; if a rule refuses its language, with an outcome that says so. Its links stay."""
    if rules is None or not rules.has_languages or page.outcome != "parsed":
        return page
    index = index_of(rules)
    refused = index.refusing_language(answer.url, answer.content_type, page.language)
    return page if refused is None else replace(page, outcome=FILTERED, detail=refused.text)
