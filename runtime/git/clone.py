"""`git.clone`: into a directory beside the target, which takes its name only when it is whole."""

import asyncio
import logging
import os
import secrets
from collections.abc import Callable
from typing import Any

from hawse.api.git import GitClone, GitHead, GitProgress
from hawse.api.paths import to_text
from hawse.rpc import Outcome, typed
from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection, HawseError
from runtime.core.remove_tree import remove_tree
from runtime.core.thread_pool import ThreadPool
from runtime.git.arguments import CloneSource, branch, scope
from runtime.git.porcelain import ProgressReader
from runtime.git.runner import Access, Git, Running

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds that a clone with a key goes on for somebody who may come back


class CloneTask:
    """One clone, and the channels that are told of it. Its `run` has to be started as a task, once."""

    def __init__(
        self,
        git: Git,
        disk: ThreadPool,
        params: GitClone,
        source: CloneSource,
        target: str,
        head: Callable[[str], Any],
        *,
        keyed: bool,
    ) -> None:
        """`head`: what gives a repository's `GitHead`. Raises `invalid_params`."""
        self.readers: dict[CloneReader, None] = {}
        self.progress: GitProgress | None = None
        self.result: GitHead | HawseError | None = None
        self.outcome: Outcome | None = None
        self._git = git
        self._disk = disk
        self._words = _words(params, source)
        self._access = None
        if source.credentials is not None:
            self._access = Access(scope(source.url), source.credentials)
        self._timeout = params.timeout
        self._target = target
        self._head = head
        self._keyed = keyed
        self._running: Running | None = None
        self._cancelled = False
        self._ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Clone, and say what came of it. Whatever goes wrong, nothing of it is left."""
        try:
            result: GitHead | HawseError = await self._clone()
        except Exception as error:
            result = typed(error)
        self._forget_timer()
        self.result = result
        if self.outcome is not None:
            if isinstance(result, HawseError):
                self.outcome.fail(result)
            else:
                self.outcome.succeed(result)
        self._tell()

    async def cancel(self) -> None:
        """Nobody wants it any more."""
        self._cancelled = True
        if self._running is not None:
            await self._git.stop(self._running)

    def detached(self, reader: "CloneReader", start: Callable[[Any], object]) -> None:
        """A channel is gone: cancelled or cut, which look the same from here. Whoever has no key will not come back."""
        self.readers.pop(reader, None)
        if self.readers or self.result is not None:
            return
        if not self._keyed:
            start(self.cancel())
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE, lambda: start(self.cancel()))

    def attached(self, reader: "CloneReader") -> None:
        self.readers[reader] = None
        self._forget_timer()

    # ---- inside

    async def _clone(self) -> GitHead:
        parent, name = os.path.split(self._target)
        work = os.path.join(parent, f".hawse-{secrets.token_hex(8)}")
        made = await self._disk.run(_prepare, self._target, parent, work)
        try:
            progress = ProgressReader(self._heard)
            await self._git.run(
                *self._words,
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

    def _heard(self, progress: GitProgress) -> None:
        self.progress = progress
        self._tell()

    def _tell(self) -> None:
        for reader in list(self.readers):
            reader.wake()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class CloneReader:
    """Serves one `git.clone` call. A `Stream`: of the progress it tells the latest."""

    def __init__(self, cloning: CloneTask, call: RuntimeCall, start: Callable[[Any], object]) -> None:
        self._cloning = cloning
        self._call = call
        self._start = start
        self._told: GitProgress | None = None
        cloning.attached(self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        cloning = self._cloning
        if isinstance(cloning.result, HawseError):
            self._call.error(cloning.result)
        elif cloning.result is not None:
            self._call.result(cloning.result)
        elif cloning.progress is not self._told and connection.window(ch) > 0:
            self._told = cloning.progress
            connection.send_event(ch, "progress", self._told)
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "git.clone takes no input")

    def receive_end(self) -> None:
        pass

    def detach(self) -> None:
        self._cloning.detached(self, self._start)

    def wake(self) -> None:
        self._call.wake()


def _words(params: GitClone, source: CloneSource) -> list[str]:
    words = ["clone", "--progress"]
    if params.depth is not None:
        words.append(f"--depth={params.depth}")
    if params.branch is not None:
        words.append(f"--branch={branch(params.branch, '$.branch')}")
    if params.filter is not None:
        words.append(f"--filter={params.filter}")
    return [*words, "--", source.url]


def _prepare(target: str, parent: str, work: str) -> list[str]:
    """Make what has to be there; return the directories that were made, the innermost last."""
    try:
        if os.listdir(target):
            raise HawseError("conflict", f"{to_text(target)} is not empty", details={"reason": "exists"})
    except NotADirectoryError:
        raise HawseError("conflict", f"{to_text(target)} is no directory", details={"reason": "exists"}) from None
    except FileNotFoundError:
        pass
    made: list[str] = []
    missing = parent
    while not os.path.lexists(missing):
        made.insert(0, missing)
        missing = os.path.dirname(missing)
    try:
        os.makedirs(parent, exist_ok=True)
        os.mkdir(work)
    except OSError:
        _remove(work, made)
        raise
    return made


def _finish(clone: str, target: str) -> None:
    """An empty directory is replaced; one that is no longer empty is not."""
    try:
        os.rename(clone, target)
    except OSError as error:
        raise HawseError("conflict", f"{to_text(target)}: {error.strerror}", details={"reason": "exists"}) from None


def _remove(work: str, made: list[str]) -> None:
    remove_tree(work)
    if os.path.lexists(work):
        log.warning("! %s is left", work)
    for directory in reversed(made):
        try:
            os.rmdir(directory)
        except OSError:  # it is somebody else's as well, by now
            break
