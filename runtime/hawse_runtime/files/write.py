"""`file.write`: receives a file's bytes, in one call or in several if the connection is lost, and replaces the file.

With an `offset`, an upload continues an existing file in place.
"""

import asyncio
import logging
import os
from collections.abc import Callable

import msgspec

from hawse.api.files import FileTransferResult, FileWrite, FileWriteOpened
from hawse.rpc import IdempotencyTable, Outcome, typed
from hawse.rpc.call import ServerCall
from hawse.sparse_files import write_sparse
from hawse.wire import Connection, HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.atomic_replace import AtomicReplacement
from hawse_runtime.files.in_place import InPlaceWrite
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import version_of

log = logging.getLogger(__name__)


class UploadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on uploads."""

    running: int = 256  # maximum number of concurrent uploads, each with a temporary file and two descriptors
    resume_timeout: float = 30.0  # seconds that a keyed upload waits for its sender; clients reconnect within 10 s
    queue: int = 1 << 20  # maximum number of bytes waiting for the disk when an upload is resumed; 4 input windows


class UploadContext(msgspec.Struct, frozen=True, kw_only=True):
    """Objects shared by all of a runtime's uploads."""

    disk: ThreadPool  # the thread pool for writing files
    tasks: Tasks  # owns upload tasks
    # Counts the bytes written.
    quota: Quota
    limits: UploadLimits
    write: Callable[[int, memoryview], int] = os.write  # writes to a descriptor and returns the number of bytes written


class Uploads:
    """The uploads in progress."""

    def __init__(self, context: UploadContext, idempotency: IdempotencyTable) -> None:
        """Create an empty table. `idempotency` stores the outcomes of keyed uploads."""
        self.context = context
        self._limits = context.limits
        self._idempotency = idempotency
        self._uploads: dict[Upload, None] = {}

    def serve(self, call: ServerCall, place: RootedPath, params: FileWrite) -> None:
        """Serve `call` with a new upload, or with one started by an earlier call with the same key.

        Args:
            call: The call to serve.
            place: The file to write.
            params: The call's parameters.

        Raises:
            HawseError: `limit_exceeded` if too many senders are connected, or if too much of the resumed upload's data
                is waiting for the disk. Also `invalid_params`, or the error from an earlier call with the same key.
        """

        def start(outcome: Outcome) -> Upload:
            self._make_room()
            upload = Upload(place, params, self.context, self._finished, outcome)
            self._uploads[upload] = None
            return upload

        if params.offset is not None and params.if_version is not None:
            raise HawseError(
                "invalid_params", "`offset` must not be set with `if_version`", details={"path": "$.offset"}
            )
        identity = tuple(getattr(params, name) for name in FileWrite.__struct_fields__ if name != "input")
        self._idempotency.attach_or_start(call, identity, start).attach(call)

    def cancel(self, key: str) -> None:
        """Abandon the upload whose call has this key, unless all input has been received."""
        for upload in list(self._uploads):
            if upload.key == key and not upload.ended:
                upload.abandon()

    def close(self) -> None:
        for upload in list(self._uploads):
            upload.abandon()

    def _make_room(self) -> None:
        """If the limit is reached, abandon the upload that has been waiting longest for its sender."""
        limit = self._limits.running
        if sum(not upload.abandoned for upload in self._uploads) < limit:
            return
        waiting = [upload for upload in self._uploads if upload.detached_at is not None and not upload.abandoned]
        if not waiting or len(self._uploads) >= 2 * limit:  # too many abandoned uploads are still being closed
            raise HawseError("limit_exceeded", f"upload limit reached: {limit} uploads are in progress")
        min(waiting, key=lambda upload: upload.detached_at or 0.0).abandon()

    def _finished(self, upload: "Upload") -> None:
        del self._uploads[upload]


