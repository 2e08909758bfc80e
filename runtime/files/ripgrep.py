"""ripgrep, where there is one: started for one search, read line by line, killed when nobody wants more."""

import base64
import os
import re
import select
import shutil
import signal
import stat
from collections.abc import Generator, Mapping
from typing import Any

import msgspec

from hawse.api.files import FileSearch, SearchMatch
from hawse.api.paths import from_text
from hawse.rpc import from_oserror
from hawse.wire import HawseError
from runtime.core.globs import Filter
from runtime.files.line_matches import told
from runtime.files.rooted_path import RootedPath
from runtime.files.walk import WalkError
from runtime.posix.child import signal_name
from runtime.posix.spawn import ALL_SIGNALS

WAIT = 0.1  # seconds that a step waits for output: a search that is not wanted any more ends within it
RECORD_LIMIT = 4 << 20  # bytes of one record, which holds a whole line; what is longer is told as `too_large`
BLOCK = 64 << 10
FOUND, NOT_FOUND = 0, 1  # exit codes; 2 is an error, also one that `WalkError` has told

# Whose names it cannot change: no configuration, no ignore files, so that it finds what our own walk finds.
_OPTIONS = ("--no-config", "--json", "--no-ignore", "--no-ignore-files")
_SHELL = ("/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "/bin/sh")  # globs count from the directory it is in
_FROM_SHELL = b"/bin/sh:"  # what it says begins so
_MESSAGE = re.compile(rb"^(?:rg: )?(.*): [^:]* \(os error (\d+)\)$", re.DOTALL)


class Ripgrep:
    """The program. `environment`: what it is started in."""

    def __init__(self, program: str, environment: Mapping[str, str]) -> None:
        self._program = program
        self._environment = dict(environment)

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> "Ripgrep | None":
        program = shutil.which("rg", path=environment.get("PATH", os.defpath))
        return None if program is None else cls(program, environment)

    def search(
        self, place: RootedPath, params: FileSearch, wanted: Filter
    ) -> Generator[SearchMatch | WalkError | None, None, None]:
        """The matches below `place`, with paths relative to it. It is gone when this is closed."""
        mode = os.stat(place.path).st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise HawseError("invalid_params", "it is no regular file", details={"path": "$.path"})
        directory, name = (place.path, "") if stat.S_ISDIR(mode) else os.path.split(place.path)
        process = _Process([*_SHELL, directory, self._program, *arguments(params), f"./{name}"], self._environment)
        try:
            yield from _records(process, wanted)
        finally:
            process.close()


def arguments(params: FileSearch) -> list[str]:
    """Its options, up to where paths begin. What a caller gives never is an option of its own."""
    assert params.pattern is not None
    flags = [
        *(["--hidden"] if params.hidden else []),
        *(["--ignore-case"] if params.ignore_case else []),
        *(["--fixed-strings"] if params.literal else []),
    ]
    include = [from_text(glob) for glob in params.include or ()]
    globs = ["--glob=" + (rf"\{glob}" if glob.startswith("!") else glob) for glob in include]
    globs += [f"--glob=!{from_text(glob)}" for glob in params.exclude or ()]
    return [*_OPTIONS, *flags, *globs, f"--regexp={params.pattern}", "--"]


class _Process:
    """A program whose output and messages are read. Ours from its start to its end."""

    def __init__(self, argv: list[str], environment: Mapping[str, str]) -> None:
        pipes = [*os.pipe(), *os.pipe()]
        self.out, out, self.errors, errors = pipes
        try:
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, out, 1),
                (os.POSIX_SPAWN_DUP2, errors, 2),
            ]
            self._pid = os.posix_spawn(
                argv[0], argv, environment, file_actions=actions, setsid=True, setsigmask=[], setsigdef=ALL_SIGNALS
            )
        except BaseException:
            for fd in (self.out, self.errors):
                os.close(fd)
            raise
        finally:
            for fd in (out, errors):
                os.close(fd)

    def wait(self) -> int:
        """It has closed its output: return its exit code."""
        pid, self._pid = self._pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def close(self) -> None:
        """End it, if it has not ended."""
        for fd in (self.out, self.errors):
            os.close(fd)
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)  # not reaped yet, so the pid is still its own
            self.wait()


def _records(process: _Process, wanted: Filter) -> Generator[SearchMatch | WalkError | None, None, None]:
    rest = {process.out: b"", process.errors: b""}
    path, complaint = "", b""
    while rest:
        ready, _, _ = select.select(list(rest), [], [], WAIT)
        if not ready:
            yield None
        for fd in ready:
            data = os.read(fd, BLOCK)
            *lines, tail = (rest[fd] + data).split(b"\n")
            if len(tail) > RECORD_LIMIT:
                tail = b" "  # what follows is no record either
                yield WalkError(_names(path), HawseError("too_large", "a line that is too long"))
            rest[fd] = tail
            if not data:
                del rest[fd]
            for line in lines:
                if fd == process.errors:
                    trouble = _trouble(line)
                    complaint = complaint or (line if trouble is None else b"")
                    yield trouble
                else:
                    found, path = _record(line, path)
                    yield found if found is not None and wanted.wants(_names(path)) else None
    code = process.wait()
    if code < 0:
        raise HawseError("io_error", f"ripgrep was ended by {signal_name(-code)}", admitted="yes")
    if complaint.startswith(_FROM_SHELL):
        raise HawseError("io_error", complaint.decode(errors="replace"), admitted="yes")
    if code not in (FOUND, NOT_FOUND) and complaint:
        raise HawseError("invalid_params", complaint.decode(errors="replace"), details={"path": "$.pattern"})


def _record(line: bytes, path: str) -> tuple[SearchMatch | None, str]:
    """A match, and the file that the record is of."""
    try:
        record: Any = msgspec.json.decode(line)
    except ValueError:
        return None, path
    kind, data = record["type"], record["data"]
    if kind in ("begin", "match"):
        path = os.path.normpath(os.fsdecode(_bytes(data["path"])))
    if kind != "match":
        return None, path
    text = _bytes(data["lines"]).rstrip(b"\r\n")
    spans = [(span["start"], span["end"]) for span in data["submatches"]]
    return told(path, (data["line_number"], text, spans)), path


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _trouble(line: bytes) -> WalkError | None:
    message = _MESSAGE.match(line)
    if message is None:
        return None
    path, number = os.path.normpath(os.fsdecode(message[1])), int(message[2])
    return WalkError(_names(path), from_oserror(OSError(number, os.strerror(number))))


def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))
