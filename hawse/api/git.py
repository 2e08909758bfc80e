"""Git: the `git.*` methods, which run `git` in the sandbox. Paths are encoded as `hawse.api.paths` describes."""

from typing import Annotated

from msgspec import Meta

from hawse.api.git_values import (
    DIFF_LIMIT as DIFF_LIMIT,
    GIT_ERRORS as GIT_ERRORS,
    NETWORK_TIMEOUT as NETWORK_TIMEOUT,
    AuthorField as AuthorField,
    GitAuthor as GitAuthor,
    GitBranchInfo as GitBranchInfo,
    GitBranchResult as GitBranchResult,
    GitCommitInfo as GitCommitInfo,
    GitCredentials as GitCredentials,
    GitDiffResult as GitDiffResult,
    GitHead as GitHead,
    GitLogResult as GitLogResult,
    GitProgress as GitProgress,
    GitPushedRef as GitPushedRef,
    GitPushResult as GitPushResult,
    GitRepository as GitRepository,
    GitStatusEntry as GitStatusEntry,
    GitStatusResult as GitStatusResult,
    Paths as Paths,
    RefName as RefName,
    Revision as Revision,
    Secret as Secret,
    Timeout as Timeout,
    Url as Url,
)
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import Path, matching

_FILTER = r"^(blob:none|blob:limit=[0-9]{1,12}[kmg]?|tree:[0-9]{1,3})$(?!\n)"
Filter = Annotated[str, matching(_FILTER, "blob:none, blob:limit=N or tree:N")]


@method("git.clone", events={"progress": GitProgress}, raises=(*GIT_ERRORS, "deadline_exceeded", "cancelled"))
class GitClone(Params[GitHead], kw_only=True):
    """Clone a repository into a directory that does not exist or is empty.

    The clone gets its name when it is complete, and nothing remains of a failed one. A directory that is not empty is
    `conflict`.

    With an idempotency key, the clone continues for 60 s without a connection, a repeated call joins it, and
    `git.cancel` ends it (`cancelled`).

    Args:
        url: http, https, ssh, git or file URL, `user@host:path`, or an absolute path.
        path: Directory of the clone, relative to the workspace; null: the last part of the URL.
        depth: Number of commits to fetch; null: all.
        branch: Branch or tag to check out; null: the remote's default.
        filter: Filter for a partial clone: `blob:none`, `blob:limit=N` or `tree:N`; null: none.
        credentials: Credentials for the host of the URL; null: none.
        timeout: Seconds after which git is ended, and the error is `deadline_exceeded`.
    """

    url: Url
    path: Path | None = None
    depth: Annotated[int, Meta(ge=1)] | None = None
    branch: RefName | None = None
    filter: Filter | None = None
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT


