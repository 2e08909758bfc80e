"""A sandbox's recordings, and the `recording.*` methods (docs/wire.md section 9)."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterable

import msgspec

from hawse.api.recordings import (
    RecordingDelete,
    RecordingGet,
    RecordingInfo,
    RecordingList,
    RecordingListResult,
    RecordingMark,
    RecordingRead,
    RecordingStart,
    RecordingStop,
    RecordingWatch,
)
from hawse.api.rights import OPERATE, VIEW, allows
from hawse.api.spec import Nothing
from hawse.api.terminals import RecordOptions
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse.wire import HawseError, Principal
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.registry import Registry
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.desktop.desktop import Desktop
from hawse_runtime.files.read import read
from hawse_runtime.recording.asciicast import header
from hawse_runtime.recording.cast_writer import CastWriter, QuotaError
from hawse_runtime.recording.desktop_recorder import DesktopRecorder
from hawse_runtime.recording.recorder import Recorder
from hawse_runtime.recording.storage import EACH, KEPT_LIMIT, RecordingQuota, RecordingStore
from hawse_runtime.rpc.generator_stream import GeneratorStream
from hawse_runtime.rpc.handle_checks import check_running
from hawse_runtime.rpc.stream_slots import StreamSlots
from hawse_runtime.terminal.methods import TerminalMethods
from hawse_runtime.terminal.terminal import Terminal

log = logging.getLogger(__name__)

ACTIVE_LIMIT = 64  # maximum number of recordings in progress
MARKERS_LIMIT = 1000  # maximum number of markers per recording
DESKTOP_TERM = "hawse-desktop"  # the terminal type in the header line; signals that events are not terminal output
START_MIN = 1 << 20  # number of bytes that must be available in the quota to start a recording

_TRUNCATING = ("quota", "no_space", "io_error")


class RecordingMethods:
    """A sandbox's recordings, whether finished or in progress."""

    def __init__(
        self,
        folder: Folder,
        terminals: TerminalMethods,
        desktops: Registry[Desktop],
        encoders: ThreadPool,
        tasks: Tasks,
        disk: ThreadPool,
        slots: StreamSlots,
        *,
        quota: RecordingQuota | None = None,
    ) -> None:
        """Load recordings left by earlier runtimes.

        Args:
            folder: The directory for recordings.
            terminals: The terminals that can be recorded.
            desktops: The desktops that can be recorded.
            encoders: The thread pool for compressing images.
            tasks: Owns the recorders' tasks.
            disk: The thread pool for disk I/O.
            slots: Limits the number of concurrent reads.
            quota: Limits the total size of all recordings.
        """
        self.quota = quota or RecordingQuota()
        self._store = RecordingStore(folder)
        self._terminals = terminals
        self._desktops = desktops
        self._encoders = encoders
        self._tasks = tasks
        self._disk = disk
        self._slots = slots
        self._infos = {info.id: info for info in self._store.load()}
        self.quota.add(sum(info.size + info.screens + info.index for info in self._infos.values()))
        self._active: dict[str, Recorder | DesktopRecorder] = {}
        self._watches: dict[LatestValueStream, None] = {}
        terminals.recording = self._policy

    @property
    def active(self) -> int:
        """The number of recordings in progress."""
        return len(self._active)

    def describe(self, name: str) -> RecordingInfo:
        """Return a recording's current state. Raises `not_found`."""
        info = self._infos.get(name)
        if info is None:
            raise HawseError("not_found", f"recording {name} does not exist")
        recorder = self._active.get(name)
        return info if recorder is None else _current(info, recorder)

    def _visible(self, name: str, caller: Principal) -> RecordingInfo:
        """Return a recording's state. Raises `not_found` if it doesn't exist or `caller` can't access it."""
        info = self._infos.get(name)
        if info is None or not _sees(caller, info):
            raise HawseError("not_found", f"recording {name} does not exist")
        return self.describe(name)

    @handles(RecordingGet, caller=True)
    def _get(self, params: RecordingGet, caller: Principal) -> RecordingInfo:
        return self._visible(params.id, caller)

    async def close(self) -> None:
        """Stop all recordings and wait for them to be complete."""
        for recorder in list(self._active.values()):
            recorder.stop()
        for recorder in list(self._active.values()):
            await recorder.done.wait()

    # ---- start and end

    def _policy(self, policy: RecordOptions) -> Callable[[Terminal], None]:
        """Check the limits. Return a function that starts a recording of a new terminal."""
        self._check_limits()

        def start(terminal: Terminal) -> None:
            self._record(terminal, f"r-{secrets.token_hex(6)}", with_input=policy.input)

        return start

    @handles(RecordingStart)
    async def _start(self, params: RecordingStart) -> RecordingInfo:
        recorded = self._recorded(params)
        name = params.id or f"r-{secrets.token_hex(6)}"
        if name in self._infos:
            raise HawseError("conflict", f"recording {name} already exists")
        self._check_limits()
        recorder: Recorder | DesktopRecorder
        if isinstance(recorded, Desktop):
            recorder = self._record_desktop(recorded, name, params.title)
        else:
            recorder = self._record(recorded, name, with_input=params.input, title=params.title)
        try:
            await asyncio.shield(recorder.opened)
        except Exception as error:
            await self._discard(name)
            if not isinstance(error, QuotaError):
                raise
            raise HawseError("no_space", "the quota for recordings of this sandbox is exhausted") from None
        return self.describe(name)

    def _recorded(self, params: RecordingStart) -> Terminal | Desktop:
        """Return the terminal or desktop to record. Raises `HawseError` if it can't be recorded."""
        if params.terminal is not None and params.desktop is None:
            terminal = self._terminals.get(params.terminal)
            check_running("terminal", terminal)
            return terminal
        if params.desktop is None or params.terminal is not None:
            raise HawseError("invalid_params", "specify either `terminal` or `desktop`")
        if params.input:
            message = "recordings of desktops cannot include input"
            raise HawseError("invalid_params", message, details={"path": "$.input"})
        return self._desktops.get(params.desktop)

    def _check_limits(self) -> None:
        if len(self._active) >= ACTIVE_LIMIT:
            raise HawseError("limit_exceeded", f"recording limit reached: {ACTIVE_LIMIT} recordings are in progress")
        if len(self._infos) >= KEPT_LIMIT:
            raise HawseError("limit_exceeded", f"recording limit reached: {KEPT_LIMIT} recordings exist; delete some")
        if self.quota.available < START_MIN:
            raise HawseError("no_space", "the quota for recordings of this sandbox is exhausted; delete some")

    def _record(self, terminal: Terminal, name: str, *, with_input: bool, title: str | None = None) -> Recorder:
        cols, rows = terminal.size
        info = _new(name, terminal=terminal.id, instance=terminal.instance, cols=cols, rows=rows, title=title)
        info = msgspec.structs.replace(info, input=with_input)
        env = {"TERM": "xterm-256color", "SHELL": terminal.argv[0]}

        def first_line(cols: int, rows: int) -> bytes:
            return header(cols, rows, timestamp=info.started, term="xterm-256color", title=title, env=env)

        recorder = Recorder(terminal, self._file(name), first_line, self._disk, with_input=with_input)
        self._begin(info, recorder)
        return recorder

    def _record_desktop(self, desktop: Desktop, name: str, title: str | None) -> DesktopRecorder:
        width, height = desktop.client.size
        info = _new(name, terminal="", instance=desktop.instance, cols=width, rows=height, title=title)
        info = msgspec.structs.replace(info, desktop=desktop.id)

        def first_line(width: int, height: int) -> bytes:
            return header(width, height, timestamp=info.started, term=DESKTOP_TERM, title=title, env={})

        recorder = DesktopRecorder(desktop, self._file(name), first_line, self._disk, self._encoders, self._tasks)
        self._begin(info, recorder)
        return recorder

    def _file(self, name: str) -> CastWriter:
        return CastWriter(self._store.folder, name, limit=EACH, reserve=self.quota.reserve)

    def _begin(self, info: RecordingInfo, recorder: Recorder | DesktopRecorder) -> None:
        self._infos[info.id] = info
        self._active[info.id] = recorder
        self._tasks.start(self._run(info, recorder))
        self._changed()

    async def _run(self, info: RecordingInfo, recorder: Recorder | DesktopRecorder) -> None:
        try:
            await self._save(info)
            await recorder.run()
        finally:
            info = self._infos[info.id] = msgspec.structs.replace(_current(info, recorder), state="finished")
            self.quota.add(recorder.file.size - recorder.file.reserved)  # give back the unused part of the reservation
            await self._save(info)
            del self._active[info.id]
            recorder.done.set()
            self._changed()

    async def _save(self, info: RecordingInfo) -> None:
        try:
            await self._disk.run(self._store.save, info)
        except OSError as error:
            log.warning("! cannot write the description of recording %s: %s", info.id, error)

    @handles(RecordingStop)
    async def _stop(self, params: RecordingStop) -> RecordingInfo:
        return await self._end(params.id)

    async def _end(self, name: str) -> RecordingInfo:
        """Stop a recording and wait for it to be complete. Has no effect if it has already ended."""
        self.describe(name)
        recorder = self._active.get(name)
        if recorder is not None:
            recorder.stop()
            await recorder.done.wait()
        return self.describe(name)

    @handles(RecordingDelete)
    async def _delete(self, params: RecordingDelete) -> Nothing:
        await self._discard(params.id)
        return Nothing()

    async def _discard(self, name: str) -> None:
        info = await self._end(name)
        if self._infos.pop(name, None) is not None:
            await self._disk.run(self._store.delete, name)
            self.quota.add(-(info.size + info.screens + info.index))
            self._changed()

    # ---- queries

    @handles(RecordingMark)
    def _mark(self, params: RecordingMark) -> RecordingInfo:
        info = self.describe(params.id)
        recorder = self._active.get(params.id)
        if recorder is None or recorder.reason is not None:
            raise HawseError("exited", f"recording {params.id} has ended")
        if info.markers >= MARKERS_LIMIT:
            raise HawseError("limit_exceeded", f"marker limit reached: a recording can have {MARKERS_LIMIT} markers")
        recorder.mark(params.label)
        return info

    @handles(RecordingList, caller=True)
    def _list(self, params: RecordingList, caller: Principal) -> RecordingListResult:
        return self._describe_all(reversed(self._infos), params.terminal, caller)

    @serves(RecordingRead)
    def _read(self, call: ServerCall, params: RecordingRead) -> None:
        info = self._visible(params.id, call.principal)
        if info.input and not allows(call.principal.rights, OPERATE):
            raise HawseError("forbidden", "this recording contains input; reading it requires the right 'operate'")
        end = {"cast": info.size, "screens": info.screens, "index": info.index}[params.part]
        offset = params.offset or 0
        if offset > end:
            raise HawseError(
                "invalid_params", f"offset ({offset}) is beyond the end of the file ({end})", details={"size": end}
            )
        length = end - offset if params.length is None else min(params.length, end - offset)
        work = read(
            lambda flags: self._store.open(params.id, params.part, flags),
            offset=offset,
            length=length,
            block=self._slots.block_size,
        )
        call.serve(GeneratorStream(call, work, self._disk, self._tasks, self._slots, offset=offset))

    @serves(RecordingWatch)
    def _watch(self, call: ServerCall, params: RecordingWatch) -> None:
        def read_active() -> RecordingListResult:
            active = [name for name, recorder in self._active.items() if recorder.reason is None]
            return self._describe_all(active, params.terminal, call.principal)

        watch = LatestValueStream(call, "recordings", read_active, lambda watch: self._watches.pop(watch, None))
        self._watches[watch] = None
        call.serve(watch)

    def _describe_all(self, names: Iterable[str], terminal: str | None, caller: Principal) -> RecordingListResult:
        """Describe recordings.

        Args:
            names: The recordings' ids.
            terminal: Include only recordings of this terminal; None means all.
            caller: Include only recordings that this principal can access.
        """
        infos = [self.describe(name) for name in names]
        return RecordingListResult(
            recordings=[info for info in infos if terminal in (None, info.terminal) and _sees(caller, info)]
        )

    def _changed(self) -> None:
        for watch in list(self._watches):
            watch.changed()


