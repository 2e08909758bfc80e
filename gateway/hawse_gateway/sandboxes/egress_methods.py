"""Handlers for `egress.*`: manage a sandbox's egress policy, and report its proxy's decisions."""

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Sequence
from contextlib import aclosing
from typing import Final

import msgspec

from hawse.api.egress import (
    EgressGet,
    EgressInfo,
    EgressLost,
    EgressPolicy,
    EgressRequest,
    EgressSet,
    EgressWatch,
)
from hawse.api.rights import ALL
from hawse.api.sandboxes import Network
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.errors import typed
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError, Principal
from hawse_gateway.limits.in_progress import in_progress
from hawse_gateway.sandboxes.egress import SandboxEgress
from hawse_gateway.sandboxes.records import SandboxRecord

QUEUE: Final = 512  # maximum number of decisions queued for a slow client
WATCHES: Final = 32  # per user
POLL: Final = 1.0  # seconds between checks for a proxy, because no event is sent when another gateway starts one
NOT_FILTERED: Final = HawseError("invalid_params", "the network of this sandbox is not `filtered`")


class EgressMethods:
    """Handlers for `egress.*`.

    Args:
        egress: The sandboxes' policies.
        tasks: The task group for watches.
        user_networks: The networks that users with limited permissions can choose. None means all.
        poll: Seconds between checks for a proxy that is not running.
    """

    def __init__(
        self,
        egress: SandboxEgress,
        tasks: asyncio.TaskGroup,
        *,
        user_networks: Collection[Network] | None = None,
        poll: float = POLL,
    ) -> None:
        self._egress = egress
        self._tasks = tasks
        self._user_networks = user_networks
        self._poll = poll
        self._watches: Counter[str] = Counter()

    @handles(EgressGet)
    async def get(self, params: EgressGet) -> EgressInfo:
        return await self._describe(await self._egress.record(params.id))

    @handles(EgressSet, caller=True)
    async def set_(self, params: EgressSet, caller: Principal) -> EgressInfo:
        allowed = self._user_networks
        if allowed is not None and "filtered" not in allowed and ALL not in caller.rights:
            raise HawseError("forbidden", "this gateway does not let users choose what a filtered network lets through")

        def change(record: SandboxRecord) -> SandboxRecord:
            if record.spec.network != "filtered":
                raise NOT_FILTERED
            old = record.spec.egress or EgressPolicy()
            names = old.secrets if params.secrets is None else params.secrets
            policy = EgressPolicy(allow=params.allow, deny=params.deny, secrets=names)
            grants = self._egress.grants.check(policy, caller, None)
            spec = msgspec.structs.replace(record.spec, egress=policy)
            return msgspec.structs.replace(record, spec=spec, grants=grants)

        return await self._describe(await self._egress.change(params.id, change))

    @serves(EgressWatch)
    def watch(self, call: ServerCall, params: EgressWatch) -> None:
        if self._watches[call.principal.id] >= WATCHES:
            raise HawseError("limit_exceeded", f"each user can have at most {WATCHES} watches")
        stream = EgressWatchStream(call)
        call.serve(stream)
        stream.task = self._tasks.create_task(self._follow(stream, params, call.principal.id), name="egress.watch")

    async def _follow(self, stream: "EgressWatchStream", params: EgressWatch, user: str) -> None:
        """Follow a sandbox's proxies, one after the other, until the call is closed."""
        try:
            with in_progress(self._watches, user):
                while True:
                    record = await self._egress.record(params.id)
                    if record.spec.network != "filtered":
                        raise NOT_FILTERED
                    async with aclosing(self._egress.watch(record, allowed=params.allowed)) as batches:
                        again = True  # the first batch contains recent refusals, which may already have been sent
                        async for requests in batches:
                            stream.add(requests, again=again)
                            again = False
                            stream.live()
                    stream.live()
                    await asyncio.sleep(self._poll)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            stream.fail(typed(error))

    async def _describe(self, record: SandboxRecord) -> EgressInfo:
        policy = record.spec.egress or EgressPolicy()
        secrets = self._egress.grants.effective(record).secrets
        info = EgressInfo(
            id=record.id,
            filtered=record.spec.network == "filtered",
            allow=policy.allow,
            deny=policy.deny,
            secrets=secrets,
            withheld=[name for name in policy.secrets if name not in secrets],
        )
        status = await self._egress.status(record) if info.filtered else None
        if status is None:
            return info
        done = msgspec.structs.asdict(status.counters)
        return msgspec.structs.replace(info, running=True, recent=status.recent, **done)


class EgressWatchStream(OutputOnlyStream):
    """The stream for one watch. A slow client misses some decisions, and receives their number instead."""

    def __init__(self, call: ServerCall) -> None:
        super().__init__(call)
        self.task: asyncio.Task[None] | None = None
        self._waiting: deque[EgressRequest] = deque()
        self._lost = 0
        self._latest = 0.0  # time of the latest decision, used to skip decisions that a proxy repeats
        self._live: bool | None = None  # whether `live` has been sent; None if it must not be sent yet
        self._error: HawseError | None = None

    def add(self, requests: Sequence[EgressRequest | EgressLost], *, again: bool) -> None:
        """Send decisions as soon as the client's credit allows it.

        Args:
            requests: The decisions.
            again: Whether `requests` may contain decisions that were already sent.
        """
        before = self._latest
        for request in requests:
            if isinstance(request, EgressLost):
                self._lost += request.count
                continue
            self._latest = max(self._latest, request.time)
            if again and request.time <= before:
                continue
            if len(self._waiting) >= QUEUE:
                self._lost += 1
            else:
                self._waiting.append(request)
        self.wake()

    def live(self) -> None:
        """Send `live` once, after the queued decisions."""
        if self._live is None:
            self._live = False
            self.wake()

    def fail(self, error: HawseError) -> None:
        """End the call with an error, after the queued decisions."""
        self._error = error
        self.wake()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if connection.window(ch) <= 0:
            return False
        if self._waiting:
            connection.send_event(ch, "request", self._waiting.popleft())
            return True
        if self._lost:
            connection.send_event(ch, "lost", EgressLost(count=self._lost))
            self._lost = 0
            return True
        if self._live is False:
            self._live = True
            connection.send_event(ch, "live", Nothing())
            return True
        if self._error is not None:
            self._call.error(self._error)
        return False

    def detach(self) -> None:
        if self.task is not None:
            self.task.cancel()
