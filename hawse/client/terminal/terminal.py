"""The handle for a terminal: input, events, participants, and actions."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import UNSET

from hawse.api.people import (
    LeaseAction,
    Participant,
    PointerPosition,
    TerminalLease,
    TerminalPresence,
    WriterLease,
)
from hawse.api.terminals import (
    TerminalCreate,
    TerminalKill,
    TerminalResize,
    TerminalSignal,
    TerminalWait,
    TerminalWaitResult,
)
from hawse.api.types import Exit
from hawse.client.base.call_errors import ForbiddenError
from hawse.client.base.errors import ClientClosedError, TruncatedError
from hawse.client.base.results import Output, Repaint, Snapshot, TerminalEvent
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.line_reader import LineReader
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange
from hawse.client.terminal.attach import LANE, TerminalAttachCall
from hawse.client.terminal.automation import Automation, TerminalHandle
from hawse.client.terminal.wait import TerminalWaitCall

if TYPE_CHECKING:  # rarely needed modules are loaded on first use
    from hawse.client.terminal.recording import Recording

DAY = 86_400.0  # the maximum time a call can wait, in seconds


class Terminal(Automation):
    """`async with box.terminals.open("main") as term:` attaches, creating the terminal first if needed. Leaving the
    block detaches.
    """

    def __init__(self, calls: CallTable, sandbox: str, call: TerminalAttachCall, create: TerminalCreate | None) -> None:
        self._calls = calls
        self._sandbox = sandbox
        self._call = call
        self._create = create  # None if the terminal must already exist
        self._taken: int | None = None
        self._attached = False
        self._lines = LineReader(self._next_output)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} in sandbox {self._sandbox!r}>"

    def __await__(self) -> Generator[Any, Any, "Terminal"]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> "Terminal":
        """Create the terminal if requested, and attach. Does nothing if this handle has already been awaited.

        Raises:
            HawseError: `not_found`, `stale_handle` (a different instance), `spawn_failed`, and the error that closed
                the client.
        """
        if self._attached:
            return self
        if self._create is not None:
            info = await self._request(self._create)
            self._call.attach = msgspec.structs.replace(self._call.attach, id=info.id, instance=info.instance)
            self._mark = 0 if info.created else None
        await self._calls.begin(self._call)
        self._attached = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def id(self) -> str:
        """The id of the terminal."""
        return self._call.attach.id

    @property
    def instance(self) -> str:
        """Distinguishes terminals with the same id: each newly started terminal is a new instance."""
        return self._call.attach.instance or ""

    @property
    def pid(self) -> int | None:
        """The process id of the terminal's program inside the sandbox."""
        return self._call.pid

    @property
    def offset(self) -> int | None:
        """The offset after the last byte read; None before the first byte.

        To continue from there, create another handle with this `instance` and this offset as `since`.
        """
        return self._taken and self._taken - self._lines.held

    @property
    def live(self) -> bool:
        """Whether the replay has ended. Until then, an emulator's answers to queries must not be sent."""
        return self._call.live

    @property
    def answers(self) -> bool:
        """Whether this viewer's emulator must answer queries. True only with `emulator=True`, and only while `live`."""
        return self._call.answers

    # ---- viewers

    @property
    def viewers(self) -> list[Participant]:
        """The viewers of the terminal, including this one. Empty if the server does not support presence."""
        return list(self._call.people.viewers.values())

    @property
    def me(self) -> Participant | None:
        """This viewer; None if the server does not support presence."""
        return self._call.people.viewers.get(self._call.people.me or "")

    @property
    def lease(self) -> WriterLease:
        """The writer lease. Only the viewer whose id is `holder` may type; if `holder` is None, all viewers may."""
        return self._call.people.lease

    async def take(self, *, over: bool = True) -> WriterLease:
        """Take the writer lease, so that only this viewer may type.

        Raises:
            HawseError: `forbidden` if this viewer is read-only; `conflict` if another viewer has the lease and `over`
                is false.
        """
        return await self._lease("take" if over else "exclusive")

    async def release(self) -> WriterLease:
        """Let all viewers type again. Raises `conflict` if another viewer has the lease."""
        return await self._lease("release")

    async def ask(self) -> WriterLease:
        """Ask the viewer that has the lease to hand it over. Does nothing while all viewers may type.

        The reply is the item `LeaseChanged`, or `PresenceChanged` for this viewer with `asks` false, which means that
        the other viewer keeps the lease or, if `unanswered` is true, hasn't replied for 60 seconds.

        Raises:
            HawseError: `forbidden` if this viewer is read-only.
        """
        return await self._lease("ask")

    async def withdraw(self) -> WriterLease:
        """Withdraw the request made with `ask`."""
        return await self._lease("withdraw")

    async def give(self, to: str) -> WriterLease:
        """Hand the lease over to another viewer. Only that viewer may then type.

        Args:
            to: The `id` of the other viewer.

        Raises:
            HawseError: `conflict` if this viewer does not have the lease; `not_found` if `to` is not present;
                `forbidden` if `to` is read-only.
        """
        return await self._lease("give", to)

    async def keep(self, to: str | None = None) -> WriterLease:
        """Refuse the request from the viewer with the id `to`, or all requests for the lease.

        Raises:
            HawseError: `conflict` if this viewer does not have the lease; `not_found` if `to` is not present.
        """
        return await self._lease("keep", to)

    async def set_presence(
        self,
        *,
        name: str | None = None,
        focus: bool | None = None,
        at: tuple[int, int] | None = None,
        scroll: int | None = None,
        view: str | None = None,
    ) -> None:
        """Change how this viewer appears to other viewers. None keeps the current value.

        Args:
            name: The display name.
            focus: Whether the terminal has the focus.
            at: The pointer's position: column and row, from 0.
            scroll: Number of rows the user has scrolled back.
            view: The object the user is looking at, in a notation shared by the clients, such as the web app's
                `terminal~id~main`; at most 200 characters.
        """
        pointer = UNSET if at is None else PointerPosition(x=at[0], y=at[1])
        key = self._call.viewer_key or ""
        params = TerminalPresence(id=self.id, viewer=key, name=name, focus=focus, at=pointer, scroll=scroll, view=view)
        await self._request(params)

    async def _lease(self, action: LeaseAction, to: str | None = None) -> WriterLease:
        return await self._request(TerminalLease(id=self.id, action=action, viewer=self._call.viewer_key, to=to))

    # ---- output

    def items(self) -> OutputIterator[TerminalEvent]:
        """Iterate over `Attached`, `Output`, `Snapshot`, `Resized`, `Answers`, `Live` and finally `Exit`, in order.

        Between them, `Joined`, `Left`, `PresenceChanged` and `LeaseChanged` report changes among the participants, and
        `WaitingChanged` reports that the program has started or stopped waiting for input.

        The server sends at most one window of bytes ahead of the reader. The iteration ends after `Exit`. It raises
        `BusyError`, `TruncatedError`, `stale_handle` if a different terminal now has the id, and the error that closed
        the client.
        """
        return OutputIterator(self._call.receive_buffer, self._next_item)

    def __aiter__(self) -> OutputIterator[bytes]:
        """Iterate over the bytes to write to an emulator: output, and a `Repaint` in place of missing output."""
        return OutputIterator(self._call.receive_buffer, self._next_bytes)

    async def lines(
        self, *, escapes: bool = False, encoding: str = "utf-8", errors: str = "replace"
    ) -> AsyncIterator[str]:
        """Iterate over the lines of the output without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts. If a program overwrites a line with CR, all its versions
        are yielded as one string. Output before the first snapshot of an attachment is not yielded.

        Args:
            escapes: Whether to keep escape sequences and control characters in the lines.
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.

        Raises:
            TruncatedError: Output is missing because it was read too slowly and the viewer is not `lossless`. Iterating
                again continues after the missing output.
            HawseError: For the same reasons as `items`.
        """

        from hawse.client.terminal.plain_text import plain

        def decoded(line: bytes) -> str:
            return (line if escapes else plain(line)).decode(encoding, errors)

        try:
            async for line in self._lines.lines("latin-1", "strict"):  # latin-1 decodes each byte to one character
                yield decoded(line.encode("latin-1"))
        except TruncatedError:
            if self._lines.held:
                yield decoded(self._lines.take())
            raise

    async def _next_output(self) -> bytes:
        while True:
            taken = self._taken
            match await self._receive():
                case Output(data=data):
                    return data
                case Snapshot(offset=offset) if taken is not None and offset > taken:
                    raise TruncatedError("output", offset - taken)

    async def _next_item(self) -> TerminalEvent:
        if self._lines.held and self._taken is not None:  # items received by `lines` but not yielded yet
            offset = self._taken - self._lines.held
            return Output(offset, self._lines.take())
        return await self._receive()

    def _handle(self) -> TerminalHandle:
        if self._create is not None:  # the terminal may not exist until this handle is attached
            self._check_attached()
        return super()._handle()

    def _check_attached(self) -> None:
        """Raise `RuntimeError` if this handle was neither awaited nor entered."""
        if not self._attached:
            raise RuntimeError("this Terminal is not open: await it, or use it in `async with`, before calling methods")

    async def _receive(self) -> TerminalEvent:
        self._check_attached()
        _, item = await self._call.receive_buffer.get(LANE)
        if isinstance(item, BufferedChunk):
            self._taken = item.offset + len(item.data)
            return Output(item.offset, bytes(item.data))
        if isinstance(item, DiscardedRange):
            raise TruncatedError("output", item.size)
        if isinstance(item, Snapshot):
            self._taken = item.offset
        return cast(TerminalEvent, item)

    async def _next_bytes(self) -> bytes:
        while True:
            item = await self._next_item()
            if isinstance(item, Output):
                return item.data
            if isinstance(item, Snapshot):
                return Repaint.of(item)

    # ---- input

    async def write(self, data: BytesLike) -> None:
        """Type bytes, and return once they are buffered. Waits if the program reads slowly.

        Raises:
            HawseError: `exited`, `forbidden` for a read-only viewer, or the error that ended the terminal's call.
        """
        await self._input().write(data)

    async def flush(self) -> None:
        """Wait until the sandbox has received all bytes typed."""
        await self._input().flush()

    def _input(self) -> InputStream:
        self._check_attached()
        if self._call.input_stream is None:
            raise ForbiddenError("this viewer is read-only")
        return self._call.input_stream

    # ---- acting on the terminal

    async def resize(self, cols: int, rows: int) -> None:
        """Set the size: 1 to 1,000 columns and rows."""
        await self._request(TerminalResize(id=self.id, cols=cols, rows=rows))

    async def signal(self, signal: str | int) -> None:
        """Send a signal to the foreground process group: "INT", "SIGINT" or a number."""
        await self._request(TerminalSignal(id=self.id, signal=signal))

    async def kill(self, *, grace: float | None = None) -> Exit:
        """End all processes in the terminal: SIGHUP, then SIGKILL after `grace` seconds (by default 2).

        Returns the program's exit status.
        """
        return (await self._request(TerminalKill(**self._handle(), grace=grace))).exit

    async def wait(self) -> Exit:
        """Wait until the terminal's program has ended. Unread output can still be read afterwards.

        With `lossless`, a program waits up to 30 seconds for a slow reader, so it may end later.

        Raises:
            HawseError: The error that ended the attachment or closed the client. `stale_handle` or `not_found` if the
                terminal ended so long ago that its exit status is no longer kept.
        """
        while not self._call.settled:
            waiting = TerminalWaitCall(TerminalWait(**self._handle(), exit=True), sandbox=self._sandbox, timeout=DAY)
            try:
                self._calls.submit(waiting)
                await asyncio.wait((waiting.done, self._call.done), return_when=asyncio.FIRST_COMPLETED)
                if waiting.settled and not self._call.settled:
                    waited: TerminalWaitResult = await self._calls.outcome(waiting)
                    if waited.exit is not None:
                        return waited.exit
            finally:
                self._calls.abandon(waiting)
        exit_: Exit = await self._calls.outcome(self._call)
        return exit_

    async def record(self, *, input: bool = False, title: str | None = None) -> "Recording":
        """Start recording the terminal, as asciicast v3.

        Args:
            input: Whether to record input as well, including passwords.
            title: The title of the recording.

        Raises:
            HawseError: `exited`, `limit_exceeded`, `no_space`.
        """
        from hawse.api.recordings import RecordingStart
        from hawse.client.terminal.recording import Recording

        name = f"r-{secrets.token_hex(6)}"
        await self._request(RecordingStart(terminal=self.id, id=name, input=input, title=title))
        return Recording(self._calls, self._sandbox, name)

    def close(self) -> None:
        """Detach. The terminal keeps running."""
        self._calls.abandon(self._call, ClientClosedError("the handle was closed"))
