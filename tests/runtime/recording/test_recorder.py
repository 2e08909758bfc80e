"""The recorder with a real terminal and a file that is slow or full or fails."""

import asyncio
import errno
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.limits import FlowLimits
from hawse_runtime.recording import keyframes
from hawse_runtime.recording.cast_writer import KEYFRAME, CastEvent, CastWriter, QuotaError
from hawse_runtime.recording.recorder import Recorder, RecorderLimits
from hawse_runtime.screen.snapshot_cache import SnapshotCache
from hawse_runtime.terminal.options import TerminalOptions
from hawse_runtime.terminal.terminal import Terminal
from tests.support import terminals
from tests.support.local_screens import LocalScreens
from tests.support.waiting import Changes

ENV = {"PATH": "/bin:/usr/bin", "TERM": "xterm"}


class FakeWriter(CastWriter):
    """Keeps the events in memory; while `hold` is cleared, writing blocks."""

    def __init__(self, fail: Callable[[], None] = lambda: None) -> None:
        self.entries: list[CastEvent] = []
        self.last: CastEvent | None = None
        self.closed = False
        self.hold = threading.Event()
        self.hold.set()
        self.changes = Changes()
        self.screens: list[bytes] = []
        self._awaits = False
        self._loop = asyncio.get_running_loop()
        self._fail = fail

    @property
    def awaits_keyframe(self) -> bool:
        return self._awaits

    def open(self, header: bytes, cols: int, rows: int) -> None:
        self.entries.append(CastEvent(0, "h", f"{cols}x{rows}"))

    def write(self, entries: Sequence[CastEvent]) -> None:
        assert self.hold.wait(20)
        self._fail()
        self.entries += [entry for entry in entries if entry.code != KEYFRAME]
        self._awaits = self._awaits or any(entry.code == KEYFRAME for entry in entries)
        self._loop.call_soon_threadsafe(self.changes.notify)

    def write_keyframe(self, data: bytes) -> None:
        self.screens.append(data)
        self._awaits = False
        self._loop.call_soon_threadsafe(self.changes.notify)

    def end(self, entry: CastEvent | None) -> None:
        self.last = entry

    def close(self) -> None:
        self.closed = True

    def data(self, code: str = "o") -> bytes:
        return b"".join(e.data for e in self.entries if e.code == code and isinstance(e.data, bytes))


class Recorded:
    """A terminal with a recorder."""

    def __init__(
        self,
        command: str,
        writer: FakeWriter,
        *,
        capacity: int = 8 << 20,
        flow: FlowLimits | None = None,
        **options: Any,
    ) -> None:
        self.writer = writer
        self.exited = asyncio.Event()
        self.disk = ThreadPool("disk", 1)
        self.terminal = Terminal(
            "t",
            TerminalOptions(["sh", "-c", command], "/", ENV, 80, 24),
            Journal(capacity, flow=flow or FlowLimits()),
            SnapshotCache(),
            LocalScreens(),
            self.disk,
            on_exit=lambda _: self.exited.set(),
        )
        self.recorder = Recorder(
            self.terminal, writer, lambda c, r: b"", self.disk, **({"with_input": False} | options)
        )

    async def __aenter__(self) -> "Recorded":
        self.task = asyncio.create_task(self.recorder.run())
        await self.recorder.opened
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.hold.set()
        if self.terminal.exit is None:
            self.terminal.signal(9)
        async with asyncio.timeout(20):
            await self.exited.wait()
            self.recorder.stop()
            await self.task
        self.disk.close()
        self.terminal.retire()
        assert self.writer.closed
        assert not self.terminal.subscribers


async def test_all_output_is_written_in_order_followed_by_the_exit() -> None:
    async with Recorded("seq 100000; exit 3", FakeWriter()) as recorded:
        await recorded.task
        wanted = "".join(f"{i}\r\n" for i in range(1, 100001)).encode()
        assert recorded.writer.data() == wanted
        assert recorded.writer.entries[-1][1:] == ("x", "3")
        times = [entry.at for entry in recorded.writer.entries]
        assert times == sorted(times)
        assert recorded.recorder.reason == "exited"


async def test_a_keyframe_is_written_although_there_is_always_more_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframes, "EVERY", 1)
    monkeypatch.setattr(keyframes, "SECONDS", 0.0)
    loop = asyncio.get_running_loop()

    class Busy(FakeWriter):
        """Whenever something was written, there is another event, until there is a keyframe."""

        marks = 0

        def write(self, entries: Sequence[CastEvent]) -> None:
            super().write(entries)
            if not self.screens and self.marks < 1000:
                self.marks += 1
                loop.call_soon_threadsafe(recorded.recorder.mark, "more")

    writer = Busy()
    recorded = Recorded("echo x; read a", writer)
    async with recorded:  # where the first write may come before the block begins
        await writer.changes.until(lambda: bool(writer.screens) or writer.marks == 1000)
        assert writer.screens
        assert writer.marks < 1000


