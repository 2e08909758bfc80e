"""Starts sandboxes in advance, so that clients don't have to wait for a new sandbox to start.

A pool member is a sandbox that is hidden from clients. It has rows, and is driven and supervised like any other
sandbox. Claiming a member for a new sandbox takes a single write, which deletes the member's row, adds the new
sandbox's row with the member's unit, and changes the sandbox's id in the run. If two creations claim the same member,
one of the writes fails.
"""

import logging
import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from hawse.api.sandboxes import SandboxCreate
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.records import Rows, SandboxRecord
from hawse_gateway.sandboxes.requests import Creation, new_record
from hawse_gateway.sandboxes.templates import Templates
from hawse_gateway.store.base import ConflictError, Store
from hawse_gateway.store.clock import Clock

log = logging.getLogger(__name__)

MEMBER: Final = "p-"  # prefix for member ids; a claimed member's unit keeps its name


class Stock(NamedTuple):
    """One kind of pool member, and the number of members to keep ready.

    Attributes:
        params: The parameters that a new sandbox must have to claim one of these members.
        size: The number of members.
    """

    params: SandboxCreate
    size: int


def stocks(templates: Templates, size: int) -> list[Stock]:
    """Return a gateway's stocks: `size` sandboxes without a template, and each template's pool."""
    sizes: dict[str | None, int] = {name: template.pool for name, template in templates.by_name.items()}
    sizes[None] = size
    return [Stock(templates.resolve(SandboxCreate(template=name)), count) for name, count in sizes.items() if count]


class Pool:
    """Keeps the desired number of sandboxes, called members, ready for each stock.

    Attributes:
        size: The number of members to keep.
        claimed: The number of members claimed by this gateway.
        missed: The number of sandboxes that this gateway has created without claiming a member, although it has a pool.
    """

    def __init__(
        self, store: Store, index: SandboxIndex, driver: Driver, stocks: Sequence[Stock], *, provider: str, clock: Clock
    ) -> None:
        """Create an empty pool. `refill` fills it.

        Args:
            store: The store with the sandboxes' rows.
            index: Finds the members.
            driver: Starts and deletes the members.
            stocks: The stocks to keep. If an earlier gateway left members that match no stock, they are deleted.
            provider: The provider for stocks that don't name one.
            clock: The clock used for creation times.
        """
        self._store = store
        self._index = index
        self._driver = driver
        self._stocks = stocks
        self._provider = provider
        self._clock = clock
        self.size = sum(stock.size for stock in stocks)
        self.claimed = self.missed = 0

    @property
    def ready(self) -> int:
        """The number of members that can be claimed, by any gateway."""
        return sum(map(self._index.is_running, self._index.members))

    async def take(self, record: SandboxRecord) -> bool:
        """Claim a running member for a new sandbox.

        Args:
            record: The new sandbox's row, which has not been written yet.

        Returns:
            Whether a member was claimed and the row was written. False if no member matches or a sandbox with this id
            already exists.

        Raises:
            StoreError: The store is unavailable.
        """
        for found in await self._members() if self._stocks else ():
            if found.sandbox is None or found.live is None or not self._fits(found, record):
                continue
            member = found.sandbox.value
            adopted = msgspec.structs.replace(record, unit=member.unit, generation=member.generation, made=True)
            run = msgspec.structs.replace(found.live.value, sandbox=record.id)
            try:
                await self._store.write(found.sandbox.delete(), records.new(adopted), found.live.put(run))
            except ConflictError:
                continue  # the member was claimed for another sandbox, or the id is taken
            self.claimed += 1
            return True
        if self._stocks:
            self.missed += 1
        return False

    async def refill(self) -> None:
        """Start missing members, and delete failed and surplus members. Raises `StoreError`."""
        members = await self._members()
        for stock in self._stocks:
            sample = self._member(stock)
            mine = [found for found in members if _same_kind(found, sample)]
            usable = [found for found in mine if found.sandbox is not None and found.sandbox.value.wanted == "running"]
            kept = usable[: stock.size]
            failed = any(found.sandbox is not None and found.sandbox.value.failure is not None for found in mine)
            members = [found for found in members if found not in kept]
            for _ in range(0 if failed else stock.size - len(kept)):  # none after a failure, until the next sweep
                member = self._member(stock)
                await self._store.write(records.new(member))
                self._driver.settle(member.id)
        for found in members:
            assert found.sandbox is not None
            if found.sandbox.value.wanted != "deleted":
                await self._delete(found)

    async def give_up(self) -> bool:
        """Delete all members to free up capacity for a client's sandbox. Raises `StoreError`.

        Returns:
            Whether any member had a run.
        """
        members = await self._members()
        for found in members:
            await self._delete(found)
        running = [found.id for found in members if found.run is not None]
        await self._driver.ended(running)
        return bool(running)

    async def _members(self) -> list[Rows]:
        await self._index.current()
        rows = await records.read_many(self._store, self._index.members)
        return [found for found in rows.values() if found.sandbox is not None and found.sandbox.value.pool]

    def _fits(self, found: Rows, record: SandboxRecord) -> bool:
        assert found.sandbox is not None
        return found.sandbox.value.pool and _is_ready(found) and _same_kind(found, record)

    def _member(self, stock: Stock) -> SandboxRecord:
        """Return the row for a new member."""
        id = f"{MEMBER}{secrets.token_hex(8)}"
        params = msgspec.structs.replace(stock.params, keep_alive=True, timeout=None)
        creation = Creation(id=id, provider=params.provider or self._provider, asked=params, params=params)
        return msgspec.structs.replace(new_record(creation, self._clock.now(), id, 0.0), pool=True)

    async def _delete(self, found: Rows) -> None:
        assert found.sandbox is not None
        member = msgspec.structs.replace(found.sandbox.value, wanted="deleted")
        try:
            await self._store.write(found.sandbox.put(member))
        except ConflictError:
            return  # the member has been claimed in the meantime
        self._driver.settle(member.id)


def _is_ready(member: Rows) -> bool:
    assert member.sandbox is not None
    return member.sandbox.value.wanted == "running" and member.live is not None and member.live.value.state == "running"


def _same_kind(found: Rows, record: SandboxRecord) -> bool:
    """Return whether a member is of the kind that a new sandbox needs.

    Environment variables can differ, because the runtime gets them with its configuration. However, if the image's
    command is run, the variables must be equal, because the command was started with the member's variables.
    """
    assert found.sandbox is not None
    member = found.sandbox.value
    env = record.spec.env if record.spec.image_command else member.spec.env
    return member.provider == record.provider and member.spec == msgspec.structs.replace(record.spec, env=env)
