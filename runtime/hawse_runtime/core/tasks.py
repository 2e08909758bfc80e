"""A runtime's tasks. An exception in a task is a bug: it is logged, and the other tasks continue."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """A task group that tolerates exceptions. In a plain `TaskGroup`, the first exception would cancel all other
    tasks.
    """

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task in the group. The caller can cancel it."""
        return self._group.create_task(_guarded(work))


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("! a task failed")
