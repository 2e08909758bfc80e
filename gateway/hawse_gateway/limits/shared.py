"""Exchanges counts between gateways with the same store, so that limits apply to all of them together.

Calls don't wait for the exchange, because each gateway counts in its own memory. A task reports to the other gateways
and corrects the local counts, at most once per `PERIOD` and only while callers with limits are active. If the store is
unavailable, each gateway applies the limits on its own.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.limits.rates import RateTable
from hawse_gateway.store.base import BucketSpending, LimitStore, StoreError

log = logging.getLogger(__name__)

PERIOD: Final = 0.5  # seconds between two exchanges
IDLE: Final = 5.0  # seconds between two exchanges while all counts are zero
LAST: Final = 1.0  # seconds to spend sending the last report on exit
FORGET: Final = 6.0  # seconds without the store before other gateways' counts are dropped
BUCKETS: Final = 1000  # maximum number of buckets per exchange, which blocks all other requests to Redis
PAIRS: Final = 1000  # maximum number of credentials per exchange

Held = list[tuple[str, str, str, int]]  # kind of item, kind of subject, subject name, number of items


class SharedLimits:
    """Exchanges counts with other gateways."""

    def __init__(
        self,
        store: LimitStore,
        gateway: str,
        *,
        tables: Mapping[str, RateTable],
        held: Sequence[HeldLimit] = (),
        failed_attempts: FailedAttempts | None = None,
        period: float = PERIOD,
        forget: float = FORGET,
    ) -> None:
        """Prepare the exchange. Call `run` to perform it.

        Args:
            store: The store that the gateways share.
            gateway: This gateway's unique name.
            tables: Tables of token buckets, keyed by a name that is the same at all gateways.
            held: Limits on what callers hold, such as connections.
            failed_attempts: Counts wrong credentials. None if they are not limited.
            period: Seconds between two exchanges.
            forget: Seconds without the store before other gateways' counts are dropped.
        """
        self._store = store
        self._gateway = gateway
        self._tables = dict(tables)
        self._held = [limit for limit in held if limit.limited]
        self._failed_attempts = failed_attempts
        self._period = period
        self._forget_after = forget
        self._wake = asyncio.Event()
        self._answered = time.monotonic()
        self._failed = False
        if failed_attempts is not None:
            self._tables["guesses"] = failed_attempts.wrong
            failed_attempts.on_known = self._wake.set
        for table in self._tables.values():
            table.on_spent = self._wake.set
        for limit in self._held:
            limit.on_held = self._wake.set

    async def run(self) -> None:
        """Exchange counts whenever local counts change or other gateways may have reported theirs, until cancelled."""
        try:
            await self._run()
        finally:
            # This report withdraws the counts. Otherwise, clients that reconnect elsewhere would be counted twice.
            with suppress(StoreError, TimeoutError):
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
                    log.warning("! limits only count this gateway's clients: %s", error)
                self._failed = True
                self._forget()
                self._wake.set()
            await asyncio.sleep(self._period)

    async def _exchange(self) -> None:
        spent = self._spent()
        held: Held = [(limit.what, *whose, count) for limit in self._held for whose, count in limit.held.items()]
        new, asked = (
            ([], [])
            if self._failed_attempts is None
            else (self._failed_attempts.take_new(), self._failed_attempts.take_asked())
        )
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
        if self._failed_attempts is not None:
            for pair, known in zip(asked[:PAIRS], answer.known, strict=True):
                if known:
                    self._failed_attempts.know(pair)
        self._count(answer.held)
        if held or answer.held or len(spent) == BUCKETS:
            self._wake.set()  # keeps exchanging counts, because other gateways' counts can change

    def _spent(self) -> list[tuple[str, str, float, float, float]]:
        """Return each bucket's spending as a table name, bucket name, rate, burst and amount."""
        found: list[tuple[str, str, float, float, float]] = []
        for key, table in self._tables.items():
            for name, amount in table.spent(BUCKETS - len(found)):
                found.append((key, name, table.rate, table.burst, amount))
        return found

    def _count(self, reports: Sequence[bytes]) -> None:
        """Record other gateways' counts."""
        others: dict[str, Counter[tuple[str, str]]] = {limit.what: Counter() for limit in self._held}
        for report in reports:
            try:
                found = msgspec.json.decode(report, type=Held)
            except msgspec.MsgspecError:  # reports from newer versions are ignored
                continue
            for what, who, name, count in found:
                if what in others:
                    others[what][who, name] += count
        for limit in self._held:
            limit.others = others[limit.what]

    def _forget(self) -> None:
        """Drop other gateways' outdated counts."""
        if time.monotonic() - self._answered > self._forget_after:
            self._count([])


def _text(pair: tuple[str, str]) -> str:
    return " ".join(pair)
