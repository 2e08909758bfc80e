"""Git: the `git.*` methods, which run `git` in the sandbox. Paths are encoded as described in `hawse.api.paths`."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import Path, matching

# ---- values


Url = Annotated[str, Meta(min_length=1, max_length=4096)]
RefName = Annotated[str, Meta(min_length=1, max_length=250)]  # branch or remote name
Revision = Annotated[str, Meta(min_length=1, max_length=1000)]  # any revision that `git rev-parse` accepts
Paths = Annotated[list[Path], Meta(min_length=1, max_length=1000)]  # paths that git takes literally, not as patterns
Secret = Annotated[str, Meta(max_length=16_384)]
Timeout = Annotated[float, Meta(gt=0, le=86_400)]  # seconds
AuthorField = Annotated[str, Meta(min_length=1, max_length=250)]

NETWORK_TIMEOUT = 600.0  # default time limit for a clone, pull or push, in seconds
DIFF_LIMIT = 256 << 10  # default maximum size of a patch, in bytes

# All git command failures are mapped to these codes; `details.reason` is more specific.
GIT_ERRORS = (
    "not_found",
    "permission_denied",
    "conflict",
    "no_space",
    "io_error",
    "spawn_failed",
    "limit_exceeded",
)


class GitCredentials(ParamsValue, kw_only=True):
    """Credentials for http and https, which are sent only to the host of the URL or remote.

    They never appear in an argument, an environment variable, a file or a message.

    Args:
        username: User name. The user name to use with a token depends on the host.
        password: Password or token.
    """

    username: Secret = ""
    password: Secret

    def __repr__(self) -> str:
        return "Credentials(…)"  # credentials must not appear in logs


class GitAuthor(ParamsValue):
    """Author and committer for a commit.

    Args:
        name: Name of the person.
        email: E-mail address of the person.
    """

    name: AuthorField
    email: AuthorField


class GitRepository(ParamsValue, kw_only=True):
    """The repository that a method acts on.

    Args:
        path: A directory in the repository, relative to the workspace unless it is absolute.
    """

    path: Path = "."


class GitProgress(msgspec.Struct, kw_only=True):
    """Progress of a clone.

    Attributes:
        phase: Name of the phase, as git prints it, such as `Receiving objects`.
        percent: Percentage of the phase that is complete.
        done: Number of objects or files completed.
        total: Number of objects or files in the phase.
        received: Number of bytes received; null if git does not print it.
    """

    phase: str
    percent: int
    done: int
    total: int
    received: int | None = None


class GitHead(msgspec.Struct, kw_only=True):
    """The commit and branch that a repository has checked out.

    Attributes:
        path: Absolute path of the directory.
        commit: Hash of the commit; null before the first commit.
        branch: Name of the branch; null if HEAD is detached.
    """

    path: str
    commit: str | None
    branch: str | None


class GitStatusEntry(msgspec.Struct, kw_only=True):
    """A changed path.

    The letters are the same as in `git status --porcelain=v2`: `.` (unchanged), `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?`
    and `!`.

    Attributes:
        path: The path, relative to the top of the repository.
        index: Letter for the change between the last commit and the index.
        worktree: Letter for the change between the index and the working tree.
        origin: The original path of a renamed or copied file; null otherwise.
    """

    path: str
    index: str
    worktree: str
    origin: str | None = None


class GitStatusResult(msgspec.Struct, kw_only=True):
    """The state of a repository.

    Attributes:
        branch: Name of the branch; null if HEAD is detached.
        commit: Hash of the commit; null before the first commit.
        upstream: Name of the upstream branch; null if the branch has no upstream.
        ahead: Number of local commits missing from the upstream; null if unknown.
        behind: Number of upstream commits missing locally; null if unknown.
        entries: The changed paths, at most 10,000.
        truncated: Whether there are more entries.
    """

    branch: str | None = None
    commit: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    entries: list[GitStatusEntry] = []
    truncated: bool = False


class GitDiffResult(msgspec.Struct, kw_only=True):
    """A patch.

    Attributes:
        text: The patch. Bytes that are not valid UTF-8 are replaced with U+FFFD.
        truncated: Whether the patch was truncated at the limit.
    """

    text: str
    truncated: bool


class GitBranchInfo(msgspec.Struct, kw_only=True):
    """A branch.

    Attributes:
        name: Name of the branch.
        commit: Hash of its commit.
        upstream: Name of its upstream branch; null if it has no upstream.
        current: Whether it is checked out.
        remote: Whether it is a remote-tracking branch.
    """

    name: str
    commit: str
    upstream: str | None = None
    current: bool = False
    remote: bool = False


class GitBranchResult(msgspec.Struct, kw_only=True):
    """The branches of a repository.

    Attributes:
        current: Name of the current branch; null if HEAD is detached.
        branches: The branches, local and remote-tracking.
        truncated: Whether there are more branches.
    """

    current: str | None
    branches: list[GitBranchInfo]
    truncated: bool = False


class GitCommitInfo(msgspec.Struct, kw_only=True):
    """A commit.

    Attributes:
        commit: Hash of the commit.
        parents: Hashes of its parents.
        author: Name of the author.
        email: E-mail address of the author.
        time: When it was written, in seconds since 1970.
        committer: Name of the committer.
        committer_email: E-mail address of the committer.
        committed: When it was committed, in seconds since 1970.
        message: The full message, truncated to 64 KiB.
    """

    commit: str
    parents: list[str]
    author: str
    email: str
    time: int
    committer: str
    committer_email: str
    committed: int
    message: str


class GitLogResult(msgspec.Struct, kw_only=True):
    """Commits.

    Attributes:
        commits: The commits, newest first.
        truncated: Whether commits are missing because the output was too large.
    """

    commits: list[GitCommitInfo]
    truncated: bool = False


class GitPushedRef(msgspec.Struct, kw_only=True):
    """The result of pushing one ref.

    Attributes:
        status: ` ` pushed, `+` forced, `*` new, `-` deleted, `=` unchanged, `!` refused.
        ref: The remote ref, such as `refs/heads/main`.
        summary: Git's description of the result.
    """

    status: Literal[" ", "+", "*", "-", "=", "!"]
    ref: str
    summary: str


class GitPushResult(msgspec.Struct, kw_only=True):
    """The result of a push.

    Attributes:
        refs: The refs pushed.
    """

    refs: list[GitPushedRef]


_FILTER = r"^(blob:none|blob:limit=[0-9]{1,12}[kmg]?|tree:[0-9]{1,3})$(?!\n)"
Filter = Annotated[str, matching(_FILTER, "blob:none, blob:limit=N or tree:N")]


# ---- methods


@method("git.clone", events={"progress": GitProgress}, raises=(*GIT_ERRORS, "deadline_exceeded", "cancelled"))
class GitClone(Params[GitHead], kw_only=True):
    """Clone a repository into a directory that does not exist or is empty.

    The directory appears once the clone is complete; if it fails, nothing is left behind. If the directory is not
    empty, the error is `conflict`.

    With an idempotency key, the clone continues for 60 seconds after its connection is lost, and a repeated call joins
    it. `git.cancel` ends it with `cancelled`.

    Args:
        url: An http, https, ssh, git or file URL, `user@host:path`, or an absolute path.
        path: Directory to clone into, relative to the workspace; null means the last part of the URL.
        depth: Number of commits to fetch; null means all.
        branch: Branch or tag to check out; null means the remote's default.
        filter: Filter for a partial clone: `blob:none`, `blob:limit=N` or `tree:N`; null clones everything.
        credentials: Credentials for the URL's host; null means none.
        timeout: Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`.
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
    """Cancel a clone. It is not an error if the clone has ended or never existed.

    Args:
        key: The idempotency key of the `git.clone` call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("git.status", safe=True, raises=GIT_ERRORS)
class GitStatus(GitRepository, Params[GitStatusResult], kw_only=True):
    """Return the branch, its upstream and the changed paths.

    Args:
        ignored: Whether to list ignored files.
    """

    ignored: bool = False


@method("git.diff", safe=True, raises=(*GIT_ERRORS, "too_large"))
class GitDiff(GitRepository, Params[GitDiffResult], kw_only=True):
    """Return differences as a patch.

    By default, the patch compares the index with the working tree. With `staged`, it compares the last commit with the
    index; with `base`, it compares that commit with the working tree or with `target`.

    Args:
        staged: Whether to compare the last commit with the index.
        base: Commit to compare with; null means the index.
        target: Commit to compare `base` with; null means the working tree.
        paths: Paths to compare, taken literally; null means all.
        limit: Maximum size of the patch in bytes.
    """

    staged: bool = False
    base: Revision | None = None
    target: Revision | None = None
    paths: Paths | None = None
    limit: Annotated[int, Meta(ge=0, le=512 << 10)] = DIFF_LIMIT


@method("git.add", raises=(*GIT_ERRORS, "too_large"))
class GitAdd(GitRepository, Params[Nothing], kw_only=True):
    """Stage files. Set exactly one of `paths` and `all`.

    Args:
        paths: Paths to stage, taken literally.
        all: Whether to stage all changes, including deletions.
    """

    paths: Paths | None = None
    all: bool = False


@method("git.commit", raises=GIT_ERRORS)
class GitCommit(GitRepository, Params[GitHead], kw_only=True):
    """Commit the staged changes.

    If there is nothing to commit, the error is `conflict`.

    Args:
        message: The commit message.
        author: Author and committer; null means those configured in git.
        all: Whether to stage changes to tracked files first.
        allow_empty: Whether to allow a commit without changes.
    """

    message: Annotated[str, Meta(min_length=1, max_length=65_536)]
    author: GitAuthor | None = None
    all: bool = False
    allow_empty: bool = False


@method("git.branch", raises=GIT_ERRORS)
class GitBranch(GitRepository, Params[GitBranchResult], kw_only=True):
    """List the branches, after creating or deleting one if requested.

    The error is `conflict` if the branch to create already exists, or if the branch to delete is in use or not merged.

    Args:
        create: Name of a branch to create.
        delete: Name of a branch to delete.
        start: Commit to create the branch at; null means the current one.
        force: Whether to move an existing branch, or delete an unmerged one.
    """

    create: RefName | None = None
    delete: RefName | None = None
    start: Revision | None = None
    force: bool = False


@method("git.checkout", raises=(*GIT_ERRORS, "too_large"))
class GitCheckout(GitRepository, Params[GitHead], kw_only=True):
    """Switch to a branch or commit, create a branch, or restore files.

    With `paths`, only these files are restored, from `ref` or the index, and the branch stays the same. If local
    changes would be lost, the error is `conflict`.

    Args:
        ref: Branch or commit to switch to or restore from, or name of the branch to create; required unless `paths` is
            set.
        create: Whether to create the branch `ref`.
        start: Commit to create the branch at; null means the current one.
        paths: Paths to restore, taken literally; null switches to `ref` instead.
    """

    ref: Revision | None = None
    create: bool = False
    start: Revision | None = None
    paths: Paths | None = None


@method("git.log", safe=True, raises=(*GIT_ERRORS, "too_large"))
class GitLog(GitRepository, Params[GitLogResult], kw_only=True):
    """List commits, newest first.

    Args:
        ref: Branch or commit to start at; null means the current commit.
        limit: Maximum number of commits.
        skip: Number of commits to skip first.
        paths: Only commits that changed these paths; null means all.
    """

    ref: Revision | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    skip: Annotated[int, Meta(ge=0, le=10**9)] = 0
    paths: Paths | None = None


@method("git.pull", raises=(*GIT_ERRORS, "deadline_exceeded"))
class GitPull(GitRepository, Params[GitHead], kw_only=True):
    """Fetch from a remote, then merge or rebase.

    After a merge conflict (error `conflict`), the repository stays in the conflicted state.

    Args:
        remote: Name of the remote; null means `origin` if `branch` is set, or else the upstream's remote.
        branch: Remote branch; null means the upstream branch.
        rebase: Whether to rebase rather than merge.
        ff_only: Whether to allow only a fast-forward.
        credentials: Credentials for the remote's host; null means none.
        timeout: Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`.
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

    If the remote branch has commits that the local one doesn't, the error is `conflict`.

    Args:
        remote: Name of the remote.
        branch: Name of the branch; null means the current one.
        force: Whether to overwrite the remote branch, provided it hasn't changed since it was last fetched.
        set_upstream: Whether to set the remote branch as the upstream.
        credentials: Credentials for the remote's host; null means none.
        timeout: Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`.
    """

    remote: RefName = "origin"
    branch: RefName | None = None
    force: bool = False
    set_upstream: bool = False
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT
