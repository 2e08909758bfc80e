"""Runs git with the right environment, credentials and timeout, and ends its process tree.

Git reads credentials from an in-memory file (memfd; see docs/decisions/0036).
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from hawse.api.git import GitCredentials
from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.git.arguments import redacted
from hawse_runtime.git.errors import failure
from hawse_runtime.posix.child import adopt
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.fd_streams import FdReader, FdWriter
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.spawn import EXTRA_FD, spawn_pipes

LOCAL_TIMEOUT = 120.0  # timeout in seconds for commands without network access
OUTPUT_LIMIT = 8 << 20  # number of bytes kept from stdout by default
STDERR_LIMIT = 64 << 10  # number of bytes kept from the end of stderr
GRACE = 2.0  # seconds from SIGTERM to SIGKILL
DRAIN_LIMIT = 1 << 20  # maximum number of bytes read after git has exited; the capacity of a pipe

_KEPT_NAMES = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH", "GIT_SSL_")
ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",  # there is no terminal for prompts
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_ALLOW_PROTOCOL": "http:https:ssh:git:file",  # protocols that git may use, even for redirects
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    **dict.fromkeys(("GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"), "0"),  # override `trace2.*` settings
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",  # keeps git's messages in English, because they are parsed
}
# User or repository settings must not change output that programs parse or apply. Git prefers specific settings, such
# as `color.diff`, to general ones, such as `color.ui`, so all of them are set.
_CONFIG = (
    *(
        (f"color.{name}", "false")
        for name in ("ui", "diff", "status", "branch", "push", "remote", "transport", "advice")
    ),
    ("core.quotePath", "false"),
    ("core.abbrev", "auto"),
    ("i18n.commitEncoding", "UTF-8"),
    ("log.follow", "false"),
    ("status.renames", "true"),
    ("status.aheadBehind", "true"),
    ("status.showStash", "false"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.srcPrefix", "a/"),
    ("diff.dstPrefix", "b/"),
    ("diff.relative", "false"),
    ("diff.renames", "true"),
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "none"),
    ("diff.orderFile", "/dev/null"),
    ("diff.context", "3"),
    ("diff.interHunkContext", "0"),
    ("diff.suppressBlankEmpty", "false"),
    ("diff.indentHeuristic", "true"),
    ("diff.algorithm", "default"),
    ("core.fsmonitor", "false"),  # file system monitors would start a program, or a daemon that never exits
    ("gc.auto", "0"),  # garbage collection would continue in the background after the command
    ("maintenance.auto", "false"),
    ("http.lowSpeedLimit", "1"),  # minimum transfer rate in bytes per second
    # Seconds below the minimum rate before the transfer fails.
    ("http.lowSpeedTime", "60"),
    ("protocol.ext.allow", "never"),
    ("advice.detachedHead", "false"),
    ("log.showSignature", "false"),
)
_HELPER = f'!f() {{ test "$1" = get && cat /proc/self/fd/{EXTRA_FD}; }}; f'


class GitLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on git commands."""

    running: int = 64  # maximum number of concurrent commands
    resume_timeout: float = 60.0  # seconds that a keyed clone keeps running without an attached call


class GitResult(NamedTuple):
    """A git command's result. `truncated` is set if git was ended because it printed more than the limit."""

    code: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool


class Access(NamedTuple):
    """Credentials, along with the only scheme, host and port that may receive them."""

    scope: str
    credentials: GitCredentials


class GitOutput:
    """Keeps the first `limit` bytes from stdout."""

    def __init__(self, limit: int, on_full: Callable[[], None]) -> None:
        self.data = bytearray()
        self.full = False  # whether more than `limit` bytes were received
        self._limit = limit
        self._on_full = on_full

    def append(self, data: bytes) -> None:
        room = self._limit - len(self.data)
        self.data += data[:room]
        if len(data) > room:
            self.full = True
            self._on_full()


