"""`file.read`, `file.write` and `file.stat`: byte streams of any size. The disk is only touched in threads."""

import asyncio
import logging
import os
import secrets
import stat
from collections.abc import Callable
from typing import Any

import msgspec

from hawse.api.fields import InputId, Length, Mode, Offset, Path
from hawse.wire import Connection, HawseError, Kind
from runtime.call import Call
from runtime.dispatch import Method, typed
from runtime.environment import Environment
from runtime.outcomes import Outcome, Outcomes, fingerprint
from runtime.tasks import Tasks

log = logging.getLogger(__name__)

READ_AHEAD = 256 << 10  # bytes read at a time, and held until they are sent
UPLOAD_PATIENCE = 300.0  # seconds an upload with a key waits for its sender to come back
UPLOADS_LIMIT = 256


class Stat(msgspec.Struct):
    path: Path


class Read(msgspec.Struct):
    path: Path
    offset: Offset | None = None
    length: Length | None = None
    version: str | None = None


class Write(msgspec.Struct):
    path: Path
    input: InputId
    mode: Mode | None = None
    parents: bool | None = None


def version_of(status: os.stat_result) -> str:
    """Names a file's content: it changes whenever the file is written or replaced."""
    return f"{status.st_dev:x}-{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"


class Files:
    """The methods, and the uploads that are under way."""

    def __init__(self, environment: Environment, tasks: Tasks, outcomes: Outcomes) -> None:
        self._environment = environment
        self._tasks = tasks
        self._outcomes = outcomes
        self._uploads: dict[Upload, None] = {}

    def methods(self) -> dict[str, Method]:
        return {
            "file.read": Method(Read, self._read, stream=True),
            "file.write": Method(Write, self._write, stream=True),
            "file.stat": Method(Stat, lambda call, p: asyncio.to_thread(self._stat, p.path)),
        }

    def close(self) -> None:
        for upload in list(self._uploads):
            upload.abandon()

    def _stat(self, path: str) -> dict[str, Any]:
        status = os.stat(self._environment.path(path))
        return _describe(status) | {"path": path, "type": _type(status)}

    def _read(self, call: Call, params: Read) -> None:
        call.serve(FileReader(call, self._environment.path(params.path), params, self._tasks))

    def _write(self, call: Call, params: Write) -> None:
        path = self._environment.path(params.path)
        mark = fingerprint("file.write", msgspec.json.encode((params.path, params.mode, params.parents)))
        known = self._outcomes.join(call.key, mark, call.age) if call.key is not None else None
        if known is not None:
            assert isinstance(known.work, Upload)
            known.work.take_over(call)
            return
        if len(self._uploads) >= UPLOADS_LIMIT:
            raise HawseError("limit_exceeded", f"{UPLOADS_LIMIT} uploads are under way")
        upload = Upload(call, path, params, self._tasks, self._finished)
        self._uploads[upload] = None
        if call.key is not None:
            upload.outcome = self._outcomes.begin(call.key, mark, upload)
        call.serve(upload)

    def _finished(self, upload: "Upload") -> None:
        del self._uploads[upload]


