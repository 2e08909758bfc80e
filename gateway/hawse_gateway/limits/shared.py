"""Limits that gateways with one store apply together.

No call waits for it: each gateway counts in its own memory. A task tells the other gateways and corrects what is
counted here, at most once in `PERIOD`, and only while callers with a limit do something. Without the store, each
gateway goes on alone.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from hawse_gateway.limits.guesses import Guesses
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.limits.rates import RateTable
from hawse_gateway.store.base import BucketSpending, LimitStore, StoreError

log = logging.getLogger(__name__)

PERIOD: Final = 0.5  # s from one exchange to the next
IDLE: Final = 5.0  # s from one exchange to the next while nobody holds anything
LAST: Final = 1.0  # s for the last report
FORGET: Final = 6.0  # s without the store after which what the others held does not count any more
BUCKETS: Final = 1000  # of one exchange: Redis does nothing else meanwhile
PAIRS: Final = 1000  # credentials of one exchange

Held = list[tuple[str, str, str, int]]  # what is held, by whom, its name, how many


class SharedLimits:
    """The exchange with the other gateways."""

    def __init__(
        self,
        store: LimitStore,
        gateway: str,
        *,
        tables: Mapping[str, RateTable],
        held: Sequence[HeldLimit] = (),
        guesses: Guesses | None = None,
        period: float = PERIOD,
        forget: float = FORGET,
    ) -> None:
        """Prepare the exchange; `run` does it.

        Args:
            store: Where gateways report.
            gateway: The name of this gateway, which no other has.
            tables: Token buckets, by a name that is the same at all gateways.
            held: What callers hold.
            guesses: Wrong credentials. None: they are not limited.
            period: Seconds from one exchange to the next.
            forget: Seconds without the store after which what the others held does not count any more.
        """
        self._store = store
        self._gateway = gateway
        self._tables = dict(tables)
        self._held = [limit for limit in held if limit.limited]
        self._guesses = guesses
        self._period = period
        self._forget_after = forget
        self._wake = asyncio.Event()
        self._answered = time.monotonic()
        self._failed = False
        if guesses is not None:
            self._tables["guesses"] = guesses.wrong
            guesses.on_known = self._wake.set
        for table in self._tables.values():
            table.on_spent = self._wake.set
        for limit in self._held:
            limit.on_held = self._wake.set

    async def run(self) -> None:
        """Exchange reports until it is cancelled, while there is something to report or may be something to learn."""
        try:
            await self._run()
        finally:
            with suppress(StoreError, TimeoutError):  # clients that move to another gateway count there only
                async with asyncio.timeout(LAST):
                    await self._store.share(self._gateway, b"", [], [], [])

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(IDLE if self._held else None):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._exchange()
                self._failed = False
            except StoreError as error:
                if not self._failed:
                    log.warning("! limits are those of this gateway alone: %s", error)
                self._failed = True
                self._forget()
                self._wake.set()
            await asyncio.sleep(self._period)

    async def _exchange(self) -> None:
        spent = self._spent()
        held: Held = [(limit.what, *whose, count) for limit in self._held for whose, count in limit.held.items()]
        new, asked = ([], []) if self._guesses is None else (self._guesses.take_new(), self._guesses.take_asked())
        answer = await self._store.share(
            self._gateway,
            msgspec.json.encode(held) if held else b"",
            [_text(pair) for pair in new[:PAIRS]],
            [_text(pair) for pair in asked[:PAIRS]],
            [BucketSpending(f"{table}:{name}", rate, burst, amount) for table, name, rate, burst, amount in spent],
        )
        self._answered = time.monotonic()
        for (table, name, *_), level in zip(spent, answer.levels, strict=True):
            self._tables[table].correct(name, level)
        if self._guesses is not None:
            for pair, known in zip(asked[:PAIRS], answer.known, strict=True):
                if known:
                    self._guesses.know(pair)
        self._count(answer.held)
        if held or answer.held or len(spent) == BUCKETS:
            self._wake.set()  # what the others hold may change

    def _spent(self) -> list[tuple[str, str, float, float, float]]:
        """Return what was taken from buckets: the table, the name, the rate, the burst and how much."""
        found: list[tuple[str, str, float, float, float]] = []
        for key, table in self._tables.items():
            for name, amount in table.spent(BUCKETS - len(found)):
                found.append((key, name, table.rate, table.burst, amount))
        return found

    def _count(self, reports: Sequence[bytes]) -> None:
        """Note what the others hold."""
        others: dict[str, Counter[tuple[str, str]]] = {limit.what: Counter() for limit in self._held}
        for report in reports:
            try:
                found = msgspec.json.decode(report, type=Held)
            except msgspec.MsgspecError:  # of a later version
                continue
            for what, who, name, count in found:
                if what in others:
                    others[what][who, name] += count
        for limit in self._held:
            limit.others = others[limit.what]

    def _forget(self) -> None:
        """What the others held long ago does not count."""
        if time.monotonic() - self._answered > self._forget_after:
            self._count([])


def _text(pair: tuple[str, str]) -> str:
    return " ".join(pair)