class Running:
    """A running git command. The caller must call `close`."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        stdin: bytes | None,
        extra: int | None,
        on_stdout: Callable[[bytes], None],
        on_stderr: Callable[[bytes], None],
        enough: asyncio.Event,
    ) -> None:
        """Start a git command.

        Args:
            argv: The program and its arguments.
            env: The complete environment.
            cwd: The working directory.
            stdin: The input; None means /dev/null.
            extra: A descriptor to pass to git as EXTRA_FD, if any.
            on_stdout: Called with each chunk of stdout.
            on_stderr: Called with each chunk of stderr.
            enough: An event to set once the command has ended.

        Raises:
            HawseError: `spawn_failed` or `limit_exceeded`.
        """
        self.exit: Exit | None = None
        self.stopped: HawseError | None = None  # why the command was ended from outside; None if it wasn't
        pipes = spawn_pipes(argv, env=env, cwd=cwd, stdin=stdin is not None, extra=extra)
        child = adopt(pipes.pid, self._exited, *(fd for fd in pipes[1:] if fd is not None))
        self.pid = child.pid
        self._enough = enough
        self._inlets = [FdReader(pipes.stdout, on_stdout)]
        self._inlets.append(FdReader(pipes.stderr, on_stderr))
        self._stdin = FdWriter(pipes.stdin, owned=True) if pipes.stdin is not None else None
        if self._stdin is not None:
            self._stdin.write(stdin or b"")
            self._stdin.end()

    async def kill(self, trees: ProcessTrees) -> None:
        """End the process tree. Return once all its processes have exited."""
        if self.exit is None:
            await trees.end(self.pid, signal.SIGTERM, GRACE, lambda: self.exit is not None)

    def close(self) -> None:
        """Read any remaining output once the command has ended, and close the pipes."""
        for inlet in self._inlets:
            inlet.drain(DRAIN_LIMIT)
            inlet.close()
        if self._stdin is not None:
            self._stdin.close()

    def _exited(self, exit: Exit) -> None:
        self.exit = exit
        self._enough.set()


class GitRunner:
    """Runs git commands, and ends them when the runtime exits."""

    def __init__(self, environment: Environment, trees: ProcessTrees, limits: GitLimits = GitLimits()) -> None:
        """Create the runner.

        Args:
            environment: Environment variables for git.
            trees: Ends process trees.
            limits: Limits on git commands.
        """
        self.environment = environment
        self.limits = limits
        self._trees = trees
        self._running: dict[Running, None] = {}
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        await asyncio.gather(*(self.stop(running) for running in list(self._running)), return_exceptions=True)

    async def stop(self, running: Running) -> None:
        """End a running command, making its `run` raise `cancelled`."""
        running.stopped = running.stopped or HawseError("cancelled", "the git command was cancelled", admitted="yes")
        await running.kill(self._trees)

    async def run(
        self,
        *arguments: str,
        cwd: str,
        access: Access | None = None,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = LOCAL_TIMEOUT,
        limit: int = OUTPUT_LIMIT,
        on_stderr: Callable[[bytes], None] | None = None,
        on_start: Callable[[Running], None] | None = None,
        accept: tuple[int, ...] = (0,),
    ) -> GitResult:
        """Run a git command to completion.

        Args:
            arguments: The arguments for git.
            cwd: The working directory.
            access: The credentials, along with the host that may receive them.
            stdin: The input; None means /dev/null.
            env: Additional environment variables.
            timeout: The time limit in seconds. When it is reached, the process tree is ended.
            limit: The number of bytes to keep from stdout. Git is ended if it prints more.
            on_stderr: Called with each chunk of stderr.
            on_start: Called once the command has started.
            accept: Exit codes that don't count as failures.

        Raises:
            HawseError: `spawn_failed`, `deadline_exceeded`, `cancelled` or `limit_exceeded`, or any error from
                `failure`.
        """
        if self._closed or len(self._running) >= self.limits.running:
            raise HawseError("limit_exceeded", f"git command limit reached: {self.limits.running} are running")
        enough = asyncio.Event()
        output, errors = GitOutput(limit, enough.set), bytearray()

        def receive_stderr(data: bytes) -> None:
            errors.extend(data)
            del errors[:-STDERR_LIMIT]
            if on_stderr is not None:
                on_stderr(data)

        with _memory(access) as secret:
            running = Running(
                _argv(arguments, access),
                env=self._env(cwd, env),
                cwd=cwd,
                stdin=stdin,
                extra=secret,
                on_stdout=output.append,
                on_stderr=receive_stderr,
                enough=enough,
            )
            await self._wait(running, enough, timeout, on_start)
        if running.stopped is not None:
            raise running.stopped
        code = running.exit.code if running.exit is not None else None
        if code not in accept and not output.full:
            printed = (bytes(output.data[-STDERR_LIMIT:]) + b"\n" + errors).decode(errors="replace")
            raise failure(redacted(printed, access and access.credentials), code)
        return GitResult(code, bytes(output.data), bytes(errors), output.full)

    async def _wait(
        self, running: Running, enough: asyncio.Event, timeout: float, on_start: Callable[[Running], None] | None
    ) -> None:
        """Wait until a command has ended or has printed enough output, then end its process tree and close it."""
        try:
            self._running[running] = None
            if on_start is not None:
                on_start(running)
            async with asyncio.timeout(timeout):
                await enough.wait()
        except TimeoutError:
            running.stopped = HawseError("deadline_exceeded", f"git took more than {timeout} s", admitted="yes")
        finally:
            try:
                await running.kill(self._trees)
            finally:
                running.close()
                del self._running[running]

    def _env(self, cwd: str, more: Mapping[str, str] | None) -> dict[str, str]:
        env = self.environment.build(None, cwd=cwd)
        inherited = {k: v for k, v in env.items() if not k.startswith("GIT_") or k.startswith(_KEPT_NAMES)}
        return {**inherited, **ENVIRONMENT, **(more or {})}


def _argv(arguments: Sequence[str], access: Access | None) -> list[str]:
    config = list(_CONFIG)
    if access is not None:  # use only this helper, because the user's own helper might store the credentials
        config += [("credential.helper", ""), (f"credential.{access.scope}.helper", _HELPER)]
    options = [option for name, value in config for option in ("-c", f"{name}={value}")]
    return ["git", "--no-pager", *options, *arguments]


@contextmanager
def _memory(access: Access | None) -> Iterator[int | None]:
    """Yield a descriptor that `credential.helper` can read repeatedly (git-credential(1)); None if `access` is None."""
    if access is None:
        yield None
        return
    fd = os.memfd_create("git", os.MFD_CLOEXEC)
    try:
        username, password = access.credentials.username, access.credentials.password
        os.write(fd, f"username={username}\npassword={password}\n".encode())
        yield fd
    finally:
        os.ftruncate(fd, 0)  # erases the secret, because processes left running may have the file open
        os.close(fd)
