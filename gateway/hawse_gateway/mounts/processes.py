"""Starts and ends the processes that serve mounts, and finds them after the gateway is restarted."""

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

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import in_thread
from hawse_gateway.mounts import namespaces, rclone, squashfuse
from hawse_gateway.mounts.plan import READY, Inside, MountPlan
from hawse_gateway.mounts.settings import MountSettings, Source
from hawse_gateway.providers.isolation import host_user
from hawse_gateway.providers.runtime_process import RuntimeProcess

log = logging.getLogger(__name__)

PROGRAM: Final = (sys.executable, "-I", "-m", "hawse_gateway.mounts")
USER: Final = host_user.FIRST - 2  # rclone's user for buckets if the gateway runs as root; no sandbox uses it
START_TIMEOUT: Final = 40.0  # timeout of a mount in seconds, including a query to the store if it is new
PROBE_TIMEOUT: Final = 15.0  # timeout of a check whether a bucket exists, in seconds
UNMOUNT_TIMEOUT: Final = 10.0  # seconds to wait for an unmount
DISCARD_TIMEOUT: Final = 60.0  # timeout of one attempt to delete an overlay's changes, in seconds
END_GRACE: Final = 3.0  # seconds between SIGTERM and SIGKILL
KILL_TIMEOUT: Final = 5.0  # seconds to wait after SIGKILL
REPORT_MAX: Final = 4096  # maximum size of a process's report, in bytes
LOG_MAX: Final = 1 << 20  # maximum size of a log in bytes, before it is truncated
LOG_TAIL: Final = 2000  # number of bytes from the end of the log to show to the operator
_CODES: Final = {
    errno.ENOTEMPTY: "conflict",
    errno.EBUSY: "conflict",
    errno.ENOTDIR: "not_directory",
    errno.ELOOP: "not_directory",
    errno.EACCES: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EIO: "io_error",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
}


