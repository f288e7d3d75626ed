"""The route for the changes of the index, harvest by harvest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.errors import ForgottenChanges, InvalidCursor
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.index.changes.reading import ChangeLog
    from gossamer.state.workspace import Workspace

USUAL_COUNT, MAX_COUNT = 100, 1_000


class Changing:
    def __init__(self, work: Workspace, log: ChangeLog) -> None:
        self._work, self._log = work, log

    def routes(self, kept_s: float) -> list[Route]:
        return [Route("/api/v1/changes", Guard("changes", kept_s=kept_s)(self.changes))]

    def changes(self, request: Request) -> Response:
        count = responses.number_parameter(request, "count", USUAL_COUNT)
        if not 1 <= count <= MAX_COUNT:
            raise HTTPException(400, f"count must be 1 to {MAX_COUNT}")
        site = responses.site_parameter(request).lower()
        self._work.store.refresh()
        try:
            since = self._log.cursor(request.query_params.get("since", ""))
            return responses.json(self._log.page(since, count, site))
        except InvalidCursor as error:
            raise HTTPException(400, str(error)) from None
        except ForgottenChanges as error:
            raise HTTPException(410, str(error)) from None
