"""The `git.*` methods (docs/wire.md section 9)."""

import os
from typing import Any

import msgspec

from hawse.api import git as api
from hawse.api.paths import to_text
from hawse.rpc import IdempotencyTable, Outcome, handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.git.arguments import branch, checked, directory_of, paths, remote, revision, scope, source
from hawse_runtime.git.clone import CloneReader, CloneTask
from hawse_runtime.git.porcelain import BRANCH_FORMAT, LOG_FORMAT, branches, log, pushed, status
from hawse_runtime.git.runner import Access, GitLimits, GitResult, GitRunner
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.process_tree import ProcessTrees

PATCH_BYTES = 786_432  # maximum size of a patch as JSON, in bytes; it must fit into a control message


class GitMethods:
    """The methods, along with clones in progress."""

    def __init__(
        self,
        environment: Environment,
        trees: ProcessTrees,
        disk: ThreadPool,
        tasks: Tasks,
        idempotency: IdempotencyTable,
        limits: GitLimits,
    ) -> None:
        """Create the methods.

        Args:
            environment: Environment variables and directories for git.
            trees: Ends process trees.
            disk: The thread pool for file access.
            tasks: Owns clone tasks.
            idempotency: Stores the outcomes of keyed clones.
            limits: Limits on git commands and clones.
        """
        self._environment = environment
        self._tasks = tasks
        self._idempotency = idempotency
        self._git = GitRunner(environment, trees, limits)
        self._disk = disk
        self._clones: dict[str, CloneTask] = {}  # clones in progress, keyed by idempotency key

    async def close(self) -> None:
        await self._git.close()

    async def ignored(self, path: str) -> frozenset[tuple[str, ...]]:
        """Return the paths ignored by git in a directory. The result is empty outside a repository.

        Raises:
            HawseError: `spawn_failed` if git is not installed, `too_large` if the list is too long.
        """
        inside = await self._git.run("rev-parse", "--is-inside-work-tree", cwd=path, accept=(0, 128))
        if inside.code != 0:
            return frozenset()
        arguments = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        ran = await self._git.run(*arguments, cwd=path)
        if ran.truncated:
            raise HawseError("too_large", "git ignores too many files; exclude their directory")
        names = (os.fsdecode(name).rstrip("/") for name in ran.stdout.split(b"\0") if name)
        return frozenset(tuple(name.split("/")) for name in names)

    # ---- clone

    @serves(api.GitClone)
    def _clone(self, call: ServerCall, params: api.GitClone) -> None:
        def start(outcome: Outcome) -> CloneTask:
            checked_source = source(params.url, checked(params.credentials))
            target = self._environment.path(params.path or to_text(directory_of(checked_source.url)))
            if target == "/":
                raise HawseError("invalid_params", "`path` must not be /", details={"path": "$.path"})
            task = CloneTask(self._git, self._disk, params, checked_source, target, self._head, outcome)
            if outcome.key is not None:
                self._clones[outcome.key] = task
            self._tasks.start(self._run_clone(task, outcome.key))
            return task

        call.serve(CloneReader(self._idempotency.attach_or_start(call, params, start), call, self._tasks.start))

    async def _run_clone(self, task: CloneTask, key: str | None) -> None:
        try:
            await task.run()
        finally:
            if key is not None:
                del self._clones[key]

    @handles(api.GitCancel)
    async def _cancel(self, params: api.GitCancel) -> dict[str, Any]:
        key = params.key
        if key in self._clones:
            await self._clones[key].cancel()
        return {}

    # ---- methods that read

    @handles(api.GitStatus)
    async def _status(self, params: api.GitStatus) -> api.GitStatusResult:
        arguments = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"]
        if params.ignored:
            arguments.append("--ignored")
        return status((await self._run(params, *arguments)).stdout)

    @handles(api.GitDiff)
    async def _diff(self, params: api.GitDiff) -> api.GitDiffResult:
        # Fails outside a repository; git would otherwise compare arbitrary files.
        await self._head(await self._where(params))
        arguments = ["diff", "--patch", "--no-ext-diff", "--no-textconv", "--diff-algorithm=default"]
        if params.staged:
            arguments.append("--cached")
        if params.target is not None and params.base is None:
            raise HawseError("invalid_params", "`target` requires `base`", details={"path": "$.target"})
        named = [("$.base", params.base), ("$.target", params.target)]
        arguments += ["--end-of-options", *(revision(text, field) for field, text in named if text is not None)]
        ran = await self._run(params, *arguments, *paths(params.paths), limit=params.limit)
        return _patch(ran)

    @handles(api.GitLog)
    async def _log(self, params: api.GitLog) -> api.GitLogResult:
        where = await self._where(params)
        if params.ref is None and (await self._head(where)).commit is None:
            return api.GitLogResult(commits=[])
        arguments = ["log", "-z", "--encoding=UTF-8", f"--format=tformat:{LOG_FORMAT}"]
        arguments += [f"--max-count={params.limit}", f"--skip={params.skip}", "--end-of-options"]
        ref = revision(params.ref, "$.ref") if params.ref is not None else "HEAD"
        ran = await self._run(params, *arguments, ref, *paths(params.paths))
        commits, truncated = log(ran.stdout)
        return api.GitLogResult(commits=commits, truncated=truncated or ran.truncated)

    async def _head(self, where: str) -> api.GitHead:
        commit = await self._git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=where, accept=(0, 1))
        # `--short` would return heads/NAME for a branch if a tag has the same name.
        ref = _line(await self._git.run("symbolic-ref", "--quiet", "HEAD", cwd=where, accept=(0, 1)))
        name = None if ref is None else ref.removeprefix("refs/heads/")
        return api.GitHead(path=to_text(where), commit=_line(commit), branch=name)

    # ---- methods that change the repository

    @handles(api.GitAdd)
    async def _add(self, params: api.GitAdd) -> dict[str, Any]:
        if params.all == (params.paths is not None):
            raise HawseError("invalid_params", "specify either `paths` or `all`", details={"path": "$.paths"})
        await self._run(params, "add", *(["--all"] if params.all else paths(params.paths)))
        return {}

    @handles(api.GitCommit)
    async def _commit(self, params: api.GitCommit) -> api.GitHead:
        arguments = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"]
        if params.all:
            arguments.append("--all")
        if params.allow_empty:
            arguments.append("--allow-empty")
        author = params.author
        env = {}
        if author is not None:
            if any(char in author.name + author.email for char in "<>\n\0"):
                raise HawseError(
                    "invalid_params",
                    "the name or address contains `<`, `>`, LF or NUL",
                    details={"path": "$.author"},
                )
            who = {"NAME": author.name, "EMAIL": author.email}
            env = {f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in who.items()}
        await self._run(params, *arguments, stdin=params.message.encode(), env=env)
        return await self._head(await self._where(params))

    @handles(api.GitBranch)
    async def _branch(self, params: api.GitBranch) -> api.GitBranchResult:
        if params.create is not None:
            start = [revision(params.start, "$.start")] if params.start is not None else []
            force = ["--force"] if params.force else []
            await self._run(params, "branch", *force, "--end-of-options", branch(params.create, "$.create"), *start)
        if params.delete is not None:
            force = ["--force"] if params.force else []
            await self._run(params, "branch", "--delete", *force, "--", branch(params.delete, "$.delete"))
        ran = await self._run(params, "for-each-ref", f"--format={BRANCH_FORMAT}", "refs/heads", "refs/remotes")
        found, truncated = branches(ran.stdout)
        head = await self._head(await self._where(params))
        return api.GitBranchResult(current=head.branch, branches=found, truncated=truncated or ran.truncated)

    @handles(api.GitCheckout)
    async def _checkout(self, params: api.GitCheckout) -> api.GitHead:
        arguments = ["checkout", "--quiet"]
        ref = None if params.ref is None else revision(params.ref, "$.ref")
        if params.paths is not None:
            arguments += [*([] if ref is None else [ref]), *paths(params.paths)]
        elif ref is None:
            raise HawseError("invalid_params", "specify `ref` or `paths`", details={"path": "$.ref"})
        elif params.create:
            start = [] if params.start is None else [revision(params.start, "$.start")]
            arguments += ["-b", branch(ref, "$.ref"), *start, "--"]
        else:
            arguments += [ref, "--"]
        await self._run(params, *arguments)
        return await self._head(await self._where(params))

    # ---- the network

    @handles(api.GitPull)
    async def _pull(self, params: api.GitPull) -> api.GitHead:
        arguments = ["pull", "--quiet", "--no-edit"]
        if params.rebase and params.ff_only:
            raise HawseError(
                "invalid_params", "specify either `rebase` or `ff_only`, not both", details={"path": "$.rebase"}
            )
        arguments += ["--rebase"] if params.rebase else ["--no-rebase", "--ff-only" if params.ff_only else "--ff"]
        if params.branch is not None or params.remote is not None:
            arguments += ["--", remote(params.remote or "origin")]
            arguments += [] if params.branch is None else [branch(params.branch, "$.branch")]
        access = await self._access(params, remote(params.remote or "origin"), params.credentials)
        await self._run(params, *arguments, access=access, timeout=params.timeout)
        return await self._head(await self._where(params))

    @handles(api.GitPush)
    async def _push(self, params: api.GitPush) -> api.GitPushResult:
        arguments = ["push", "--porcelain"]
        if params.force:
            arguments.append("--force-with-lease")
        if params.set_upstream:
            arguments.append("--set-upstream")
        name = branch(params.branch, "$.branch") if params.branch is not None else "HEAD"
        access = await self._access(params, remote(params.remote), params.credentials, "--push")
        ran = await self._run(params, *arguments, "--", params.remote, name, access=access, timeout=params.timeout)
        return api.GitPushResult(refs=pushed(ran.stdout))

    async def _access(
        self, params: api.GitRepository, name: str, credentials: api.GitCredentials | None, *options: str
    ) -> Access | None:
        """Return credentials that may be sent only to the host of the remote `name`, or None if there are none."""
        if checked(credentials) is None:
            return None
        assert credentials is not None
        url = (await self._run(params, "remote", "get-url", *options, "--", name)).stdout.decode(errors="replace")
        return Access(scope(url.strip()), credentials)

    # ---- internals

    async def _run(self, params: api.GitRepository, *arguments: str, **more: Any) -> GitResult:
        return await self._git.run(*arguments, cwd=await self._where(params), **more)

    async def _where(self, params: api.GitRepository) -> str:
        where = self._environment.path(params.path)
        if not await self._disk.run(os.path.isdir, where):
            raise HawseError(
                "not_found", f"directory {to_text(where)} does not exist", details={"reason": "not_a_repository"}
            )
        return where


def _line(ran: GitResult) -> str | None:
    text = ran.stdout.decode(errors="replace").strip()
    return text if ran.code == 0 and text else None


def _patch(ran: GitResult) -> api.GitDiffResult:
    text = ran.stdout.decode(errors="replace")
    truncated = ran.truncated
    while len(msgspec.json.encode(text)) > PATCH_BYTES:  # in JSON, a control character takes six bytes
        text, truncated = text[: len(text) * 3 // 4], True
    return api.GitDiffResult(text=text, truncated=truncated)
