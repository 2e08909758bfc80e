"""Converts git's error messages to typed errors. The messages must be in English (LC_ALL=C)."""

import re

from hawse.wire import HawseError

STDERR_KEPT = 4096  # number of bytes from the end of git's output to include in the details

# Tuples of a pattern for git's output, an error code, and `details.reason`. The first match applies. Patterns are
# compiled on demand, because compiling all of them would delay a runtime's startup by 4 ms.
_TABLE: tuple[tuple[str, str, str], ...] = (
    (r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED", "permission_denied", "host_key"),
    (
        r"Authentication failed|could not read (Username|Password)|Permission denied \(|HTTP (401|403)"
        r"|error: 40[13]\b|terminal prompts disabled|access denied",
        "permission_denied",
        "authentication",
    ),
    (r"dubious ownership", "permission_denied", "ownership"),
    (r"not a git repository \(or|not a git repository:|must be run in a work tree", "not_found", "not_a_repository"),
    (
        r"repository '.*' (not found|does not exist)|does not appear to be a git repository|Repository not found"
        r"|error: 404\b|remote error: access denied or repository not exported",
        "not_found",
        "remote",
    ),
    (r"No such remote|'[^']*' does not appear to be", "not_found", "remote"),
    (
        r"Remote branch .* not found|couldn't find remote ref|unknown revision|bad revision|invalid reference"
        r"|did not match any|not a valid object name|Not a valid|ambiguous argument|branch '.*' not found"
        r"|invalid object name|no such branch|not a commit|src refspec .* does not match|bad object",
        "not_found",
        "revision",
    ),
    (r"would be overwritten|local changes|unstaged changes|uncommitted changes", "conflict", "local_changes"),
    (r"CONFLICT|Merge conflict|unmerged files|[Uu]nmerged|not concluded your merge", "conflict", "merge"),
    (r"could not apply|rebase.*in progress", "conflict", "merge"),
    (r"nothing to commit|nothing added to commit|no changes added", "conflict", "nothing_to_commit"),
    (r"Not possible to fast-forward|non-fast-forward|\[(remote )?rejected\]|stale info", "conflict", "rejected"),
    (r"already exists", "conflict", "exists"),
    (r"not fully merged|[Cc]annot delete branch|used by worktree|checked out at", "conflict", "branch"),
    (r"index\.lock|Unable to create '.*\.lock'|cannot lock ref", "conflict", "locked"),
    (r"[Tt]ell me who you are|unable to auto-detect email|empty ident", "invalid_params", "identity"),
    (r"no tracking information|no upstream branch|not currently on a branch", "conflict", "upstream"),
    (r"is not a valid branch name|transport '.*' not allowed", "invalid_params", "name"),
    (r"No space left on device|Disk quota exceeded", "no_space", "disk"),
    (
        r"Could not resolve|unable to access|Failed to connect|Connection (refused|timed out|reset)|early EOF"
        r"|unable to connect|Operation too slow|hung up unexpectedly|Could not read from remote|RPC failed"
        r"|unable to look up",
        "io_error",
        "network",
    ),
)
_MESSAGE = re.compile(r"^(?:fatal|error|remote|ERROR): .*", re.MULTILINE)
_TRANSPORT_FAILED = re.compile(r"fatal: (Could not read from remote repository|the remote end hung up)", re.MULTILINE)


def failure(output: str, status: int | None) -> HawseError:
    """Return the error for a git command that failed.

    Args:
        output: Git's stdout and stderr, without secrets.
        status: The exit code; None if git was killed by a signal.
    """
    found = ((code, reason) for pattern, code, reason in _TABLE if re.search(pattern, output))
    code, reason = next(found, ("io_error", "git"))
    details = {"reason": reason, "code": status, "stderr": output[-STDERR_KEPT:]}
    return HawseError(
        code, _message(output)[:500], admitted="yes", details=details, retryable=reason == "network" or None
    )


def _message(output: str) -> str:
    """Return the line that gives the cause: the first fatal error, or ssh's message about a lost connection."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    messages = _MESSAGE.findall(output) or lines
    fatal = [line for line in messages if line.startswith("fatal:")]
    if fatal and _TRANSPORT_FAILED.match(fatal[0]):
        before = [line for line in lines[: lines.index(fatal[0])] if not line.startswith("Cloning into ")]
        return before[-1] if before else fatal[0]
    if fatal:
        return fatal[0]
    return messages[-1] if messages else "git failed"
