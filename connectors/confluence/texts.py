"""Texts of pages, fetched many in one call in the order in which they will be asked for."""

import asyncio
from collections.abc import Sequence

from connectors.confluence.model import ConfluenceApi, Kind, PageText
from core.errors import PermanentError

_TEXTS_A_CALL = 25


class TextLoader:
    """Fetches ahead: the first page of a group brings its whole group.

    At most the groups that are being read are held, so memory does not grow with the space.
    """

    def __init__(self, api: ConfluenceApi) -> None:
        self._api = api
        self._groups: dict[str, tuple[Kind, tuple[str, ...]]] = {}
        self._loading: dict[tuple[str, ...], asyncio.Task[dict[str, PageText]]] = {}
        self._left: dict[tuple[str, ...], set[str]] = {}

    def plan(self, ids: Sequence[str], kind: Kind) -> None:
        """Announce pages that will be asked for about in this order; several make a group."""
        for start in range(0, len(ids), _TEXTS_A_CALL):
            group = tuple(ids[start : start + _TEXTS_A_CALL])
            if len(group) > 1:
                self._groups |= dict.fromkeys(group, (kind, group))

    async def get(self, page_id: str) -> PageText | None:
        """Return an announced page's text; None when it has to be fetched by itself.

        Raises:
            TransientError: The site did not answer.
        """
        planned = self._groups.pop(page_id, None)
        if planned is None:
            return None
        kind, group = planned
        task = self._loading.get(group)
        if task is None:
            task = asyncio.create_task(self._load(kind, group))
            self._loading[group] = task
            self._left[group] = set(group)
        try:
            return (await asyncio.shield(task)).pop(page_id, None)
        finally:
            self._left[group].discard(page_id)
            if not self._left[group]:
                del self._left[group], self._loading[group]

    async def close(self) -> None:
        """Stop fetching."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._loading.clear()
        self._left.clear()
        self._groups.clear()

    async def _load(self, kind: Kind, group: tuple[str, ...]) -> dict[str, PageText]:
        try:
            return dict(await self._api.fetch_texts(group, kind))
        except PermanentError:
            # One broken page can break the whole call; each is then fetched by itself.
            return {}
