"""The rclone processes of mounts as the gateway sees them: started, found again by a later gateway, ended."""

import asyncio
import errno
import logging
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from gateway.mounts import namespaces, rclone
from gateway.mounts.plan import READY, Inside, Plan
from gateway.mounts.settings import MountSettings, Source
from gateway.providers.isolation import host_user
from gateway.providers.runtime_process import RuntimeProcess
from hawse.wire import HawseError

log = logging.getLogger(__name__)

PROGRAM: Final = (sys.executable, "-I", "-m", "gateway.mounts")
USER: Final = host_user.FIRST - 2  # of rclone for buckets, if the gateway is the superuser: no sandbox has it
START_TIMEOUT: Final = 40.0  # s, in which the store is asked at the creation of a mount
UNMOUNT_TIMEOUT: Final = 10.0  # s
END_GRACE: Final = 3.0  # s from SIGTERM to SIGKILL
KILL_TIMEOUT: Final = 5.0  # s
REPORT_MAX: Final = 4096  # bytes
LOG_MAX: Final = 1 << 20  # bytes of a log, above which it begins anew
LOG_TAIL: Final = 2000  # bytes of it for the operator
_CODES: Final = {
    errno.ENOTEMPTY: "conflict",
    errno.EBUSY: "conflict",
    errno.ENOTDIR: "not_directory",
    errno.ELOOP: "not_directory",
    errno.EACCES: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EIO: "io_error",
}


