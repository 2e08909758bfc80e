"""Git in a sandbox: each method is one call that is done once, whatever happens to the line."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from hawse.api import Params
from hawse.api.git import (
    DIFF_LIMIT,
    NETWORK_TIMEOUT,
    GitAdd,
    GitAuthor,
    GitBranch,
    GitBranchResult,
    GitCancel,
    GitCheckout,
    GitClone,
    GitCommit,
    GitCredentials,
    GitDiff,
    GitDiffResult,
    GitHead,
    GitLog,
    GitLogResult,
    GitProgress,
    GitPull,
    GitPush,
    GitPushResult,
    GitStatus,
    GitStatusResult,
)
from hawse.api.paths import from_text
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.decode import parse
from hawse.client.files.files import PathLike, wire_path
from hawse.wire import Event

WINDOW = 64 << 10  # bytes of progress on their way


class CloneCall(ClientCall):
    """`git.clone`: keyed, so that a repeat joins the clone that goes on, or gets its outcome."""

    def __init__(
        self, sandbox: str, params: GitClone, on_progress: Callable[[GitProgress], object] | None = None
    ) -> None:
        super().__init__(params, sandbox=sandbox, key=new_key(), window=WINDOW)
        self._on_progress = on_progress

    def receive_event(self, event: Event) -> None:
        if event.name == "progress" and self._on_progress is not None:
            self._on_progress(parse(event.value, GitProgress))
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> GitHead:
        return _local(parse(value, GitHead))


class Git:
    """`sandbox.git`. `path` is a directory of the repository, by default the workspace.

    What git refuses is a `HawseError`: `details["reason"]` says why in one word (`not_a_repository`, `authentication`,
    `network`, `revision`, `local_changes`, `merge`, `rejected`, …), `details["stderr"]` what git said, without secrets.
    """

    def __init__(self, calls: CallTable, sandbox: str) -> None:
        self._calls = calls
        self._sandbox = sandbox

    async def clone(
        self,
        url: str,
        path: PathLike | None = None,
        *,
        depth: int | None = None,
        branch: str | None = None,
        filter: str | None = None,
        credentials: GitCredentials | None = None,
        timeout: float | None = None,
        on_progress: Callable[[GitProgress], object] | None = None,
    ) -> GitHead:
        """Clone into `path`, which is there as a whole or not at all. Being cancelled ends the clone.

        `filter`: such as `blob:none`. `credentials`: for http and https; they are kept nowhere. `timeout`: seconds, 600
        by default. `on_progress` is called from the event loop. Raises `conflict` (`path` is not empty), `not_found`,
        `permission_denied`, `deadline_exceeded`, `io_error` with the reason `network`.
        """
        params = GitClone(
            url=url,
            path=None if path is None else wire_path(path),
            depth=depth,
            branch=branch,
            filter=filter,
            credentials=credentials,
            timeout=NETWORK_TIMEOUT if timeout is None else timeout,
        )
        call = CloneCall(self._sandbox, params, on_progress)
        try:
            head: GitHead = await self._calls.perform(call)
        except asyncio.CancelledError:  # without this it would be kept for us for a while
            self._calls.post(ClientCall(GitCancel(key=call.key or ""), sandbox=self._sandbox))
            raise
        return head

    async def status(self, path: PathLike = ".", *, ignored: bool = False) -> GitStatusResult:
        """What differs from the last commit, and where the branch is."""
        state = await self._request(GitStatus(path=wire_path(path), ignored=ignored))
        for entry in state.entries:
            entry.path = from_text(entry.path)
            entry.origin = None if entry.origin is None else from_text(entry.origin)
        return state

    async def diff(
        self,
        path: PathLike = ".",
        *,
        staged: bool = False,
        base: str | None = None,
        target: str | None = None,
        paths: Sequence[PathLike] | None = None,
        limit: int | None = None,
    ) -> GitDiffResult:
        """A patch: of the working tree from the index; `staged`: of the index from the last commit; with `base`: of
        the working tree, or of `target`, from that. `limit`: bytes, 256 KiB by default.
        """
        params = GitDiff(
            path=wire_path(path),
            staged=staged,
            base=base,
            target=target,
            paths=_list(paths),
            limit=DIFF_LIMIT if limit is None else limit,
        )
        return await self._request(params)

    async def log(
        self,
        path: PathLike = ".",
        *,
        ref: str | None = None,
        limit: int = 50,
        skip: int = 0,
        paths: Sequence[PathLike] | None = None,
    ) -> GitLogResult:
        """The latest commits of `ref`, or of what is checked out. None if there are none yet."""
        return await self._request(GitLog(path=wire_path(path), ref=ref, limit=limit, skip=skip, paths=_list(paths)))

    async def add(self, paths: Sequence[PathLike] | None = None, *, path: PathLike = ".", all: bool = False) -> None:
        """Stage `paths`, as they are and no patterns, or `all` that differs, deletions included."""
        await self._request(GitAdd(path=wire_path(path), paths=_list(paths), all=all))

    async def commit(
        self,
        message: str,
        *,
        path: PathLike = ".",
        author: GitAuthor | None = None,
        all: bool = False,
        allow_empty: bool = False,
    ) -> GitHead:
        """Commit what is staged; with `all` what differs in tracked files as well. `author` is the committer too."""
        params = GitCommit(path=wire_path(path), message=message, author=author, all=all, allow_empty=allow_empty)
        return _local(await self._request(params))

    async def branches(self, path: PathLike = ".") -> GitBranchResult:
        """The branches, those of remotes as well, and which is checked out."""
        return await self._request(GitBranch(path=wire_path(path)))

    async def create_branch(
        self, name: str, *, path: PathLike = ".", start: str | None = None, force: bool = False
    ) -> GitBranchResult:
        """Make a branch at `start`, or where we are; `force` moves one that is there. `checkout` switches to it."""
        return await self._request(GitBranch(path=wire_path(path), create=name, start=start, force=force))

    async def delete_branch(self, name: str, *, path: PathLike = ".", force: bool = False) -> GitBranchResult:
        """Delete a branch; with `force` also one that is not merged."""
        return await self._request(GitBranch(path=wire_path(path), delete=name, force=force))

    async def checkout(
        self,
        ref: str | None = None,
        *,
        path: PathLike = ".",
        create: bool = False,
        start: str | None = None,
        paths: Sequence[PathLike] | None = None,
    ) -> GitHead:
        """Switch to a branch or commit; `create`: to a new branch at `start`. With `paths`: only bring those back."""
        params = GitCheckout(path=wire_path(path), ref=ref, create=create, start=start, paths=_list(paths))
        return _local(await self._request(params))

    async def pull(
        self,
        *,
        path: PathLike = ".",
        remote: str | None = None,
        branch: str | None = None,
        rebase: bool = False,
        ff_only: bool = False,
        credentials: GitCredentials | None = None,
        timeout: float | None = None,
    ) -> GitHead:
        """Fetch and merge, or `rebase`, or with `ff_only` refuse both. Raises `conflict` with the reason `merge`."""
        params = GitPull(
            path=wire_path(path),
            remote=remote,
            branch=branch,
            rebase=rebase,
            ff_only=ff_only,
            credentials=credentials,
            timeout=NETWORK_TIMEOUT if timeout is None else timeout,
        )
        return _local(await self._request(params))

    async def push(
        self,
        *,
        path: PathLike = ".",
        remote: str = "origin",
        branch: str | None = None,
        force: bool = False,
        set_upstream: bool = False,
        credentials: GitCredentials | None = None,
        timeout: float | None = None,
    ) -> GitPushResult:
        """Push a branch, by default the current one. `force` overwrites only what was known to be there.

        Raises `conflict` with the reason `rejected` if the remote has something else.
        """
        params = GitPush(
            path=wire_path(path),
            remote=remote,
            branch=branch,
            force=force,
            set_upstream=set_upstream,
            credentials=credentials,
            timeout=NETWORK_TIMEOUT if timeout is None else timeout,
        )
        return await self._request(params)

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)


def _local(head: GitHead) -> GitHead:
    """The same with its path as Python has it."""
    head.path = from_text(head.path)
    return head


def _list(paths: Sequence[PathLike] | None) -> list[str] | None:
    return None if paths is None else [wire_path(path) for path in paths]