class MountFolder:
    """A mount's files in the state directory.

    Args:
        home: The directory for these files. Only the gateway's user can enter the parent directory.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cache = home / "cache"
        self.process = home / "process"  # file that identifies the rclone or squashfuse process
        self.runtime = home / "runtime"  # file with the runtime id of the sandbox start that the mount belongs to
        self.log = home / "log"

    def mounted_in(self) -> str | None:
        """Return the runtime id of the sandbox start that the mount is mounted in, or None if it is not mounted."""
        try:
            return self.runtime.read_text() or None
        except OSError:
            return None


class MountProcesses:
    """Starts and ends rclone and squashfuse.

    Args:
        root: The parent directory for the mounts' files.
        settings: The operator's settings.
    """

    def __init__(self, root: Path, settings: MountSettings) -> None:
        self._root = root
        self._settings = settings
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # processes that this gateway started and must reap

    def folder(self, id: str) -> MountFolder:
        return MountFolder(self._root / id)

    def ids(self) -> list[str]:
        """Return the ids of the mounts that have files in the state directory. Blocks."""
        try:
            return sorted(os.listdir(self._root))
        except FileNotFoundError:
            return []

    def alive(self, id: str) -> bool:
        """Return whether a mount's process is running. Blocks briefly."""
        if (child := self._children.get(id)) is not None and child.poll() is not None:
            del self._children[id]
        process = RuntimeProcess.load(self.folder(id).process)
        return process is not None and process.alive

    async def start(
        self,
        id: str,
        source: Source,
        *,
        inside: Inside | None,
        runtime: str | None,
        read_only: bool,
        check: bool,
    ) -> None:
        """Mount a source. Returns once programs can use the mount.

        Args:
            id: The id of the mount.
            source: The bucket, directory or image.
            inside: The mount point. None means that rclone only uploads the files in its cache.
            runtime: The runtime id of the sandbox start.
            read_only: Whether it is read-only.
            check: Whether the source is mounted for the first time. In this case, the store must respond and contain
                the bucket.

        Raises:
            HawseError: `not_found` if the bucket does not exist, `unavailable`, `conflict`, `not_directory`,
                `permission_denied`, `io_error`, `no_space`.
        """
        plan = MountPlan(id=id, action="mount", inside=inside, read_only=read_only, check=check)
        try:
            if source.image is not None:
                program = squashfuse.check_available()
                image = source.image
                await in_thread(lambda: self._start_image(program, plan, image, runtime or ""))
            else:
                program = rclone.check_available()
                if check and (missing := await self.missing(source)) is not None:
                    raise HawseError("not_found", f"the mount failed: {missing}")
                await in_thread(lambda: self._start_rclone(program, plan, source, runtime or ""))
        except subprocess.TimeoutExpired:
            raise HawseError("unavailable", "an earlier process of this mount is still running") from None
        except OSError as error:
            raise _typed(error, "the mount failed") from error

    async def missing(self, source: Source) -> str | None:
        """Check whether a mount's bucket exists.

        Args:
            source: The mount's source.

        Returns:
            An error message if the bucket does not exist. None if it exists, if the store does not respond, or if the
            source is not a bucket.
        """
        if source.bucket is None or (program := rclone.find()) is None:
            return None
        code = await in_thread(lambda: self._probe(rclone.probe(program, source), source))
        return f"the store has no bucket {source.bucket!r}" if code == rclone.NO_BUCKET else None

    def _probe(self, command: list[str], source: Source) -> int | None:
        """Run an rclone command. Return its exit code, or None if it timed out."""
        user = USER if os.getuid() == 0 else None
        try:
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=rclone.environment(source, self._settings.memory),
                cwd="/",
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                timeout=PROBE_TIMEOUT,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return None

    async def unmount(self, id: str, inside: Inside, *, force: bool, discard: bool = False) -> None:
        """Unmount a mount from a sandbox. Has no effect if it is not mounted.

        Args:
            id: The id of the mount.
            inside: Where it is mounted.
            force: Whether to remove it even if programs are using it.
            discard: Whether to delete the changes to an overlay.

        Raises:
            HawseError: `conflict` if programs are using it; `unavailable` if it can't be unmounted for another reason.
        """
        await self._change(MountPlan(id=id, action="unmount", inside=inside, force=force, discard=discard), inside)

    async def check_unused(self, id: str, inside: Inside) -> None:
        """Check that no program is using a mount. The check succeeds if the mount is not mounted.

        Args:
            id: The id of the mount.
            inside: Where it is mounted.

        Raises:
            HawseError: `conflict` if programs are using it; `unavailable` if the check itself fails.
        """
        await self._change(MountPlan(id=id, action="check", inside=inside), inside)

    async def _change(self, plan: MountPlan, inside: Inside) -> None:
        """Run a process that changes or checks an existing mount. Raises `HawseError`."""
        try:
            if not plan.discard and not await asyncio.to_thread(namespaces.mount_points, inside.pid, plan.id):
                return
            await asyncio.to_thread(self._run, plan)
        except OSError as error:
            if RuntimeProcess.of_pid(inside.pid) is None:
                return  # the sandbox has ended, and its mounts with it
            if error.errno == errno.EBUSY:
                raise HawseError("conflict", "programs are using files in the mount", admitted="yes") from error
            raise _typed(error, "unmounting failed") from error

    async def end(self, id: str) -> None:
        """End a mount's process. Pending uploads stay in its cache. Raises `HawseError` (`unavailable`)."""
        folder = self.folder(id)
        process = await asyncio.to_thread(RuntimeProcess.load, folder.process)
        if process is not None and not await process.end(grace=END_GRACE, timeout=KILL_TIMEOUT):
            raise HawseError("unavailable", f"the mount's process (pid {process.pid}) did not end")
        if (child := self._children.pop(id, None)) is not None:
            await asyncio.to_thread(child.wait)
        folder.process.unlink(missing_ok=True)
        folder.runtime.unlink(missing_ok=True)

    def remove(self, id: str) -> None:
        """Remove a mount's files. Blocks. Raises `OSError`."""
        try:
            shutil.rmtree(self.folder(id).home)
        except FileNotFoundError:
            pass

    def tail(self, id: str) -> str:
        """Return the end of the log to show to the operator. If the log is too long, truncate it. Blocks."""
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

    def _start_rclone(self, program: str, plan: MountPlan, source: Source, runtime: str) -> None:
        folder = self._prepared(plan.id)
        folder.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        user = None
        if os.getuid() == 0:
            user = (USER, USER) if source.directory is None else _owner(source.directory)
            _give(folder.cache, *user)
        if repaired := rclone.repair(folder.cache):
            log.warning(
                "mount %s: rclone was killed while recording %d files; they will be uploaded", plan.id, len(repaired)
            )
        user_inside = 0 if plan.inside is None else plan.inside.user
        size, read_only = self._settings.cache, plan.read_only
        self._serve(
            msgspec.structs.replace(
                plan,
                cache=str(folder.cache),
                directory=source.directory,
                argv=rclone.arguments(program, source, size=size, user=user_inside, read_only=read_only),
                env=rclone.environment(source, self._settings.memory),
                user=user,
            ),
            runtime,
        )

    def _start_image(self, program: str, plan: MountPlan, image: Path, runtime: str) -> None:
        self._prepared(plan.id).home.mkdir(mode=0o700, parents=True, exist_ok=True)
        user = host_user.of_process(plan.id)
        self._serve(
            msgspec.structs.replace(
                plan,
                image=str(image),
                memory=self._settings.memory,
                argv=squashfuse.arguments(program),
                user=(user, user) if os.getuid() == 0 else None,
            ),
            runtime,
        )

    def _prepared(self, id: str) -> MountFolder:
        """Return a mount's files. Reap an earlier process if it has exited."""
        if (earlier := self._children.pop(id, None)) is not None:
            earlier.wait(KILL_TIMEOUT)
        return self.folder(id)

    def _serve(self, plan: MountPlan, runtime: str) -> None:
        """Start a mount's process, and wait until it reports success."""
        id, folder = plan.id, self.folder(plan.id)
        with folder.log.open("ab") as output:
            child = self._children[id] = _popen(plan, output.fileno())
        try:
            if (process := RuntimeProcess.of_pid(child.pid)) is not None:
                process.save(folder.process)
            _wait_until_ready(child, START_TIMEOUT)
            folder.runtime.write_text(runtime)
        except BaseException:
            child.kill()
            child.wait()
            del self._children[id]
            folder.process.unlink(missing_ok=True)
            folder.runtime.unlink(missing_ok=True)
            raise

    def _run(self, plan: MountPlan) -> None:
        child = _popen(plan, subprocess.DEVNULL)
        try:
            _wait_until_ready(child, DISCARD_TIMEOUT if plan.discard else UNMOUNT_TIMEOUT)
        finally:
            child.kill()
            child.wait()


