"""Values of the `git.*` methods: what they return and what several of them take."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import ParamsValue
from hawse.api.types import Path

Url = Annotated[str, Meta(min_length=1, max_length=4096)]
RefName = Annotated[str, Meta(min_length=1, max_length=250)]  # name of a branch or a remote
Revision = Annotated[str, Meta(min_length=1, max_length=1000)]  # as `git rev-parse` accepts it
Paths = Annotated[list[Path], Meta(min_length=1, max_length=1000)]  # taken literally, not as patterns
Secret = Annotated[str, Meta(max_length=16_384)]
Timeout = Annotated[float, Meta(gt=0, le=86_400)]  # seconds
AuthorField = Annotated[str, Meta(min_length=1, max_length=250)]

NETWORK_TIMEOUT = 600.0  # seconds: the default time limit of a clone, pull or push
DIFF_LIMIT = 256 << 10  # bytes: the default limit of a patch

# What git answers is mapped to these codes, whichever command it is; `details.reason` distinguishes further.
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
    """Credentials for http and https, sent only to the host of the URL or remote.

    They are never part of an argument, an environment variable, a file or a message.

    Args:
        username: User name; which one goes with a token depends on the host.
        password: Password or token.
    """

    username: Secret = ""
    password: Secret

    def __repr__(self) -> str:
        return "Credentials(…)"  # credentials must not appear in logs


class GitAuthor(ParamsValue):
    """Author and committer of a commit.

    Args:
        name: Name.
        email: E-mail address.
    """

    name: AuthorField
    email: AuthorField


class GitRepository(ParamsValue, kw_only=True):
    """The repository of a method.

    Args:
        path: A directory of the repository. Relative to the workspace unless it is absolute.
    """

    path: Path = "."


class GitProgress(msgspec.Struct, kw_only=True):
    """Progress of a clone.

    Attributes:
        phase: Name of the phase, as git prints it, such as `Receiving objects`.
        percent: Part of the phase that is done, in percent.
        done: Number of objects or files that are done.
        total: Number of objects or files in the phase.
        received: Bytes that were received; null where git does not print it.
    """

    phase: str
    percent: int
    done: int
    total: int
    received: int | None = None


class GitHead(msgspec.Struct, kw_only=True):
    """The commit and branch that a repository has checked out.

    Attributes:
        path: The directory, absolute.
        commit: Hash of the commit; null before the first one.
        branch: Name of the branch; null if none is checked out.
    """

    path: str
    commit: str | None
    branch: str | None


class GitStatusEntry(msgspec.Struct, kw_only=True):
    """A path that differs.

    The letters are those of `git status --porcelain=v2`: `.` for unchanged, `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?` and
    `!`.

    Attributes:
        path: The path, relative to the top of the repository.
        index: Letter for the index against the last commit.
        worktree: Letter for the working tree against the index.
        origin: Path from which it was renamed or copied; null: it was not.
    """

    path: str
    index: str
    worktree: str
    origin: str | None = None


class GitStatusResult(msgspec.Struct, kw_only=True):
    """The state of a repository.

    Attributes:
        branch: Name of the branch; null if none is checked out.
        commit: Hash of the commit; null before the first one.
        upstream: Name of the upstream branch; null: none.
        ahead: Number of commits that the upstream does not have; null if that is not known.
        behind: Number of commits that only the upstream has; null if that is not known.
        entries: Paths that differ, at most 10,000.
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
        text: The patch. Bytes that are not valid UTF-8 are replaced by U+FFFD.
        truncated: Whether the patch was cut at the limit.
    """

    text: str
    truncated: bool


class GitBranchInfo(msgspec.Struct, kw_only=True):
    """A branch.

    Attributes:
        name: Name of the branch.
        commit: Hash of its commit.
        upstream: Name of its upstream branch; null: none.
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
        current: Name of the branch that is checked out; null: none.
        branches: The branches, local and remote-tracking.
        truncated: Whether there are more branches.
    """

    current: str | None
    branches: list[GitBranchInfo]
    truncated: bool = False


class GitCommitInfo(msgspec.Struct, kw_only=True):
    """A commit.

    Attributes:
        commit: Hash.
        parents: Hashes of the parents.
        author: Name of the author.
        email: E-mail address of the author.
        time: When it was written, in seconds since 1970.
        committer: Name of the committer.
        committer_email: E-mail address of the committer.
        committed: When it was committed, in seconds since 1970.
        message: The whole message, cut after 64 KiB.
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
        commits: The commits, the latest first.
        truncated: Whether commits are missing because the output was too large.
    """

    commits: list[GitCommitInfo]
    truncated: bool = False


class GitPushedRef(msgspec.Struct, kw_only=True):
    """The result of pushing one ref.

    Attributes:
        status: ` ` pushed, `+` forced, `*` new, `-` deleted, `=` unchanged, `!` refused.
        ref: The ref of the remote, such as `refs/heads/main`.
        summary: Git's description of the result.
    """

    status: Literal[" ", "+", "*", "-", "=", "!"]
    ref: str
    summary: str


class GitPushResult(msgspec.Struct, kw_only=True):
    """The result of a push.

    Attributes:
        refs: The refs that were pushed.
    """

    refs: list[GitPushedRef]
