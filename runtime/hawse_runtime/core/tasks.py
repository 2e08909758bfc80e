"""Tasks that belong to the runtime. A task that fails is a bug: it is logged, and ends no other task."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """A task group whose tasks may fail: in a plain one the first failure would cancel the whole runtime."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that belongs to the group. It may be cancelled."""
        return self._group.create_task(_guarded(work))


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("! a task failed")