class MountFolder:
    """The files of one mount in the state directory.

    Args:
        home: The directory. Only the user of the gateway may enter the one above.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cache = home / "cache"
        self.process = home / "process"  # of rclone
        self.runtime = home / "runtime"  # the runtime id of the start of the sandbox that it is mounted in
        self.log = home / "log"

    def mounted_in(self) -> str | None:
        """Return the runtime id of the start that rclone was started for. None: for no sandbox."""
        try:
            return self.runtime.read_text() or None
        except OSError:
            return None


class MountProcesses:
    """Starts and ends rclone.

    Args:
        root: The directory of all mounts.
        settings: The operator's settings.
    """

    def __init__(self, root: Path, settings: MountSettings) -> None:
        self._root = root
        self._settings = settings
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # started here; kept to be reaped

    def folder(self, id: str) -> MountFolder:
        return MountFolder(self._root / id)

    def ids(self) -> list[str]:
        """Return the ids of the mounts that have files here. Blocks."""
        try:
            return sorted(os.listdir(self._root))
        except FileNotFoundError:
            return []

    def alive(self, id: str) -> bool:
        """Return whether rclone runs. Blocks for a moment."""
        if (child := self._children.get(id)) is not None and child.poll() is not None:
            del self._children[id]
        process = RuntimeProcess.load(self.folder(id).process)
        return process is not None and process.alive

    async def start(
        self, id: str, source: Source, *, inside: Inside | None, runtime: str | None, read_only: bool, check: bool
    ) -> None:
        """Mount, and return when programs can use it.

        Args:
            id: The id of the mount.
            source: What it shows.
            inside: Where it appears; None: nowhere, to upload what its cache has.
            runtime: The runtime id of the start of the sandbox.
            read_only: Whether nothing can be written.
            check: Whether the store must answer.

        Raises:
            HawseError: `unavailable`, `conflict`, `not_directory`, `permission_denied`, `io_error`.
        """
        program = rclone.check_available()
        try:
            await asyncio.to_thread(self._start, program, id, source, inside, runtime or "", read_only, check)
        except subprocess.TimeoutExpired:
            raise HawseError("unavailable", "an earlier rclone of the mount has not ended") from None
        except OSError as error:
            raise _typed(error, "the mount was not made") from error

    async def unmount(self, id: str, inside: Inside, *, force: bool) -> None:
        """Remove a mount from a sandbox. One that is not there is not an error.

        Raises:
            HawseError: `conflict` if programs use it, else `unavailable`.
        """
        plan = Plan(id=id, action="unmount", inside=inside, force=force)
        try:
            if not await asyncio.to_thread(namespaces.mount_points, inside.pid, id):
                return
            await asyncio.to_thread(self._unmount, plan)
        except OSError as error:
            if RuntimeProcess.of_pid(inside.pid) is None:
                return  # the sandbox has ended, and its mounts with it
            if error.errno == errno.EBUSY:
                raise HawseError("conflict", "programs use files of the mount", admitted="yes") from error
            raise _typed(error, "the mount was not removed") from error

    async def end(self, id: str) -> None:
        """End rclone. What is not uploaded stays in its cache. Raises `HawseError` `unavailable`."""
        folder = self.folder(id)
        process = await asyncio.to_thread(RuntimeProcess.load, folder.process)
        if process is not None and not await process.end(grace=END_GRACE, timeout=KILL_TIMEOUT):
            raise HawseError("unavailable", f"rclone (pid {process.pid}) did not end")
        if (child := self._children.pop(id, None)) is not None:
            await asyncio.to_thread(child.wait)
        folder.process.unlink(missing_ok=True)
        folder.runtime.unlink(missing_ok=True)

    def remove(self, id: str) -> None:
        """Remove the files of a mount. Blocks. Raises `OSError`."""
        try:
            shutil.rmtree(self.folder(id).home)
        except FileNotFoundError:
            pass

    def tail(self, id: str) -> str:
        """Return the end of the log, for the operator, and begin it anew if it is long. Blocks."""
        path = self.folder(id).log
        try:
            with path.open("rb+") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - LOG_TAIL))
                text = file.read().decode(errors="replace").strip()
                if size > LOG_MAX:
                    file.truncate(0)
                return text
        except OSError:
            return ""

    def _start(
        self, program: str, id: str, source: Source, inside: Inside | None, runtime: str, read_only: bool, check: bool
    ) -> None:
        folder = self.folder(id)
        if (earlier := self._children.pop(id, None)) is not None:
            earlier.wait(KILL_TIMEOUT)  # it has ended; this reaps it
        folder.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        user = None
        if os.getuid() == 0:
            user = (USER, USER) if source.directory is None else _owner(source.directory)
            _give(folder.cache, *user)
        if repaired := rclone.repair(folder.cache):
            log.warning("mount %s: rclone was killed while it noted %d files; they are uploaded", id, len(repaired))
        user_inside = 0 if inside is None else inside.user
        plan = Plan(
            id=id,
            action="mount",
            inside=inside,
            read_only=read_only,
            check=check,
            cache=str(folder.cache),
            directory=source.directory,
            argv=rclone.arguments(program, source, size=self._settings.cache, user=user_inside, read_only=read_only),
            env=rclone.environment(source, self._settings.memory),
            user=user,
        )
        folder.runtime.write_text(runtime)
        with folder.log.open("ab") as output:
            child = self._children[id] = _popen(plan, output.fileno())
        try:
            if (process := RuntimeProcess.of_pid(child.pid)) is not None:
                process.save(folder.process)
            _wait_until_ready(child, START_TIMEOUT)
        except BaseException:
            child.kill()
            child.wait()
            del self._children[id]
            folder.process.unlink(missing_ok=True)
            folder.runtime.unlink(missing_ok=True)
            raise

    def _unmount(self, plan: Plan) -> None:
        child = _popen(plan, subprocess.DEVNULL)
        try:
            _wait_until_ready(child, UNMOUNT_TIMEOUT)
        finally:
            child.kill()
            child.wait()


def _popen(plan: Plan, errors: int) -> subprocess.Popen[bytes]:
    """Start the program with its plan in a file in memory, and without the variables of the gateway."""
    with open(os.memfd_create("plan"), "wb+") as stdin:
        stdin.write(msgspec.json.encode(plan))
        stdin.seek(0)  # which also writes what is buffered
        return subprocess.Popen(
            PROGRAM, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, cwd="/", env={}, start_new_session=True
        )


def _wait_until_ready(child: subprocess.Popen[bytes], timeout: float) -> None:
    """Raise `OSError` if the program does not report that its work is done."""
    assert child.stdout is not None
    with child.stdout as pipe:
        readable = select.poll()
        readable.register(pipe, select.POLLIN)
        if not readable.poll(timeout * 1000):
            raise TimeoutError(errno.ETIMEDOUT, f"there was no answer within {timeout:g} s")
        answer = pipe.read1(REPORT_MAX)  # type: ignore[attr-defined]  # it is buffered
        if answer != READY:
            number, _, text = answer.decode(errors="replace").partition(" ")
            if number.isdigit():
                raise OSError(int(number), text.strip() or os.strerror(int(number)))
            raise OSError(errno.ECONNABORTED, "rclone has ended")


def _typed(error: OSError, what: str) -> HawseError:
    code = _CODES.get(error.errno or 0, "unavailable")
    return HawseError(code, f"{what}: {error.strerror or error}", admitted="yes", details={"errno": error.errno})


def _owner(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_uid, status.st_gid


def _give(directory: Path, user: int, group: int) -> None:
    """Make a user the owner of a cache, unless it is that already."""
    if directory.stat().st_uid == user:
        return
    for folder, directories, files in os.walk(directory):
        for name in (*directories, *files):
            os.chown(os.path.join(folder, name), user, group, follow_symlinks=False)
    os.chown(directory, user, group)
