"""Git in a sandbox. Each method runs once, even if the connection is lost during the call."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

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
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.files.changes import PathLike, wire_path
from hawse.wire import Event

WINDOW = 64 << 10  # bytes of progress events the server can send before the client reads them


class CloneCall(ClientCall):
    """A call to `git.clone`. A repeated call with the same key joins the running clone or returns its outcome."""

    def __init__(
        self, params: GitClone, *, sandbox: str, on_progress: Callable[[GitProgress], object] | None = None
    ) -> None:
        super().__init__(params, sandbox=sandbox, key=new_key(), window=WINDOW)
        self._on_progress = on_progress

    def receive_event(self, event: Event) -> None:
        progress = self.decode(event)
        if isinstance(progress, GitProgress) and self._on_progress is not None:
            self._on_progress(progress)
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> GitHead:
        return _local(super().finished(value))


class Git(SandboxPart):
    """`box.git`: git in a sandbox. `path` is a directory in the repository, by default the workspace.

    If git fails, `HawseError` is raised. `details["reason"]` is the reason (`not_a_repository`, `authentication`,
    `network`, `revision`, `local_changes`, `merge`, `rejected`, …), and `details["stderr"]` is git's message without
    secrets.
    """

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
        """Clone a repository. If the clone fails or the caller is cancelled, `path` is left unchanged.

        Args:
            url: The repository.
            path: The directory to create; None means the name of the repository.
            depth: Number of commits to fetch; None means all.
            branch: The branch to check out; None means the remote's default branch.
            filter: Objects to omit, such as `blob:none`.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.
            on_progress: Called from the event loop with progress reports.

        Raises:
            HawseError: `conflict` if `path` is not empty, `not_found`, `permission_denied`, `deadline_exceeded`,
                `io_error` with the reason `network`.
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
        call = CloneCall(params, sandbox=self._sandbox, on_progress=on_progress)
        try:
            head: GitHead = await self._calls.perform(call)
        except asyncio.CancelledError:  # without `GitCancel`, the server would finish the clone
            self._calls.post(ClientCall(GitCancel(key=call.key or ""), sandbox=self._sandbox))
            raise
        return head

    async def status(self, path: PathLike = ".", *, ignored: bool = False) -> GitStatusResult:
        """Return the changes since the last commit, the branch, and how far it is ahead of and behind its upstream."""
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
        """Return a patch; by default, it compares the working tree with the index.

        Args:
            path: A directory in the repository.
            staged: Whether to compare the last commit with the index instead.
            base: A revision to compare with the working tree, or with `target`, instead.
            target: A revision to compare `base` with.
            paths: Paths to compare; None means all.
            limit: Maximum size of the patch, in bytes; by default 256 KiB.
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
        """Return the latest commits.

        Args:
            path: A directory in the repository.
            ref: The revision to start at; None means the current one.
            limit: Maximum number of commits.
            skip: Number of commits to skip first.
            paths: Only commits that changed these paths.
        """
        return await self._request(GitLog(path=wire_path(path), ref=ref, limit=limit, skip=skip, paths=_list(paths)))

    async def add(self, paths: Sequence[PathLike] | None = None, *, path: PathLike = ".", all: bool = False) -> None:
        """Stage `paths`, which are taken literally, or `all` changes, including deletions."""
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
        """Commit the staged changes.

        Args:
            message: The commit message.
            path: A directory in the repository.
            author: The author and committer; None means those configured in git.
            all: Whether to commit all changes to tracked files as well.
            allow_empty: Whether to allow a commit without changes.
        """
        params = GitCommit(path=wire_path(path), message=message, author=author, all=all, allow_empty=allow_empty)
        return _local(await self._request(params))

    async def branches(self, path: PathLike = ".") -> GitBranchResult:
        """Return the branches, including remote-tracking branches, and the current branch."""
        return await self._request(GitBranch(path=wire_path(path)))

    async def create_branch(
        self, name: str, *, path: PathLike = ".", start: str | None = None, force: bool = False
    ) -> GitBranchResult:
        """Create a branch without switching to it. `checkout` can switch as well.

        Args:
            name: The name of the branch.
            path: A directory in the repository.
            start: The revision to start at; None means the current one.
            force: Whether to move the branch if it already exists.
        """
        return await self._request(GitBranch(path=wire_path(path), create=name, start=start, force=force))

    async def delete_branch(self, name: str, *, path: PathLike = ".", force: bool = False) -> GitBranchResult:
        """Delete a branch. With `force`, even an unmerged branch is deleted."""
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
        """Switch to a branch or commit, or restore paths.

        Args:
            ref: The branch or commit.
            path: A directory in the repository.
            create: Whether to create the branch `ref`.
            start: The revision to start the new branch at.
            paths: Paths to restore from `ref` or the index, without switching.
        """
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
        """Fetch from a remote and integrate its branch.

        Args:
            path: A directory in the repository.
            remote: The remote; None means the current branch's remote.
            branch: The remote branch; None means the current branch's upstream.
            rebase: Whether to rebase instead of merging.
            ff_only: Whether to fail if a merge or rebase is required.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.

        Raises:
            HawseError: `conflict` with the reason `merge`, and the same errors as `clone`.
        """
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
        """Push a branch.

        Args:
            path: A directory in the repository.
            remote: The remote.
            branch: The branch; None means the current one.
            force: Whether to overwrite the remote branch, provided it hasn't changed since it was last fetched.
            set_upstream: Whether to set the remote branch as the upstream.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.

        Raises:
            HawseError: `conflict` with the reason `rejected` if the remote has other commits, and the same errors as
                `clone`.
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


def _local(head: GitHead) -> GitHead:
    """Return `head` with its path decoded."""
    head.path = from_text(head.path)
    return head


def _list(paths: Sequence[PathLike] | None) -> list[str] | None:
    return None if paths is None else [wire_path(path) for path in paths]
