"""Tasks of the runtime. A failed task is a bug: it is logged, and other tasks continue."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """A task group that tolerates failures. In a plain one, the first failure would cancel the whole runtime."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task of the group. It can be cancelled."""
        return self._group.create_task(_guarded(work))


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("! a task failed")
