"""A terminal as its user sees it: keys in, events out, and the few calls that act on it."""

import secrets
from types import TracebackType
from typing import Any

from msgspec import UNSET

from hawse.api.people import LeaseAction, PointerPosition, TerminalLease, TerminalPresence
from hawse.api.recordings import RecordingStart
from hawse.api.terminals import TerminalCreate, TerminalKill, TerminalResize, TerminalSignal
from hawse.api.types import Exit
from hawse.client.base.errors import ClientClosedError
from hawse.client.base.results import LeaseInfo, Output, ParticipantInfo, Repaint, Snapshot, TerminalEvent
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import BytesLike
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import BufferedChunk
from hawse.client.terminal.attach import LANE, TerminalAttachCall
from hawse.client.terminal.automation import Automation
from hawse.client.terminal.recording import Recording
from hawse.wire import HawseError


class Terminal(Automation):
    """`async with sb.terminal("main") as term:` creates it unless it runs, and attaches. Leaving detaches only."""

    def __init__(self, calls: CallTable, sandbox: str, call: TerminalAttachCall, create: TerminalCreate | None) -> None:
        self._calls = calls
        self._sandbox = sandbox
        self._call = call
        self._create = create  # the parameters of `terminal.create`, None if it has to exist
        self._taken: int | None = None

    async def __aenter__(self) -> "Terminal":
        """Raises `not_found`, `stale_handle` (another instance), `spawn_failed`, and what ends a client."""
        if self._create is not None:
            info = await self._request(self._create)
            self._call.base |= {"id": info.id, "instance": info.instance}
            self._mark = 0 if info.created else None
        await self._calls.begin(self._call)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def id(self) -> str:
        return str(self._call.base["id"])

    @property
    def instance(self) -> str:
        """Which terminal of that id: new for each that is started."""
        return str(self._call.base["instance"])

    @property
    def pid(self) -> int | None:
        return self._call.pid

    @property
    def offset(self) -> int | None:
        """The offset after the last byte that was taken from here: with `instance`, where another viewer goes on.

        None before the first.
        """
        return self._taken

    @property
    def live(self) -> bool:
        """The replay has arrived; while False, do not send what an emulator answers to queries."""
        return self._call.live

    @property
    def answers(self) -> bool:
        """This viewer's emulator is to answer queries; only with `emulator=True`, and only while `live`."""
        return self._call.answers

    # ---- people

    @property
    def viewers(self) -> list[ParticipantInfo]:
        """Everybody who is here, ourselves included, as far as we were told. Empty with an older server."""
        return list(self._call.people.viewers.values())

    @property
    def me(self) -> ParticipantInfo | None:
        return self._call.people.viewers.get(self._call.people.me or "")

    @property
    def lease(self) -> LeaseInfo:
        """Who may type."""
        return self._call.people.lease

    async def take(self, *, over: bool = True) -> LeaseInfo:
        """Type alone from now on. Raises `forbidden` if read-only, and without `over` `conflict` if somebody does."""
        return await self._lease("take" if over else "exclusive")

    async def release(self) -> LeaseInfo:
        """Let everybody type again. Raises `conflict` if somebody else is the one who types."""
        return await self._lease("release")

    async def set_presence(
        self, *, name: str | None = None, focus: bool | None = None, at: tuple[int, int] | None = None
    ) -> None:
        """Tell the others: a name, whether we look there, and where our pointer is (column and row from 0)."""
        pointer = UNSET if at is None else PointerPosition(x=at[0], y=at[1])
        key = self._call.viewer_key
        await self._request(TerminalPresence(id=self.id, viewer=key, name=name, focus=focus, at=pointer))

    async def _lease(self, action: LeaseAction) -> LeaseInfo:
        lease = await self._request(TerminalLease(id=self.id, action=action, viewer=self._call.viewer_key))
        return LeaseInfo(lease.holder, lease.epoch)

    # ---- output

    def items(self) -> OutputIterator[TerminalEvent]:
        """Iterate over `Attached`, `Output`, `Snapshot`, `Resized`, `Answers`, `Live` and at the end `Exit`, in order.

        Between them `Joined`, `Left`, `PresenceChanged` and `LeaseChanged` tell of the others.

        What is not taken stops the server from sending more than a window. Ends after `Exit`; raises `BusyError`,
        `TruncatedError`, `stale_handle` if another terminal took the id, and what ends a client.
        """
        return OutputIterator(self._call.inbox, self._next_item)

    def __aiter__(self) -> OutputIterator[bytes]:
        """Iterate over what to feed an emulator: output, and where output is missing a `Repaint`."""
        return OutputIterator(self._call.inbox, self._next_bytes)

    async def _next_item(self) -> TerminalEvent:
        _, item = await self._call.inbox.get(LANE)
        if isinstance(item, BufferedChunk):
            self._taken = item.offset + len(item.data)
            return Output(item.offset, bytes(item.data))
        if isinstance(item, Snapshot):
            self._taken = item.offset
        return item  # type: ignore[return-value]  # what the viewer put

    async def _next_bytes(self) -> bytes:
        while True:
            item = await self._next_item()
            if isinstance(item, Output):
                return item.data
            if isinstance(item, Snapshot):
                return Repaint.of(item)

    # ---- input

    async def write(self, data: BytesLike) -> None:
        """Type. Returns when the bytes are kept for sending; waits while the program reads slowly.

        Raises `exited`, `forbidden` for a read-only viewer, and the channel's error.
        """
        await self._feed().write(data)

    async def flush(self) -> None:
        """Wait until the sandbox has taken everything typed."""
        await self._feed().flush()

    def _feed(self) -> Any:
        if self._call.feed is None:
            raise HawseError("forbidden", "this viewer is read-only")
        return self._call.feed

    # ---- acting on it

    async def resize(self, cols: int, rows: int) -> None:
        """1 to 1,000 each."""
        await self._request(TerminalResize(id=self.id, cols=cols, rows=rows))

    async def signal(self, signal: str | int) -> None:
        """Send a signal to the foreground process group: "INT", "SIGINT" or a number."""
        await self._request(TerminalSignal(id=self.id, signal=signal))

    async def kill(self, *, grace: float | None = None) -> Exit:
        """HUP to everything in it, KILL after `grace` seconds (2); return when it is gone."""
        return (await self._request(TerminalKill(id=self.id, grace=grace))).exit

    async def wait(self) -> Exit:
        """Wait until it has exited and its output has come. Output that nobody reads may be dropped meanwhile."""
        with self._call.inbox.without_readers():
            exit_: Exit = await self._calls.outcome(self._call)
            return exit_

    async def record(self, *, input: bool = False, title: str | None = None) -> Recording:
        """Record it from here on, as asciicast v3. `input`: what is typed as well, passwords included.

        Raises `exited`, `limit_exceeded`, `no_space`.
        """
        name = f"r-{secrets.token_hex(6)}"
        await self._request(RecordingStart(terminal=self.id, id=name, input=input, title=title))
        return Recording(self._calls, self._sandbox, name)

    def close(self) -> None:
        """Detach. The terminal goes on."""
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))
