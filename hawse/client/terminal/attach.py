"""`terminal.attach`: what one viewer knows, and how it comes back to the exact byte (docs/wire.md section 9).

Turns frames and events into `TerminalEvent`s in order. A snapshot replaces what is missing, and counts only when it is
whole: a line lost in its midst resumes from before it.
"""

import secrets
from typing import Any

import msgspec

from hawse.api.terminals import (
    TerminalAnswers,
    TerminalAttachResult,
    TerminalLive,
    TerminalOpened,
    TerminalReseed,
    TerminalResized,
)
from hawse.api.types import Exit
from hawse.client.base.results import Answers, Attached, Live, Resized, Snapshot, TerminalEvent
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.terminal.people import EVENTS, People
from hawse.client.terminal.snapshot_assembly import SnapshotAssembly
from hawse.wire import Data, Event, Kind, Limits, RemoteProtocolError

LANE = "output"


class TerminalAttachCall(ClientCall):
    """A viewer of one terminal, over as many channels as it takes."""

    def __init__(
        self,
        sandbox: str,
        id: str,
        *,
        instance: str | None,
        since: int | None,
        read_only: bool,
        lossless: bool,
        emulator: bool = False,
        name: str | None = None,
        kind: str | None = None,
        window: int,
    ) -> None:
        self.viewer_key = secrets.token_hex(16)  # names us across reconnects, and in calls; never told to others
        guest = {"key": self.viewer_key, "name": name, "kind": kind}
        params = {
            "id": id,
            "instance": instance,
            "lossless": lossless or None,
            "emulator": emulator or None,
            "read_only": read_only or None,
            "viewer": {field: value for field, value in guest.items() if value is not None},
        }
        super().__init__("terminal.attach", params, sandbox=sandbox, repeats=True)
        self.live = False  # the replay is over
        self.answers = False  # our emulator is the one that answers
        self.pid: int | None = None
        self.begun: int | None = None  # the end of the output when we first attached
        self.people = People()
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.feed: InputStream | None = None if read_only else InputStream(Limits().input_window, self.wake)
        self._cursor = None if since is None else OffsetCursor(since)
        self._size: tuple[int, int] | None = None  # cols and rows, once known
        self._assembly: SnapshotAssembly | None = None

    # ---- opening

    def params(self) -> dict[str, Any]:
        params = dict(self.base)
        if self._cursor:
            params["since"] = self._cursor.offset
        if self.feed:
            params["input"] = self.feed.id
        return params

    def opening(self) -> int:
        self.live, self._assembly = False, None
        return super().opening()

    # ---- receiving

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        match event.name:
            case "opened":
                self._opened(parse(event.value, TerminalOpened))
            case "reseed":
                seed = parse(event.value, TerminalReseed)
                self.live = False
                self._expect_snapshot(SnapshotAssembly(seed.start, seed.screen, seed.cols, seed.rows))
            case "resized":
                size = parse(event.value, TerminalResized)
                cost = self._resized(size.offset, (size.cols, size.rows), cost)
            case "live":
                self.live = True
                cost = self._put(Live(parse(event.value, TerminalLive).offset), cost)
            case "answers":
                cost = self._answers(parse(event.value, TerminalAnswers).answers, cost)
            case "exit":
                cost = self._put(parse(event.value, Exit), cost)
            case name if name in EVENTS:
                if item := self.people.received(event):
                    cost = self._put(item, cost)
        self.spend(cost)

    def _opened(self, opened: TerminalOpened) -> None:
        known = self.base.get("instance")
        if known not in (None, opened.instance):
            raise RemoteProtocolError(f"attached to instance {opened.instance}, asked for {known}")
        self.base["instance"], self.pid = opened.instance, opened.pid
        self.begun = opened.offset if self.begun is None else self.begun
        size = (opened.cols, opened.rows)
        self.inbox.drop_tail(LANE, lambda item: isinstance(item, Attached | Live))  # nobody saw the last attempt
        self._put(Attached(opened.start_at, opened.from_, *size))
        for item in self.people.opened(opened):
            self._put(item)
        self._answers(opened.answers)
        if opened.start_at == "snapshot":
            self._expect_snapshot(SnapshotAssembly(opened.from_, opened.screen, *size))
        else:
            self._continue_at(opened)
            if self._size is not None:
                self._resized(opened.from_, size)
            self._size = size
        if self.feed:
            self.feed.opened(opened.input_offset)
        self.mark_opened()

    def _continue_at(self, opened: TerminalOpened) -> None:
        expected = self._cursor.offset if self._cursor else 0
        if opened.from_ != expected:
            raise RemoteProtocolError(f"attached at {opened.from_}, asked for {expected}")
        self._cursor = self._cursor or OffsetCursor()

    def receive_data(self, data: Data) -> None:
        if data.kind is Kind.SCREEN and self._assembly:
            self._assembly.add(data.offset, data.payload)
            self.spend(len(data.payload))  # a snapshot is bounded by its length, not by the window
            self._complete_snapshot()
        elif data.kind is Kind.OUTPUT and self._cursor and not self._assembly:
            new = self._cursor.accept(data.offset, data.payload)
            if new:
                self.inbox.put_bytes(LANE, self._cursor.offset - len(new), new)
            self.spend(len(data.payload) - len(new))
        else:
            raise RemoteProtocolError(f"{data.kind.name} out of place")

    def _expect_snapshot(self, assembly: SnapshotAssembly) -> None:
        self._assembly = assembly
        self._complete_snapshot()

    def _complete_snapshot(self) -> None:
        snapshot = self._assembly.finished() if self._assembly else None
        if snapshot is None:
            return
        self._assembly = None
        self._cursor = OffsetCursor(snapshot.offset)
        self._size = (snapshot.cols, snapshot.rows)
        # One that nobody took yet is out of date, and so is what followed it: at most one lies here.
        self.inbox.supersede(LANE, lambda item: isinstance(item, Snapshot))
        self._put(snapshot)

    def _resized(self, offset: int, size: tuple[int, int], cost: int = 0) -> int:
        """At a resume the same size may come twice, in `opened` and again as an event: it is told once."""
        if size == self._size:
            return cost
        self._size = size
        return self._put(Resized(offset, *size), cost)

    def _answers(self, answers: bool, cost: int = 0) -> int:
        if answers is self.answers:
            return cost
        self.answers = answers
        return self._put(Answers(answers), cost)

    def _put(self, item: TerminalEvent, cost: int = 0) -> int:
        """Hand an item on, with its cost; return what is still to be spent."""
        self.inbox.put(LANE, item, cost)
        return 0

    def finished(self, value: msgspec.Raw) -> Exit:
        end = parse(value, TerminalAttachResult)
        if self._cursor is None or end.offset != self._cursor.offset:
            raise RemoteProtocolError(f"a terminal ends at {end.offset}, its output elsewhere")
        return end.exit
