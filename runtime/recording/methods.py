"""The recordings of a sandbox, and the `recording.*` methods (docs/wire.md section 9)."""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hawse.api.recordings import (
    RecordingDelete,
    RecordingGet,
    RecordingList,
    RecordingMark,
    RecordingRead,
    RecordingStart,
    RecordingStop,
    RecordingWatch,
)
from hawse.api.rights import OPERATE, allows
from hawse.api.terminals import RecordOptions
from hawse.rpc import handles, serves
from hawse.rpc.call import RuntimeCall
from hawse.wire import HawseError
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPool
from runtime.files.read import read
from runtime.recording.asciicast import header
from runtime.recording.cast_writer import LAST_LINE, CastWriter, QuotaError
from runtime.recording.recorder import Recorder
from runtime.recording.storage import EACH, RecordingFile, RecordingQuota, RecordingStore
from runtime.recording.watch import RecordingWatchStream
from runtime.rpc.generator_stream import GeneratorStream
from runtime.rpc.handle_checks import check_running
from runtime.terminal.methods import TerminalMethods
from runtime.terminal.terminal import Terminal

log = logging.getLogger(__name__)

ACTIVE_LIMIT = 64  # recordings that go on at a time
KEPT_LIMIT = 1000
MARKERS_LIMIT = 1000  # of one recording
LEAST_ROOM = 1 << 20  # bytes without which a recording is not begun

_TRUNCATING = ("quota", "no_space", "io_error")


