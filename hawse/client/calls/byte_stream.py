"""A call that carries bytes in both directions, such as TCP. If the connection is lost, the call is not resumed."""

from typing import Any, ClassVar, TypeVar

from hawse.api import Params
from hawse.client.base.errors import TruncatedError
from hawse.client.calls.call import ClientCall
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange, ReceiveBuffer
from hawse.client.calls.stream_handle import ByteStreamHandle
from hawse.wire import Data, Kind, Limits, RemoteProtocolError

LANE = "bytes"


class ByteStreamCall(ClientCall):
    """The call behind a `ByteStream`. If the connection is lost, the call ends with `interrupted`."""

    subject: ClassVar[str]  # name of the other end, for error messages

    def __init__(self, params: Params[Any], *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, repeats=False)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.input_stream: InputStream = InputStream(Limits().input_window, self.wake)
        self._cursor = OffsetCursor(0)

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"a data frame of kind {data.kind.name} from {self.subject}")
        self.receive_buffer.put_bytes(LANE, data.offset, self._cursor.accept(data.offset, data.payload))


C = TypeVar("C", bound=ByteStreamCall)


class ByteStream(ByteStreamHandle[C]):
    """A handle for a stream of bytes in both directions."""

    async def read(self) -> bytes:
        """Wait for the next bytes and return them; at the end of the stream, return an empty value."""
        try:
            return await self._next()
        except StopAsyncIteration:
            return b""

    async def write(self, data: BytesLike) -> None:
        """Send bytes. Waits while the other end isn't reading."""
        await self._call.input_stream.write(data)

    async def _receive(self) -> bytes:
        _, item = await self._call.receive_buffer.get(LANE)
        if isinstance(item, DiscardedRange):
            raise TruncatedError(self._call.subject, item.size)
        assert isinstance(item, BufferedChunk)
        return bytes(item.data)
