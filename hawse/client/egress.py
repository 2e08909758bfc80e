"""Egress rules for a sandbox's programs: `box.egress`."""

from collections.abc import Sequence

from hawse.api.egress import EgressGet, EgressInfo, EgressLost, EgressRequest, EgressSet, EgressWatch
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.calls.stream_handle import StreamHandle
from hawse.wire import Event

LANE = "egress"
WINDOW = 256 * 1024  # bytes the gateway can send before the client reads them


class EgressWatchCall(ClientCall):
    """A call to `egress.watch`. A repeated call starts with the latest refusals, and skips any that the client has
    already received.
    """

    def __init__(self, params: EgressWatch, *, window: int) -> None:
        super().__init__(params, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._latest = 0.0
        self._again = 0.0  # refusals up to this time were received before the connection was lost

    def opening(self) -> int:
        self._again = self._latest
        return super().opening()

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        match self.decode(event):
            case EgressRequest() as request if request.time > self._again:
                self._latest = max(self._latest, request.time)
                self.receive_buffer.put(LANE, request, cost)
                return
            case EgressLost() as lost:
                self.receive_buffer.put(LANE, lost, cost)
                return
            case EgressRequest():
                pass
            case _:
                self._again = 0.0
                self.mark_opened()
        self.spend(cost)


class EgressRequests(StreamHandle[EgressWatchCall, EgressRequest | EgressLost]):
    """`async with box.egress.watch() as requests: async for request in requests: …`

    Yields the latest refusals, then each new refusal. `EgressLost` reports how many refusals a slow client has missed.
    """

    async def _next(self) -> EgressRequest | EgressLost:
        _, found = await self._call.receive_buffer.get(LANE)
        assert isinstance(found, EgressRequest | EgressLost)
        return found


class Egress:
    """A sandbox's egress rules. The handle doesn't have to be closed.

    Methods raise `HawseError`: `not_found` if the sandbox does not exist.
    """

    def __init__(self, calls: CallTable, sandbox: str) -> None:
        self._calls = calls
        self._sandbox = sandbox

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of sandbox {self._sandbox!r}>"

    async def get(self) -> EgressInfo:
        """Return the rules, the proxy's statistics since startup, and the latest refusals."""
        return await self._calls.request(EgressGet(id=self._sandbox), sandbox=None)

    async def set(
        self, allow: Sequence[str], deny: Sequence[str] = (), *, secrets: Sequence[str] | None = None
    ) -> EgressInfo:
        """Replace the rules. When this returns, they apply to new connections, and open connections they don't allow
        have been closed.

        Args:
            allow: Rules `[METHODS ]HOST[:PORT]` for allowed connections.
            deny: Rules in the same format, which take precedence over `allow`.
            secrets: Names of the gateway's secrets that the proxy adds to requests. None keeps the current secrets.

        Raises:
            HawseError: `invalid_params` for an invalid rule, a secret that the caller may not use, or a sandbox that
                uses a different network; `unavailable` if the rules are stored, but the proxy has not applied them yet.
        """
        names = None if secrets is None else [*secrets]
        params = EgressSet(id=self._sandbox, allow=[*allow], deny=[*deny], secrets=names)
        return await self._calls.request(params, sandbox=None)

    def watch(self, *, allowed: bool = False) -> EgressRequests:
        """Return a context manager and iterator over refusals.

        Args:
            allowed: Whether to report allowed requests as well.
        """
        params = EgressWatch(id=self._sandbox, allowed=allowed)
        return EgressRequests(self._calls, EgressWatchCall(params, window=WINDOW))