def _popen(plan: MountPlan, errors: int) -> subprocess.Popen[bytes]:
    """Start a process. The plan is passed in an in-memory file, and the gateway's environment is not passed on."""
    with open(os.memfd_create("plan"), "wb+") as stdin:
        stdin.write(msgspec.json.encode(plan))
        stdin.seek(0)  # also writes buffered data to the file
        return subprocess.Popen(
            PROGRAM, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, cwd="/", env={}, start_new_session=True
        )


def _wait_until_ready(child: subprocess.Popen[bytes], timeout: float) -> None:
    """Wait for a process's report. Raises `OSError` unless it reports success."""
    assert child.stdout is not None
    with child.stdout as pipe:
        readable = select.poll()
        readable.register(pipe, select.POLLIN)
        if not readable.poll(timeout * 1000):
            raise TimeoutError(errno.ETIMEDOUT, f"no response within {timeout:g} s")
        answer = pipe.read1(REPORT_MAX)  # type: ignore[attr-defined]  # it is buffered
        if answer != READY:
            number, _, text = answer.decode(errors="replace").partition(" ")
            if number.isdigit():
                raise OSError(int(number), text.strip() or os.strerror(int(number)))
            raise OSError(errno.ECONNABORTED, "the process that serves the mount has ended")


def _typed(error: OSError, what: str) -> HawseError:
    code = _CODES.get(error.errno or 0, "unavailable")
    return HawseError(code, f"{what}: {error.strerror or error}", admitted="yes", details={"errno": error.errno})


def _owner(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_uid, status.st_gid


def _give(directory: Path, user: int, group: int) -> None:
    """Change a cache's owner, unless it is already correct."""
    if directory.stat().st_uid == user:
        return
    for folder, directories, files in os.walk(directory):
        for name in (*directories, *files):
            os.chown(os.path.join(folder, name), user, group, follow_symlinks=False)
    os.chown(directory, user, group)