class FileReader:
    """Serves one `file.read` call: reads a block ahead of what has been sent. A `Stream`."""

    def __init__(self, call: Call, path: str, params: Read, tasks: Tasks) -> None:
        self._call = call
        self._params = params
        self._path = path
        self._tasks = tasks
        self._fd: int | None = None
        self._opened: dict[str, Any] | None = None
        self._told = False
        self._offset = params.offset or 0  # of the next byte to send
        self._stop = 0
        self._block = memoryview(b"")
        self._version = ""
        self._busy = False
        self._gone = False
        self._work(self._open)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._told and not self._block and self._offset >= self._stop:
            value = {"bytes": self._offset - (self._params.offset or 0), "version": self._version}
            self._call.result(value)  # free, so without a look at the window
            return False
        if connection.window(ch) <= 0 or self._opened is None:
            return False
        if not self._told:
            self._told = True
            connection.send_event(ch, "opened", self._opened)
        elif self._block:
            part = self._block[: min(size, connection.window(ch))]
            connection.send_data(ch, Kind.OUTPUT, self._offset, part)
            self._offset += len(part)
            self._block = self._block[len(part) :]
        else:
            self._work(self._fill)
            return False
        return True

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "file.read takes no input")

    def receive_end(self) -> None:
        pass

    def detach(self) -> None:
        self._gone = True
        if not self._busy:
            self._close()

    def _work(self, step: Callable[[], None]) -> None:
        """Run `step` in a thread; one at a time."""
        if not self._busy:
            self._busy = True
            self._tasks.start(self._run(step))

    async def _run(self, step: Callable[[], None]) -> None:
        failure = None
        try:
            await asyncio.to_thread(step)
        except Exception as error:
            failure = typed(error)
        self._busy = False
        if failure is not None:
            self._call.error(failure)
        if self._gone:
            self._close()
        else:
            self._call.wake()

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        status = os.fstat(self._fd)
        if stat.S_ISDIR(status.st_mode):
            raise HawseError("is_directory", self._params.path)
        if not stat.S_ISREG(status.st_mode):
            raise HawseError("invalid_params", f"{self._params.path} is a {_type(status)}")
        self._version = version_of(status)
        if self._params.version not in (None, self._version):
            raise HawseError("conflict", "the file has changed", details={"version": self._version})
        length = self._params.length
        self._stop = status.st_size if length is None else min(status.st_size, self._offset + length)
        self._opened = _describe(status)

    def _fill(self) -> None:
        assert self._fd is not None
        data = os.pread(self._fd, min(READ_AHEAD, self._stop - self._offset), self._offset)
        if not data:  # it was cut short meanwhile
            raise HawseError("conflict", "the file has changed", admitted="yes")
        self._block = memoryview(data)

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Upload:
    """Serves one `file.write` call, and its repeats: a temporary file that replaces the target at the end."""

    def __init__(
        self, call: Call, path: str, params: Write, tasks: Tasks, on_finished: Callable[["Upload"], None]
    ) -> None:
        self.outcome: Outcome | None = None  # of its key, if it has one
        self._call: Call | None = call
        self._params = params
        self._path = path
        self._tasks = tasks
        self._on_finished = on_finished
        self._temporary = ""
        self._fd: int | None = None
        self._applied = 0  # bytes taken
        self._queue: list[bytes] = []  # taken, not yet on the disk; bounded by the input window
        self._ended = False
        self._told = False
        self._busy = False
        self._over = False  # there is a result, and nothing more to do
        self._result: dict[str, Any] | HawseError | None = None
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
            connection.send_event(ch, "opened", {"input_offset": self._applied})
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

    def take_over(self, call: Call) -> None:
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
            while self._result is None and (self._queue or self._ended or self._fd is None):
                if self._fd is None:
                    await asyncio.to_thread(self._open)
                elif self._queue:
                    queue, self._queue = self._queue, []
                    await asyncio.to_thread(self._write, queue)
                    if self._call is not None:
                        self._call.applied(sum(map(len, queue)))
                else:
                    self._result = await asyncio.to_thread(self._replace)
        except Exception as error:
            self._result = typed(error)
        if self._result is not None:
            self._over = True
            await asyncio.to_thread(self._close)
            self._finish()
        self._busy = False
        if self._call is not None:
            self._call.wake()

    def _open(self) -> None:
        path = os.path.realpath(self._path)  # a symlink stays, its target is replaced
        try:
            kind = os.stat(path).st_mode
        except FileNotFoundError:
            if self._params.parents is not False:
                os.makedirs(os.path.dirname(path), exist_ok=True)
        else:
            if stat.S_ISDIR(kind):
                raise HawseError("is_directory", self._params.path)
            if not stat.S_ISREG(kind):
                raise HawseError("invalid_params", f"{self._params.path} is no regular file")
        self._path = path
        self._temporary = os.path.join(os.path.dirname(path), f".hawse-{secrets.token_hex(8)}")
        self._fd = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def _write(self, parts: list[bytes]) -> None:
        assert self._fd is not None
        data = memoryview(b"".join(parts))
        while data:
            data = data[os.write(self._fd, data) :]

    def _replace(self) -> dict[str, Any]:
        assert self._fd is not None
        mode = self._params.mode
        if mode is None:
            try:
                mode = stat.S_IMODE(os.stat(self._path).st_mode)
            except FileNotFoundError:
                pass
        if mode is not None:
            os.fchmod(self._fd, mode)
        os.replace(self._temporary, self._path)
        return {"bytes": self._applied, "version": version_of(os.fstat(self._fd))}

    def _close(self) -> None:
        if self._fd is None:
            return
        os.close(self._fd)
        if isinstance(self._result, HawseError):
            try:
                os.unlink(self._temporary)
            except OSError as error:
                log.warning("! %s is left: %s", self._temporary, error)

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


def _describe(status: os.stat_result) -> dict[str, Any]:
    return {
        "size": status.st_size,
        "mode": stat.S_IMODE(status.st_mode),
        "mtime": status.st_mtime,
        "version": version_of(status),
    }


_TYPES = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
)


def _type(status: os.stat_result) -> str:
    return next((name for is_kind, name in _TYPES if is_kind(status.st_mode)), "device")