async def test_a_resize_is_recorded_between_the_output_before_and_after_it() -> None:
    async with Recorded("read a; echo $a; read a; echo $a; read a", FakeWriter()) as recorded:
        recorded.terminal.write(b"one\n")
        await recorded.writer.changes.until(lambda: recorded.writer.data().count(b"one") == 2)
        recorded.terminal.resize(100, 30)
        recorded.terminal.write(b"two\n")
        await recorded.writer.changes.until(lambda: recorded.writer.data().count(b"two") == 2)
        entries = recorded.writer.entries
        at = next(i for i, entry in enumerate(entries) if entry.code == "r")
        assert entries[at].data == "100x30"
        assert all(b"two" not in entry.data for entry in entries[:at] if isinstance(entry.data, bytes))


async def test_a_recording_starts_with_the_present_screen() -> None:
    disk = ThreadPool("disk", 1)
    terminal = Terminal(
        "t",
        TerminalOptions(["sh", "-c", "printf hi; read a"], "/", ENV, 40, 5),
        Journal(),
        SnapshotCache(),
        LocalScreens(),
        disk,
        on_exit=print,
    )
    await terminals.until(terminal, lambda: terminal.journal.end == 2)
    terminal.resize(50, 6)
    writer = FakeWriter()
    recorder = Recorder(terminal, writer, lambda c, r: b"", disk, with_input=False)
    recorder.stop()
    await recorder.run()
    disk.close()
    assert writer.entries[0].data == "50x6"
    assert b"hi" in writer.data()
    assert [entry.code for entry in writer.entries] == ["h", "o"]
    terminal.signal(9)
    await terminals.exited(terminal)
    terminal.retire()


@pytest.mark.parametrize("with_input", [True, False])
async def test_input_is_written_only_when_asked_for(with_input: bool) -> None:
    async with Recorded("read a; read b", FakeWriter(), with_input=with_input) as recorded:
        recorded.terminal.write(b"pass\n")
        recorded.terminal.write(b"word\n")
        await recorded.task
        assert recorded.writer.data("i") == (b"pass\nword\n" if with_input else b"")


async def test_a_slow_disk_slows_the_program_down_and_all_output_is_recorded() -> None:
    writer = FakeWriter()
    writer.hold.clear()
    async with Recorded("seq 300000", writer, capacity=1 << 20) as recorded:
        await terminals.until(recorded.terminal, lambda: recorded.terminal.backpressure.paused)
        writer.hold.set()
        await recorded.task
        assert writer.data() == "".join(f"{i}\r\n" for i in range(1, 300001)).encode()
        assert recorded.recorder.lost == 0


async def test_a_disk_that_blocks_loses_output_and_a_marker_has_the_number_of_bytes() -> None:
    flow = FlowLimits(stall_timeout=0.05, lossless_stall_timeout=0.05)
    writer = FakeWriter()
    writer.hold.clear()
    async with Recorded("seq 100000", writer, capacity=64 << 10, flow=flow) as recorded:
        await recorded.exited.wait()  # the program was not blocked for ever
        writer.hold.set()
        await recorded.task
        assert recorded.recorder.lost > 0
        markers = [str(entry.data) for entry in writer.entries if entry.code == "m"]
        assert sum(int(marker.removesuffix(" bytes of output were not recorded")) for marker in markers) == (
            recorded.recorder.lost
        )
        assert b"100000" in writer.data()
        assert b"\x1bc" in writer.data()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "no space"), "no_space"),
        (OSError(errno.EIO, "broken"), "io_error"),
        (QuotaError(), "quota"),
        (MemoryError(), "io_error"),
    ],
)
async def test_a_write_error_ends_the_recording_and_not_the_terminal(error: Exception, reason: str) -> None:
    def fail() -> None:
        raise error

    async with Recorded("echo x; read a; seq 200000; read a", FakeWriter(fail), capacity=64 << 10) as recorded:
        await recorded.task
        assert recorded.recorder.reason == reason
        assert recorded.writer.last is not None
        recorded.terminal.write(b"\n")
        await terminals.until(recorded.terminal, lambda: recorded.terminal.journal.end > 1_000_000)


async def test_the_number_of_pending_events_is_bounded() -> None:
    limits = RecorderLimits(pending=8, merge_interval=0.0)
    writer = FakeWriter()
    writer.hold.clear()
    async with Recorded("while read a; do echo $a; done", writer, limits=limits) as recorded:
        for number in range(100):
            recorded.terminal.write(b"%d\n" % number)
            await terminals.until(recorded.terminal, lambda number=number: recorded.terminal.journal.end > 4 * number)  # type: ignore[misc]
        assert recorded.recorder.pending <= 8
        total = sum(2 * len(b"%d\r\n" % number) for number in range(100))  # echoed, and printed
        await terminals.until(recorded.terminal, lambda: recorded.terminal.journal.end == total)
        writer.hold.set()
        recorded.terminal.signal(9)
        await recorded.task
        assert writer.data().count(b"99") == 2