class RecordingMethods:
    """By id: those that go on, and those that are kept."""

    def __init__(
        self,
        folder: Path,
        terminals: TerminalMethods,
        tasks: Tasks,
        disk: ThreadPool,
        *,
        room: RecordingQuota | None = None,
    ) -> None:
        self._archive = RecordingStore(folder)
        self._terminals = terminals
        self._tasks = tasks
        self._disk = disk
        self._room = room or RecordingQuota()
        self._infos = {info.id: info for info in self._archive.load()}
        self._room.count(sum(info.size + info.screens + info.index for info in self._infos.values()))
        self._active: dict[str, Recorder] = {}
        self._watches: dict[RecordingWatchStream, None] = {}
        terminals.recording = self._policy

    @property
    def active(self) -> int:
        """How many go on."""
        return len(self._active)

    def describe(self, name: str) -> RecordingFile:
        """The recording as it is now. Raises `not_found`."""
        info = self._infos.get(name)
        if info is None:
            raise HawseError("not_found", f"recording {name} does not exist")
        recorder = self._active.get(name)
        if recorder is not None:
            _update_info(info, recorder)
        return info

    @handles(RecordingGet)
    def _get(self, params: RecordingGet) -> RecordingFile:
        return self.describe(params.id)

    async def close(self) -> None:
        """End what still goes on."""
        for recorder in list(self._active.values()):
            recorder.stop()
        for recorder in list(self._active.values()):
            await recorder.done.wait()

    # ---- beginning and end

    def _policy(self, policy: RecordOptions) -> Callable[[Terminal], None]:
        self._check_room()

        def begin(terminal: Terminal) -> None:
            self._begin(terminal, f"r-{secrets.token_hex(6)}", with_input=policy.input)

        return begin

    @handles(RecordingStart)
    async def _start(self, params: RecordingStart) -> RecordingFile:
        terminal = self._terminals.get(params.terminal)
        check_running("terminal", terminal)
        name = params.id or f"r-{secrets.token_hex(6)}"
        if name in self._infos:
            raise HawseError("conflict", f"recording {name} already exists")
        self._check_room()
        recorder = self._begin(terminal, name, with_input=params.input, title=params.title)
        try:
            await asyncio.shield(recorder.opened)
        except (OSError, QuotaError) as error:
            await self._discard(name)
            if isinstance(error, OSError):
                raise
            raise HawseError("no_space", "the recordings of this sandbox have no room left") from None
        return self.describe(name)

    def _check_room(self) -> None:
        if len(self._active) >= ACTIVE_LIMIT:
            raise HawseError("limit_exceeded", f"recording limit reached: {ACTIVE_LIMIT} are in progress")
        if len(self._infos) >= KEPT_LIMIT:
            raise HawseError("limit_exceeded", f"recording limit reached: {KEPT_LIMIT} are kept; delete some")
        if self._room.left < LEAST_ROOM:
            raise HawseError("no_space", "the recordings of this sandbox have no room left: delete some")

    def _begin(self, terminal: Terminal, name: str, *, with_input: bool, title: str | None = None) -> Recorder:
        started = time.time()
        cols, rows = terminal.size
        info = RecordingFile(
            id=name,
            terminal=terminal.id,
            instance=terminal.instance,
            title=title,
            input=with_input,
            cols=cols,
            rows=rows,
            started=started,
        )
        shell = terminal.argv[0]

        def first_line(cols: int, rows: int) -> bytes:
            env = {"TERM": "xterm-256color", "SHELL": shell}
            return header(cols, rows, timestamp=started, term="xterm-256color", title=title, env=env)

        file = CastWriter(self._archive.folder, name, limit=EACH, reserve=self._room.take)
        recorder = Recorder(terminal, file, first_line, self._disk, with_input=with_input)
        self._infos[name] = info
        self._active[name] = recorder
        self._tasks.start(self._run(info, recorder))
        self._changed()
        return recorder

    async def _run(self, info: RecordingFile, recorder: Recorder) -> None:
        try:
            await self._save(info)
            await recorder.run()
        finally:
            _update_info(info, recorder)
            info.state = "finished"
            self._room.count(LAST_LINE)
            await self._save(info)
            del self._active[info.id]
            recorder.done.set()
            self._changed()

    async def _save(self, info: RecordingFile) -> None:
        try:
            await self._disk.run(self._archive.save, info)
        except OSError as error:
            log.warning("! the recording %s: %s", info.id, error)

    @handles(RecordingStop)
    async def _stop(self, params: RecordingStop) -> RecordingFile:
        return await self._end(params.id)

    async def _end(self, name: str) -> RecordingFile:
        """Again, it does nothing."""
        self.describe(name)
        recorder = self._active.get(name)
        if recorder is not None:
            recorder.stop()
            await recorder.done.wait()
        return self.describe(name)

    @handles(RecordingDelete)
    async def _delete(self, params: RecordingDelete) -> dict[str, Any]:
        await self._discard(params.id)
        return {}

    async def _discard(self, name: str) -> None:
        info = await self._end(name)
        if self._infos.pop(name, None) is not None:
            await self._disk.run(self._archive.delete, name)
            self._room.count(-(info.size + info.screens + info.index))
            self._changed()

    # ---- what one asks

    @handles(RecordingMark)
    def _mark(self, params: RecordingMark) -> RecordingFile:
        info = self.describe(params.id)
        recorder = self._active.get(params.id)
        if recorder is None or recorder.reason is not None:
            raise HawseError("exited", f"recording {params.id} has ended")
        if info.markers >= MARKERS_LIMIT:
            raise HawseError("limit_exceeded", f"{MARKERS_LIMIT} markers")
        recorder.mark(params.label)
        return info

    @handles(RecordingList)
    def _list(self, params: RecordingList) -> dict[str, Any]:
        terminal = params.terminal
        """The newest first."""
        infos = [self.describe(name) for name in reversed(self._infos)]
        return {"recordings": [info for info in infos if terminal is None or info.terminal == terminal]}

    @serves(RecordingRead)
    def _read(self, call: RuntimeCall, params: RecordingRead) -> None:
        info = self.describe(params.id)
        if info.input and not allows(call.principal.rights, OPERATE):
            raise HawseError("forbidden", "it holds what was typed: reading it requires the right 'operate'")
        end = {"cast": info.size, "screens": info.screens, "index": info.index}[params.part]
        offset = params.offset or 0
        if offset > end:
            raise HawseError(
                "invalid_params", f"offset ({offset}) is beyond the end of the file ({end})", details={"size": end}
            )
        length = end - offset if params.length is None else min(params.length, end - offset)
        path = self._archive.path(params.id, params.part)
        work = read(lambda flags: os.open(path, flags), offset=offset, length=length)
        call.serve(GeneratorStream(call, work, self._disk, self._tasks, offset=offset))

    @serves(RecordingWatch)
    def _watch(self, call: RuntimeCall, params: RecordingWatch) -> None:
        watch = RecordingWatchStream(call, lambda: self._going_on(params.terminal), self._forget)
        self._watches[watch] = None
        call.serve(watch)

    def _going_on(self, terminal: str | None) -> dict[str, Any]:
        infos = [self.describe(name) for name, recorder in self._active.items() if recorder.reason is None]
        return {"recordings": [info for info in infos if terminal is None or info.terminal == terminal]}

    def _forget(self, watch: RecordingWatchStream) -> None:
        self._watches.pop(watch, None)

    def _changed(self) -> None:
        for watch in list(self._watches):
            watch.changed()


def _update_info(info: RecordingFile, recorder: Recorder) -> None:
    file = recorder.file
    info.size, info.screens, info.index = file.sizes["cast"], file.sizes["screens"], file.sizes["index"]
    info.duration = file.duration
    info.markers, info.lost = file.markers, recorder.lost
    info.reason, info.message = recorder.reason, recorder.message
    info.truncated = recorder.lost > 0 or recorder.reason in _TRUNCATING
