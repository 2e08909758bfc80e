"""`port.listen`: a port in the sandbox that is forwarded to this client."""

from typing import Self

from hawse.api.ports import PortIncoming, PortListen, PortListening
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.calls.stream_handle import StreamHandle
from hawse.wire import Event

LANE = "connections"


class PortListenCall(ClientCall):
    """A call to `port.listen`. After a reconnect, the call resumes listening on the same port."""

    def __init__(self, params: PortListen, *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.port = params.port
        self.address = ""

    def params(self) -> PortListen:
        return PortListen(port=self.port)

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case PortListening() as listening:
                self.port, self.address = listening.port, listening.address
                self.mark_opened()
            case PortIncoming() as incoming:
                self.receive_buffer.put(LANE, incoming, event_cost(event))
                return
        self.spend(event_cost(event))


class PortListener(StreamHandle[PortListenCall, PortIncoming]):
    """`async with box.ports.listen(8080) as listener: async for incoming in listener: …`

    Yields each connection that a program in the sandbox opens. Accept each one within 30 seconds, with
    `box.ports.accept(incoming)`. Entering raises `conflict` if the port is in use. While the client is not connected,
    connections are refused.
    """

    def __init__(self, calls: CallTable, call: PortListenCall) -> None:
        super().__init__(calls, call)

    async def __aenter__(self) -> Self:
        """Start listening. Raises `conflict`, `limit_exceeded`, `invalid_params`."""
        return await super().__aenter__()

    @property
    def port(self) -> int:
        """The port number."""
        return self._call.port

    @property
    def address(self) -> str:
        """The address that programs in the sandbox can connect to."""
        return self._call.address

    async def _next(self) -> PortIncoming:
        _, incoming = await self._call.receive_buffer.get(LANE)
        assert isinstance(incoming, PortIncoming)
        return incoming