def _new(name: str, *, terminal: str, instance: str, cols: int, rows: int, title: str | None = None) -> RecordingInfo:
    """Return a description for a new recording."""
    return RecordingInfo(
        id=name,
        terminal=terminal,
        instance=instance,
        title=title,
        input=False,
        cols=cols,
        rows=rows,
        started=time.time(),
        state="recording",
        message="",
        duration=0.0,
        size=0,
        screens=0,
        index=0,
        markers=0,
        lost=0,
        truncated=False,
    )


def _sees(caller: Principal, info: RecordingInfo) -> bool:
    """Return whether a principal can access a recording. For a desktop, this requires access to the whole sandbox."""
    return allows(caller.rights, VIEW, None if info.desktop is not None else info.terminal)


def _current(info: RecordingInfo, recorder: Recorder | DesktopRecorder) -> RecordingInfo:
    """Return `info`, updated with the recorder's current values."""
    file = recorder.file
    return msgspec.structs.replace(
        info,
        reason=recorder.reason,
        message=recorder.message,
        duration=file.duration,
        size=file.sizes["cast"],
        screens=file.sizes["screens"],
        index=file.sizes["index"],
        markers=file.markers,
        lost=recorder.lost,
        truncated=recorder.incomplete or recorder.reason in _TRUNCATING,
    )
