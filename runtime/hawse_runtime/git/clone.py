"""`git.clone`: clones into a temporary directory next to the target, then renames that directory to the target."""

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Callable
from typing import Any

from hawse.api.git import GitClone, GitHead, GitProgress
from hawse.api.paths import to_text
from hawse.rpc import Outcome, typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_runtime.core.remove_tree import remove_tree
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.git.arguments import CloneSource, branch, scope
from hawse_runtime.git.porcelain import ProgressReader
from hawse_runtime.git.runner import Access, GitRunner, Running

log = logging.getLogger(__name__)


class CloneTask:
    """A clone and the calls waiting for it. Start `run` once, as a task."""

    def __init__(
        self,
        git: GitRunner,
        disk: ThreadPool,
        params: GitClone,
        source: CloneSource,
        target: str,
        head: Callable[[str], Any],
        outcome: Outcome,
    ) -> None:
        """Create a clone.

        Args:
            git: Runs git.
            disk: The thread pool for creating and removing directories.
            params: The call's parameters.
            source: The validated URL and credentials.
            target: The absolute path for the new repository.
            head: Returns an awaitable `GitHead` for the repository at a path.
            outcome: The outcome for the call's key, to be completed by the clone.

        Raises:
            HawseError: `invalid_params` if the branch name is invalid.
        """
        self.readers: dict[CloneReader, None] = {}
        self.progress: GitProgress | None = None
        self.result: GitHead | HawseError | None = None
        self._outcome = outcome
        self._git = git
        self._disk = disk
        self._arguments = _arguments(params, source)
        self._access = None
        if source.credentials is not None:
            self._access = Access(scope(source.url), source.credentials)
        self._timeout = params.timeout
        self._target = target
        self._head = head
        self._running: Running | None = None
        self._cancelled = False
        self._ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Clone the repository and complete the outcome. If cloning fails, nothing is left behind."""
        try:
            result: GitHead | HawseError = await self._clone()
        except Exception as error:
            result = typed(error)
        self._forget_timer()
        self.result = result
        if isinstance(result, HawseError):
            self._outcome.fail(result)
        else:
            self._outcome.succeed(result)
        self._wake_readers()

    async def cancel(self) -> None:
        """End the clone. Its calls fail with `cancelled`."""
        self._cancelled = True
        if self._running is not None:
            await self._git.stop(self._running)

    def detached(self, reader: "CloneReader", start: Callable[[Any], object]) -> None:
        """Handle a call that was cancelled or lost its connection.

        If no call is waiting for the clone any more, it is cancelled. If it has a key, this happens only after a while,
        because its call may be repeated.
        """
        self.readers.pop(reader, None)
        if self.readers or self.result is not None:
            return
        if self._outcome.key is None:
            start(self.cancel())
        elif self._timer is None:
            timeout = self._git.limits.resume_timeout
            self._timer = asyncio.get_running_loop().call_later(timeout, lambda: start(self.cancel()))

    def attached(self, reader: "CloneReader") -> None:
        self.readers[reader] = None
        self._forget_timer()

    # ---- internals

    async def _clone(self) -> GitHead:
        parent, name = os.path.split(self._target)
        work = os.path.join(parent, f".hawse-{secrets.token_hex(8)}")
        made = await self._disk.run(_prepare, self._target, parent, work)
        try:
            progress = ProgressReader(self._receive_progress)
            await self._git.run(
                *self._arguments,
                name,
                cwd=work,
                access=self._access,
                timeout=self._timeout,
                on_stderr=progress.feed,
                on_start=self._started,
            )
            head: GitHead = await self._head(os.path.join(work, name))
            if self._cancelled:
                raise HawseError("cancelled", "the clone was cancelled", admitted="yes")
            await self._disk.run(_finish, os.path.join(work, name), self._target)
        except BaseException:
            await self._disk.run(_remove, work, made)
            raise
        await self._disk.run(os.rmdir, work)
        head.path = to_text(self._target)
        return head

    def _started(self, running: Running) -> None:
        self._running = running
        if self._cancelled:
            raise HawseError("cancelled", "the clone was cancelled", admitted="yes")

    def _receive_progress(self, progress: GitProgress) -> None:
        self.progress = progress
        self._wake_readers()

    def _wake_readers(self) -> None:
        for reader in list(self.readers):
            reader.wake()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class CloneReader(OutputOnlyStream):
    """Serves a `git.clone` call. Sends only the latest progress."""

    def __init__(self, task: CloneTask, call: ServerCall, start: Callable[[Any], object]) -> None:
        super().__init__(call)
        self._task = task
        self._start = start
        self._sent: GitProgress | None = None
        task.attached(self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        task = self._task
        if isinstance(task.result, HawseError):
            self._call.error(task.result)
        elif task.result is not None:
            self._call.result(task.result)
        elif task.progress is not self._sent and connection.window(ch) > 0:
            self._sent = task.progress
            connection.send_event(ch, "progress", self._sent)
        return False

    def detach(self) -> None:
        self._task.detached(self, self._start)


def _arguments(params: GitClone, source: CloneSource) -> list[str]:
    arguments = ["clone", "--progress"]
    if params.depth is not None:
        arguments.append(f"--depth={params.depth}")
    if params.branch is not None:
        arguments.append(f"--branch={branch(params.branch, '$.branch')}")
    if params.filter is not None:
        arguments.append(f"--filter={params.filter}")
    return [*arguments, "--", source.url]


def _prepare(target: str, parent: str, work: str) -> list[str]:
    """Create the directory `work` and any missing parents. Return the created parents, outermost first."""
    try:
        if os.listdir(target):
            raise HawseError("conflict", f"{to_text(target)} is not empty", details={"reason": "exists"})
    except NotADirectoryError:
        raise HawseError("conflict", f"{to_text(target)} is not a directory", details={"reason": "exists"}) from None
    except FileNotFoundError:
        pass
    made: list[str] = []
    missing = parent
    while not os.path.lexists(missing):
        made.insert(0, missing)
        missing = os.path.dirname(missing)
    try:
        for directory in made:  # os.makedirs would recurse at each level
            with contextlib.suppress(FileExistsError):  # another program may create it first
                os.mkdir(directory)
        os.mkdir(work)
    except OSError:
        _remove(work, made)
        raise
    return made


def _finish(clone: str, target: str) -> None:
    """Rename the clone to its target, which must be missing or an empty directory."""
    try:
        os.rename(clone, target)
    except OSError as error:
        raise HawseError("conflict", f"{to_text(target)}: {error.strerror}", details={"reason": "exists"}) from None


def _remove(work: str, made: list[str]) -> None:
    remove_tree(work)
    if os.path.lexists(work):
        log.warning("! cannot remove %s", work)
    for directory in reversed(made):
        try:
            os.rmdir(directory)
        except OSError:  # another program has put a file into the target directory
            break