class Upload:
    """A `Stream` that serves a `file.write` call and any calls that repeat it."""

    def __init__(
        self,
        place: RootedPath,
        params: FileWrite,
        context: UploadContext,
        on_finished: Callable[["Upload"], None],
        outcome: Outcome,
    ) -> None:
        """Create an upload, which starts on the first `attach`.

        Args:
            place: The file to write.
            params: The call's parameters.
            context: Objects shared with other uploads.
            on_finished: Called once, when the upload has finished and has released all resources.
            outcome: The outcome for the call's key, to be completed by the upload.
        """
        self.abandoned = False  # whether the upload was abandoned and is being cleaned up
        self.detached_at: float | None = (
            None  # loop time when the last sender disconnected; None while a sender is connected
        )
        self._outcome = outcome
        self._call: ServerCall | None = None
        self._params = params
        self._place = place
        self._disk = context.disk
        self._tasks = context.tasks
        self._quota = context.quota
        self._limits = context.limits
        self._write_to = context.write
        self._on_finished = on_finished
        self._file: AtomicReplacement | InPlaceWrite | None = None
        self._received = 0  # number of bytes received, which is also the next byte's offset
        # Data that isn't on disk yet, along with the calls that sent it.
        self._queue: list[tuple[ServerCall, bytes]] = []
        self._queued = 0  # bytes in `_queue`, at most `limits.queue` plus one input window
        self._ended = False
        self._opened = False  # whether the call has received its `opened` event
        self._busy = False
        self._closed = False  # whether the upload has finished with a result
        self._result: FileTransferResult | HawseError | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def key(self) -> str | None:
        """The idempotency key of the upload's call."""
        return self._outcome.key

    @property
    def ended(self) -> bool:
        """Whether all input has been received."""
        return self._ended

    def attach(self, call: ServerCall) -> None:
        """Attach `call` to the upload. Any other call that is still attached ends with `interrupted`.

        Raises:
            HawseError: `limit_exceeded` if more than `limits.queue` bytes are waiting for the disk.
        """
        limit = self._limits.queue
        if self._queued > limit:
            raise HawseError("limit_exceeded", f"more than {limit} bytes of the upload are waiting for the disk")
        if self._call is not None:
            self._call.error(HawseError("interrupted", "another call has continued the upload", admitted="yes"))
        self._stop_timer()
        self.detached_at = None
        self._call = call
        self._opened = False
        call.serve(self)
        self._advance()

    def abandon(self) -> None:
        """Abandon the upload and remove its temporary file. An upload with an `offset` keeps the bytes written."""
        self._stop_timer()
        self.abandoned = True
        if self._result is None:
            self._result = HawseError("cancelled", "the upload was abandoned", admitted="yes")
            self._advance()

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._call is None:
            return False
        if not self._opened:
            if connection.window(ch) <= 0:
                return False
            self._opened = True
            connection.send_event(ch, "opened", FileWriteOpened(input_offset=self._received))
        if self._busy:
            return False
        if isinstance(self._result, HawseError):
            self._call.error(self._result)
        elif self._result is not None:
            self._call.result(self._result)
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        if offset > self._received:
            raise HawseError(
                "input_gap",
                f"input starts at {offset}, but only {self._received} bytes were received before",
                details={"applied": self._received},
            )
        new = bytes(payload[self._received - offset :])
        if self._call is None:
            return
        self._call.applied(len(payload) - len(new))
        if new and self._ended:
            raise HawseError("exited", "the upload has ended", details={"applied": self._received})
        self._received += len(new)
        if new and self._result is None:
            self._queue.append((self._call, new))
            self._queued += len(new)
            self._advance()

    def receive_end(self) -> None:
        self._ended = True
        self._advance()

    def detach(self) -> None:
        self._call = None
        if self._ended or self._result is not None:
            return  # the upload can finish without a sender
        loop = asyncio.get_running_loop()
        self.detached_at = loop.time()
        if self._outcome.key is None:
            self.abandon()
        else:
            self._timer = loop.call_later(self._limits.resume_timeout, self.abandon)

    # ---- the disk

    def _advance(self) -> None:
        """Handle pending data in a thread, one step at a time."""
        if not self._busy and not self._closed:
            self._busy = True
            self._tasks.start(self._run())

    async def _run(self) -> None:
        try:
            while self._result is None and (self._queue or self._ended or self._file is None):
                if self._file is None:
                    await self._disk.run(self._open)
                elif self._queue:
                    queue, self._queue = self._queue, []
                    await self._disk.run(self._write, [data for _, data in queue])
                    self._queued -= sum(len(data) for _, data in queue)
                    for call, data in queue:
                        if call is self._call:  # false for an earlier call, whose channel is closed
                            call.applied(len(data))
                else:
                    self._result = await self._disk.run(self._replace)
        except Exception as error:
            self._result = typed(error, self._params.path)
        if self._result is not None:
            self._closed = True
            await self._disk.run(self._close)
            self._finish()
        self._busy = False
        if self._call is not None:
            self._call.wake()

    def _open(self) -> None:
        parents, offset = self._params.parents is not False, self._params.offset
        if offset is None:
            self._file = AtomicReplacement(self._place, parents=parents)
        else:
            self._file = InPlaceWrite(self._place, offset, parents=parents)

    def _write(self, parts: list[bytes]) -> None:
        assert self._file is not None
        data = memoryview(b"".join(parts))
        self._quota.add(len(data))
        if self._params.sparse:
            at = os.lseek(self._file.fd, 0, os.SEEK_CUR)
            write_sparse(self._file.fd, data, at)
            os.lseek(self._file.fd, at + len(data), os.SEEK_SET)
            return
        while data:
            data = data[self._write_to(self._file.fd, data) :]

    def _replace(self) -> FileTransferResult:
        assert self._file is not None
        params, file = self._params, self._file
        if isinstance(file, AtomicReplacement):
            status = file.commit(params.mode, params.if_version, params.mtime_ns)
        else:
            status = file.commit(params.mode, params.mtime_ns)
        self._file = None
        return FileTransferResult(bytes=self._received, version=version_of(status))

    def _close(self) -> None:
        file, self._file = self._file, None
        try:
            if file is not None:
                file.discard()
        except OSError as error:
            log.warning("! cannot remove a temporary file: %s", error)

    def _finish(self) -> None:
        self._stop_timer()
        self._queue.clear()
        self._queued = 0
        self._on_finished(self)
        if isinstance(self._result, HawseError):
            self._outcome.fail(self._result)
        else:
            self._outcome.succeed(self._result)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