@method("git.cancel")
class GitCancel(Params[Nothing], kw_only=True):
    """End a clone. One that has ended or never existed is not an error.

    Args:
        key: The idempotency key of the `git.clone` call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("git.status", safe=True, raises=GIT_ERRORS)
class GitStatus(GitRepository, Params[GitStatusResult], kw_only=True):
    """Return the branch, its upstream and the paths that differ.

    Args:
        ignored: Whether ignored files are listed.
    """

    ignored: bool = False


@method("git.diff", safe=True, raises=(*GIT_ERRORS, "too_large"))
class GitDiff(GitRepository, Params[GitDiffResult], kw_only=True):
    """Return differences as a patch.

    The patch leads from the index to the working tree; with `staged` from the last commit to the index; with `base`
    from that commit to the working tree, or to `target`.

    Args:
        staged: Whether to compare the index with the last commit.
        base: Commit to compare with; null: the index.
        target: Commit to compare `base` with; null: the working tree.
        paths: Paths, taken literally; null: all.
        limit: Size of the patch, at most, in bytes.
    """

    staged: bool = False
    base: Revision | None = None
    target: Revision | None = None
    paths: Paths | None = None
    limit: Annotated[int, Meta(ge=0, le=512 << 10)] = DIFF_LIMIT


@method("git.add", raises=(*GIT_ERRORS, "too_large"))
class GitAdd(GitRepository, Params[Nothing], kw_only=True):
    """Stage files. Exactly one of `paths` and `all` is required.

    Args:
        paths: Paths to stage, taken literally.
        all: Whether to stage everything that differs, deletions included.
    """

    paths: Paths | None = None
    all: bool = False


@method("git.commit", raises=GIT_ERRORS)
class GitCommit(GitRepository, Params[GitHead], kw_only=True):
    """Commit what is staged.

    If there is nothing to commit, the error is `conflict`.

    Args:
        message: Message of the commit.
        author: Author and committer; null: as git is configured.
        all: Whether changes of tracked files are staged first.
        allow_empty: Whether a commit without changes is allowed.
    """

    message: Annotated[str, Meta(min_length=1, max_length=65_536)]
    author: GitAuthor | None = None
    all: bool = False
    allow_empty: bool = False


@method("git.branch", raises=GIT_ERRORS)
class GitBranch(GitRepository, Params[GitBranchResult], kw_only=True):
    """Create or delete a branch if requested, then list the branches.

    A branch that exists, is in use or is not merged is `conflict`.

    Args:
        create: Name of a branch to create; null: none.
        delete: Name of a branch to delete; null: none.
        start: Commit of the created branch; null: the one that is checked out.
        force: Whether an existing branch is moved, and a branch that is not merged is deleted.
    """

    create: RefName | None = None
    delete: RefName | None = None
    start: Revision | None = None
    force: bool = False


@method("git.checkout", raises=(*GIT_ERRORS, "too_large"))
class GitCheckout(GitRepository, Params[GitHead], kw_only=True):
    """Switch to a branch or commit, create a branch, or restore files.

    With `paths`, only these are restored, from `ref` or the index, and the branch stays. Local changes that would be
    lost are `conflict`.

    Args:
        ref: Branch or commit, or the name of the branch to create; required without `paths`.
        create: Whether to create the branch `ref`.
        start: Commit of the created branch; null: the one that is checked out.
        paths: Paths, taken literally; null: switch to `ref`.
    """

    ref: Revision | None = None
    create: bool = False
    start: Revision | None = None
    paths: Paths | None = None


@method("git.log", safe=True, raises=(*GIT_ERRORS, "too_large"))
class GitLog(GitRepository, Params[GitLogResult], kw_only=True):
    """List commits, the latest first.

    Args:
        ref: Branch or commit to begin at; null: the one that is checked out.
        limit: Number of commits, at most.
        skip: Number of commits to leave out before.
        paths: Only commits that changed these paths; null: all.
    """

    ref: Revision | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    skip: Annotated[int, Meta(ge=0, le=10**9)] = 0
    paths: Paths | None = None


@method("git.pull", raises=(*GIT_ERRORS, "deadline_exceeded"))
class GitPull(GitRepository, Params[GitHead], kw_only=True):
    """Fetch from a remote, then merge or rebase.

    After a merge conflict (`conflict`) the repository is left in it.

    Args:
        remote: Name of the remote; null: the upstream's, or `origin`.
        branch: Branch of the remote; null: the upstream.
        rebase: Whether to rebase rather than merge.
        ff_only: Whether only a fast-forward is allowed.
        credentials: Credentials for the host of the remote; null: none.
        timeout: Seconds after which git is ended, and the error is `deadline_exceeded`.
    """

    remote: RefName | None = None
    branch: RefName | None = None
    rebase: bool = False
    ff_only: bool = False
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT


@method("git.push", raises=(*GIT_ERRORS, "deadline_exceeded"))
class GitPush(GitRepository, Params[GitPushResult], kw_only=True):
    """Push a branch to a remote.

    If the remote has commits that are not known here, the error is `conflict`.

    Args:
        remote: Name of the remote.
        branch: Name of the branch; null: the one that is checked out.
        force: Whether to overwrite the remote's branch, if it is as it was when it was fetched last.
        set_upstream: Whether the remote's branch becomes the upstream.
        credentials: Credentials for the host of the remote; null: none.
        timeout: Seconds after which git is ended, and the error is `deadline_exceeded`.
    """

    remote: RefName = "origin"
    branch: RefName | None = None
    force: bool = False
    set_upstream: bool = False
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT
