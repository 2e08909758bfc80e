"""Collects refusals and traffic counters from a gateway's proxies.

A proxy keeps each refusal until a gateway has logged it, so refusals aren't lost while no gateway is running. A proxy
sends its refusals to only one gateway at a time, so no refusal is logged twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from hawse.api.egress import EgressRefusal
from hawse.link.sockets import socket_address
from hawse_gateway.egress.refusals import Answer, Ask, Counters

log = logging.getLogger(__name__)

POLL: Final = 2.0  # seconds between searches for proxies, because other gateways may have started some
ANSWER_MAX: Final = 1 << 20  # bytes

OnRefusal = Callable[[str, EgressRefusal], Awaitable[None]]


async def _drop(unit: str, refusal: EgressRefusal) -> None:
    """Ignore refusals."""


class EgressFollower:
    """Follows all of a provider's proxies while `run` is running.

    Attributes:
        lost: The number of refusals dropped by the proxies.
    """

    def __init__(
        self,
        sockets: Callable[[], Mapping[str, Path]],
        *,
        on_refusal: OnRefusal | None = None,
        poll: float = POLL,
    ) -> None:
        """Create a follower.

        Args:
            sockets: Returns each proxy's control socket, keyed by unit. Some of the proxies may have exited. Blocks.
            on_refusal: Called for each refusal, with the unit and the refusal. Must not raise. None ignores refusals.
            poll: Seconds between searches for proxies.
        """
        self._on_refusal = on_refusal or _drop
        self._sockets = sockets
        self._poll = poll
        self._current: dict[str, Answer] = {}
        self._ended = Counters()
        self._lost_by_ended = 0

    @property
    def lost(self) -> int:
        return self._lost_by_ended + sum(answer.lost for answer in self._current.values())

    def totals(self) -> Counters:
        """Return totals for all proxies. `connections` and `memory` are current values."""
        total = msgspec.structs.replace(self._ended)
        for answer in self._current.values():
            _add(total, answer.counters)
            total.connections += answer.counters.connections
            total.memory += answer.counters.memory
        return total

    async def run(self) -> None:
        """Follow the proxies until cancelled."""
        following: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                for unit, path in (await asyncio.to_thread(self._look)).items():
                    if unit not in following or following[unit].done():
                        following[unit] = tasks.create_task(self._follow(unit, path), name=f"egress {unit}")
                following = {unit: task for unit, task in following.items() if not task.done()}
                await asyncio.sleep(self._poll)

    def _look(self) -> Mapping[str, Path]:
        try:
            return self._sockets()
        except OSError as error:  # for example, if no descriptor is free; the next search may succeed
            log.error("! cannot search for egress proxies: %s", error)
            return {}

    async def _follow(self, unit: str, path: Path) -> None:
        """Follow one proxy until it exits."""
        try:
            with socket_address(path) as address:
                reader, writer = await asyncio.open_unix_connection(address, limit=ANSWER_MAX)
        except OSError:
            return  # the proxy has exited or isn't listening yet
        try:
            ask = Ask()
            while True:
                writer.write(msgspec.json.encode(ask) + b"\n")
                answer = msgspec.json.decode(await reader.readuntil(b"\n"), type=Answer)
                self._current[unit] = answer
                for refusal in answer.refusals:
                    await self._on_refusal(unit, refusal)
                ask = Ask(written=answer.last)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except (ValueError, asyncio.LimitOverrunError, msgspec.MsgspecError) as error:
            log.error("! the egress proxy of %s: %s", unit, error)
        finally:
            writer.transport.abort()
            if (last := self._current.pop(unit, None)) is not None:
                _add(self._ended, last.counters)
                self._lost_by_ended += last.lost


def _add(total: Counters, more: Counters) -> None:
    total.requests += more.requests
    total.refused += more.refused
    total.sent += more.sent
    total.received += more.received
    total.cpu += more.cpu
