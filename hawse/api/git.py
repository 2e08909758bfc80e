"""`git.*`: Git as it is used in a sandbox, by the real `git`. Paths travel as `hawse.api.paths` says."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import Path

Url = Annotated[str, Meta(min_length=1, max_length=4096)]
RefName = Annotated[str, Meta(min_length=1, max_length=250)]  # of a branch or a remote
Revision = Annotated[str, Meta(min_length=1, max_length=1000)]  # what `git rev-parse` takes
Paths = Annotated[list[Path], Meta(min_length=1, max_length=1000)]  # as they are: no patterns
Secret = Annotated[str, Meta(max_length=16_384)]
Timeout = Annotated[float, Meta(gt=0, le=86_400)]  # seconds
AuthorField = Annotated[str, Meta(min_length=1, max_length=250)]

NETWORK_TIMEOUT = 600.0  # seconds that a clone, pull or push may take, unless the call says
DIFF_LIMIT = 256 << 10  # bytes of a diff, unless the call says


# ---- values


class GitCredentials(ParamsValue, kw_only=True):
    """For http and https. A token is a password; the name that goes with it depends on the host."""

    username: Secret = ""
    password: Secret

    def __repr__(self) -> str:
        return "Credentials(…)"  # they belong into no log


class GitAuthor(ParamsValue):
    """Who a commit is by."""

    name: AuthorField
    email: AuthorField


class GitRepository(ParamsValue, kw_only=True):
    """`path`: a directory of the repository; by default the workspace."""

    path: Path = "."


class GitProgress(msgspec.Struct, kw_only=True):
    """`phase` as Git names it, such as `Receiving objects`; `received` in bytes, where that is known."""

    phase: str
    percent: int
    done: int
    total: int
    received: int | None = None


class GitHead(msgspec.Struct, kw_only=True):
    """Where a repository is: `commit` is null before the first one, `branch` is null if none is checked out."""

    path: str
    commit: str | None
    branch: str | None


class GitStatusEntry(msgspec.Struct, kw_only=True):
    """`index` and `worktree`: `.` unchanged, or Git's letters `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?`, `!`."""

    path: str
    index: str
    worktree: str
    origin: str | None = None  # of a rename or copy


class GitStatusResult(msgspec.Struct, kw_only=True):
    """`ahead`, `behind`: commits, null without an upstream that is known. `truncated`: there are more entries."""

    branch: str | None = None
    commit: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    entries: list[GitStatusEntry] = []
    truncated: bool = False


class GitDiffResult(msgspec.Struct, kw_only=True):
    """`truncated`: it is longer. What is no UTF-8 in it is U+FFFD."""

    text: str
    truncated: bool


class GitBranchInfo(msgspec.Struct, kw_only=True):
    """A branch, and the commit it is at."""

    name: str
    commit: str
    upstream: str | None = None
    current: bool = False
    remote: bool = False


class GitBranchResult(msgspec.Struct, kw_only=True):
    """`current` is null if no branch is checked out."""

    current: str | None
    branches: list[GitBranchInfo]
    truncated: bool = False


class GitCommitInfo(msgspec.Struct, kw_only=True):
    """Times in seconds since 1970."""

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
    """`truncated`: fewer than were asked for, since they are large."""

    commits: list[GitCommitInfo]
    truncated: bool = False


class GitPushedRef(msgspec.Struct, kw_only=True):
    """`status` as git has it: ` ` pushed, `+` forced, `*` new, `-` deleted, `=` as it was, `!` refused."""

    status: Literal[" ", "+", "*", "-", "=", "!"]
    ref: str
    summary: str


class GitPushResult(msgspec.Struct, kw_only=True):
    """What became of each ref."""

    refs: list[GitPushedRef]


# ---- methods


@method("git.clone", events={"progress": GitProgress})
class GitClone(Params[GitHead], kw_only=True):
    """Clone a repository into a directory that is there as a whole, or not at all.

    `path`: by default the last part of the URL, in the workspace. `filter`: such as `blob:none`.
    """

    url: Url
    path: Path | None = None
    depth: Annotated[int, Meta(ge=1)] | None = None
    branch: RefName | None = None
    filter: Annotated[str, Meta(pattern=r"^(blob:none|blob:limit=[0-9]{1,12}[kmg]?|tree:[0-9]{1,3})$(?!\n)")] | None = (
        None
    )
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT


@method("git.cancel")
class GitCancel(Params[Nothing], kw_only=True):
    """End the clone that was called with this key. One that has ended, or never was, is no error."""

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("git.status", safe=True)
class GitStatus(GitRepository, Params[GitStatusResult], kw_only=True):
    """Say what differs from the last commit, and where the branch is."""

    ignored: bool = False


@method("git.diff", safe=True)
class GitDiff(GitRepository, Params[GitDiffResult], kw_only=True):
    """Show differences as a patch.

    Of the working tree from the index; with `staged` of the index from the last commit; with `base` of the working
    tree (or of `target`) from that. `limit`: bytes.
    """

    staged: bool = False
    base: Revision | None = None
    target: Revision | None = None
    paths: Paths | None = None
    limit: Annotated[int, Meta(ge=0, le=512 << 10)] = DIFF_LIMIT


@method("git.add")
class GitAdd(GitRepository, Params[Nothing], kw_only=True):
    """Stage files: those of `paths`, or with `all` everything that differs, deletions included."""

    paths: Paths | None = None
    all: bool = False


@method("git.commit")
class GitCommit(GitRepository, Params[GitHead], kw_only=True):
    """Commit what is staged; with `all` what differs in tracked files too."""

    message: Annotated[str, Meta(min_length=1, max_length=65_536)]
    author: GitAuthor | None = None
    all: bool = False
    allow_empty: bool = False


@method("git.branch")
class GitBranch(GitRepository, Params[GitBranchResult], kw_only=True):
    """List the branches, after one was created (at `start`) or deleted, if that is asked."""

    create: RefName | None = None
    delete: RefName | None = None
    start: Revision | None = None
    force: bool = False


@method("git.checkout")
class GitCheckout(GitRepository, Params[GitHead], kw_only=True):
    """Switch to a branch or commit; with `create` to a new branch (at `start`); with `paths` only bring those back."""

    ref: Revision | None = None
    create: bool = False
    start: Revision | None = None
    paths: Paths | None = None


@method("git.log", safe=True)
class GitLog(GitRepository, Params[GitLogResult], kw_only=True):
    """List commits, the latest first."""

    ref: Revision | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    skip: Annotated[int, Meta(ge=0, le=10**9)] = 0
    paths: Paths | None = None


@method("git.pull")
class GitPull(GitRepository, Params[GitHead], kw_only=True):
    """Fetch from a remote and merge, or rebase, or with `ff_only` refuse both."""

    remote: RefName | None = None
    branch: RefName | None = None
    rebase: bool = False
    ff_only: bool = False
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT


@method("git.push")
class GitPush(GitRepository, Params[GitPushResult], kw_only=True):
    """Push a branch (by default the current one). `force` overwrites only what was known to be there."""

    remote: RefName = "origin"
    branch: RefName | None = None
    force: bool = False
    set_upstream: bool = False
    credentials: GitCredentials | None = None
    timeout: Timeout = NETWORK_TIMEOUT
