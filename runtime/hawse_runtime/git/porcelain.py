"""Parses git's machine-readable output. Does no I/O."""

import os
import re
from collections.abc import Callable, Iterator

from hawse.api.git import GitBranchInfo, GitCommitInfo, GitProgress, GitPushedRef, GitStatusEntry, GitStatusResult
from hawse.api.paths import to_text

ENTRIES = 10_000  # maximum number of entries in a status
TEXT_BYTES = 512 << 10  # maximum total size of a result's names or messages, in bytes; limits the size of the JSON
MESSAGE_BYTES = 64 << 10  # maximum size of a commit message, in bytes
LINE_LIMIT = 4096  # maximum size of a progress line, in bytes

LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"
BRANCH_FORMAT = "%(refname)%00%(objectname)%00%(upstream:short)%00%(HEAD)%00%(symref)"

_PROGRESS = re.compile(
    r"(?:remote: )?([A-Z][A-Za-z ]{1,60}): +([0-9]{1,3})% \(([0-9]+)/([0-9]+)\)(?:, ([0-9.]+) (bytes|KiB|MiB|GiB|TiB))?"
)
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_LOG_FIELDS = 9
_BRANCH_FIELDS = 5


class ProgressReader:
    """Parses git's stderr, where lines end in CR or LF, and calls `on_progress` for each progress line."""

    def __init__(self, on_progress: Callable[[GitProgress], None]) -> None:
        self._on_progress = on_progress
        self._rest = b""

    @property
    def held(self) -> int:
        """The number of bytes buffered from an incomplete line."""
        return len(self._rest)

    def feed(self, data: bytes) -> None:
        *lines, rest = re.split(rb"[\r\n]", self._rest + data)
        self._rest = rest[:LINE_LIMIT]
        for line in lines:
            found = _PROGRESS.match(line.decode(errors="replace"))
            if found:
                self._on_progress(_progress(found))


def status(data: bytes) -> GitStatusResult:
    """Parse `git status --porcelain=v2 --branch -z`. If output was cut off, omit the last entry and set `truncated`."""
    state = GitStatusResult()
    fields = data.split(b"\0")
    state.truncated = fields.pop() != b""  # the last field isn't terminated by NUL
    size = 0
    remaining = iter(fields)
    for field in remaining:
        if field.startswith(b"# "):
            _header(state, field[2:].decode(errors="replace"))
            continue
        entry = _entry(field, remaining)
        size += len(entry.path) + len(entry.origin or "")
        if len(state.entries) == ENTRIES or size > TEXT_BYTES:
            state.truncated = True
            break
        state.entries.append(entry)
    return state


def log(data: bytes) -> tuple[list[GitCommitInfo], bool]:
    """Parse `git log -z --format=tformat:LOG_FORMAT`. Return the commits and whether some were omitted."""
    values = data.split(b"\0")
    commits: list[GitCommitInfo] = []
    size = 0
    for at in range(0, len(values) - _LOG_FIELDS, _LOG_FIELDS):
        fields = [value.decode(errors="replace") for value in values[at : at + _LOG_FIELDS]]
        fields[-1] = fields[-1][:MESSAGE_BYTES]
        size += sum(map(len, fields))
        if size > TEXT_BYTES and commits:
            return commits, True
        commits.append(_commit(fields))
    return commits, False


def branches(data: bytes) -> tuple[list[GitBranchInfo], bool]:
    """Parse `git for-each-ref --format=BRANCH_FORMAT`. Return the branches and whether some were omitted."""
    found: list[GitBranchInfo] = []
    size = 0
    for line in data.split(b"\n"):
        fields = line.split(b"\0")
        if (
            len(fields) != _BRANCH_FIELDS or fields[4]
        ):  # a symbolic ref such as origin/HEAD points to another listed branch
            continue
        ref, commit, upstream, head, _ = (_name(field) for field in fields)
        size += len(ref) + len(upstream)
        if size > TEXT_BYTES or len(found) == ENTRIES // 2:
            return found, True
        kind, _, name = ref.removeprefix("refs/").partition("/")
        remote = kind == "remotes"
        found.append(
            GitBranchInfo(name=name, commit=commit, upstream=upstream or None, current=head == "*", remote=remote)
        )
    return found, False


def pushed(data: bytes) -> list[GitPushedRef]:
    """Parse `git push --porcelain`."""
    refs = []
    for line in data.decode(errors="replace").splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[0] in (" ", "+", "*", "-", "=", "!"):
            refs.append(GitPushedRef(status=fields[0], ref=fields[1].rpartition(":")[2], summary=fields[2]))  # type: ignore[arg-type]
    return refs


def _progress(found: re.Match[str]) -> GitProgress:
    phase, percent, done, total, amount, unit = found.groups()
    received = round(float(amount) * _UNITS[unit]) if amount and amount.count(".") < 2 else None
    return GitProgress(
        phase=phase, percent=min(int(percent), 100), done=_count(done), total=_count(total), received=received
    )


def _count(digits: str) -> int:
    return int(digits[:18])


def _header(state: GitStatusResult, text: str) -> None:
    name, _, value = text.partition(" ")
    if name == "branch.oid":
        state.commit = None if value == "(initial)" else value
    elif name == "branch.head":
        state.branch = None if value == "(detached)" else value
    elif name == "branch.upstream":
        state.upstream = value
    elif name == "branch.ab":
        ahead, behind = value.split(" ")
        state.ahead, state.behind = int(ahead), -int(behind)


# The number of fields before the path, keyed by entry type.
_BEFORE_PATH = {b"1": 8, b"2": 9, b"u": 10}


def _entry(record: bytes, following: Iterator[bytes]) -> GitStatusEntry:
    kind = record[:1]
    if kind in (b"?", b"!"):
        return GitStatusEntry(path=_name(record[2:]), index=kind.decode(), worktree=kind.decode())
    *fields, path = record.split(b" ", _BEFORE_PATH[kind])
    letters = fields[1].decode()
    origin = _name(next(following, b"")) if kind == b"2" else None
    return GitStatusEntry(path=_name(path), index=letters[0], worktree=letters[1], origin=origin)


def _commit(fields: list[str]) -> GitCommitInfo:
    commit, parents, author, email, time, committer, committer_email, committed, message = fields
    return GitCommitInfo(
        commit=commit,
        parents=parents.split(),
        author=author,
        email=email,
        time=int(time or 0),
        committer=committer,
        committer_email=committer_email,
        committed=int(committed or 0),
        message=message.rstrip("\n"),
    )


def _name(data: bytes) -> str:
    return to_text(os.fsdecode(data))
