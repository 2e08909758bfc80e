"""`file.write`: bytes that come by one line or several, and replace a file at the end."""

import asyncio
import logging
import os
from collections.abc import Callable

import msgspec

from hawse.api.files import FileTransferResult, FileWrite, FileWriteOpened
from hawse.rpc import IdempotencyTable, Outcome, fingerprint, typed
from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection, HawseError
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPool
from runtime.files.atomic_replace import AtomicReplacement
from runtime.files.quota import Quota
from runtime.files.rooted_path import RootedPath
from runtime.files.stat import version_of

log = logging.getLogger(__name__)

UPLOAD_PATIENCE = 300.0  # seconds an upload with a key waits for its sender to come back
UPLOADS_LIMIT = 256


class Uploads:
    """Those that are under way."""

    def __init__(self, disk: ThreadPool, tasks: Tasks, outcomes: IdempotencyTable, quota: Quota) -> None:
        self._disk = disk
        self._tasks = tasks
        self._outcomes = outcomes
        self._quota = quota
        self._uploads: dict[Upload, None] = {}

    def __len__(self) -> int:
        return len(self._uploads)

    def serve(self, call: RuntimeCall, place: RootedPath, params: FileWrite) -> None:
        """Begin one, or go on with that of the call's key."""
        named = (params.path, params.root, params.mode, params.parents)
        mark = fingerprint("file.write", msgspec.json.encode(named))
        known = self._outcomes.join(call.key, mark, call.age) if call.key is not None else None
        if known is not None:
            assert isinstance(known.work, Upload)
            known.work.take_over(call)
            return
        if len(self._uploads) >= UPLOADS_LIMIT:
            raise HawseError("limit_exceeded", f"{UPLOADS_LIMIT} uploads are under way")
        upload = Upload(call, place, params, self._disk, self._tasks, self._quota, self._finished)
        self._uploads[upload] = None
        if call.key is not None:
            upload.outcome = self._outcomes.begin(call.key, mark, upload)
        call.serve(upload)

    def close(self) -> None:
        for upload in list(self._uploads):
            upload.abandon()

    def _finished(self, upload: "Upload") -> None:
        del self._uploads[upload]


class Upload:
    """Serves one `file.write` call, and its repeats. A `Stream`."""

    def __init__(
        self,
        call: RuntimeCall,
        place: RootedPath,
        params: FileWrite,
        disk: ThreadPool,
        tasks: Tasks,
        quota: Quota,
        on_finished: Callable[["Upload"], None],
    ) -> None:
        self.outcome: Outcome | None = None  # of its key, if it has one
        self._call: RuntimeCall | None = call
        self._params = params
        self._place = place
        self._disk = disk
        self._tasks = tasks
        self._quota = quota
        self._on_finished = on_finished
        self._file: AtomicReplacement | None = None
        self._applied = 0  # bytes taken
        self._queue: list[bytes] = []  # taken, not yet on the disk; bounded by the input window
        self._ended = False
        self._told = False
        self._busy = False
        self._over = False  # there is a result, and nothing more to do
        self._result: FileTransferResult | HawseError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._advance()

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._call is None:
            return False
        if not self._told:
            if connection.window(ch) <= 0:
                return False
            self._told = True
            connection.send_event(ch, "opened", FileWriteOpened(input_offset=self._applied))
        if self._busy:
            return False
        if isinstance(self._result, HawseError):
            self._call.error(self._result)
        elif self._result is not None:
            self._call.result(self._result)
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        if offset > self._applied:
            raise HawseError("input_gap", f"input at {offset}", details={"applied": self._applied})
        fresh = bytes(payload[self._applied - offset :])
        if self._call is not None:
            self._call.applied(len(payload) - len(fresh))
        if fresh and self._ended:
            raise HawseError("exited", "the upload was ended", details={"applied": self._applied})
        self._applied += len(fresh)
        if fresh and self._result is None:
            self._queue.append(fresh)
            self._advance()

    def receive_end(self) -> None:
        self._ended = True
        self._advance()

    def detach(self) -> None:
        self._call = None
        if self._ended or self._result is not None:
            return  # it ends by itself, or has
        if self.outcome is None:
            self.abandon()
        else:
            self._timer = asyncio.get_running_loop().call_later(UPLOAD_PATIENCE, self.abandon)

    def take_over(self, call: RuntimeCall) -> None:
        """The sender came back by another line: go on with it there."""
        if self._call is not None:
            self._call.error(HawseError("interrupted", "the upload goes on elsewhere", admitted="yes"))
        self._stop_timer()
        self._call = call
        self._told = False
        call.serve(self)

    def abandon(self) -> None:
        """Nobody will finish it."""
        self._stop_timer()
        if self._result is None:
            self._result = HawseError("cancelled", "the upload was abandoned", admitted="yes")
            self._advance()

    # ---- the disk

    def _advance(self) -> None:
        """Do what is due, in a thread, one step at a time."""
        if not self._busy and not self._over:
            self._busy = True
            self._tasks.start(self._run())

    async def _run(self) -> None:
        try:
            while self._result is None and (self._queue or self._ended or self._file is None):
                if self._file is None:
                    await self._disk.run(self._open)
                elif self._queue:
                    queue, self._queue = self._queue, []
                    await self._disk.run(self._write, queue)
                    if self._call is not None:
                        self._call.applied(sum(map(len, queue)))
                else:
                    self._result = await self._disk.run(self._replace)
        except Exception as error:
            self._result = typed(error)
        if self._result is not None:
            self._over = True
            await self._disk.run(self._close)
            self._finish()
        self._busy = False
        if self._call is not None:
            self._call.wake()

    def _open(self) -> None:
        self._file = AtomicReplacement(self._place, parents=self._params.parents is not False)

    def _write(self, parts: list[bytes]) -> None:
        assert self._file is not None
        data = memoryview(b"".join(parts))
        self._quota.add(len(data))
        while data:
            data = data[os.write(self._file.fd, data) :]

    def _replace(self) -> FileTransferResult:
        assert self._file is not None
        status = self._file.commit(self._params.mode)
        self._file = None
        return FileTransferResult(bytes=self._applied, version=version_of(status))

    def _close(self) -> None:
        file, self._file = self._file, None
        try:
            if file is not None:
                file.discard()
        except OSError as error:
            log.warning("! a temporary file is left: %s", error)

    def _finish(self) -> None:
        self._stop_timer()
        self._queue.clear()
        self._on_finished(self)
        if self.outcome is not None:
            if isinstance(self._result, HawseError):
                self.outcome.fail(self._result)
            else:
                self.outcome.succeed(self._result)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
