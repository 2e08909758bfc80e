"""Sandboxes for evaluations with Inspect (`inspect_ai`). `sandbox="hawse"` creates a sandbox for each sample.

The gateway is found by `hawse.connect()`, through HAWSE_URL or `hawse login`. `sandbox=("hawse", "NAME")` selects the
template NAME. Inspect finds this module through the package's entry point.
"""

import signal as signals
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar, overload

import anyio
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

import hawse.sync
from hawse.client import (
    HawseError,
    IsDirectoryError,
    NotDirectoryError,
    NotFoundError,
    PermissionDeniedError,
    SpawnFailedError,
    TooLargeError,
)

__all__ = ["HawseSandbox"]

T = TypeVar("T")
CALLS_MAX = 512  # maximum number of concurrent calls, each in its own thread; further calls wait
NOT_FOUND = 127  # exit code a shell returns for a program that doesn't exist


@sandboxenv(name="hawse")
class HawseSandbox(SandboxEnvironment):
    """A sample's sandbox. Once the sample has finished, the sandbox is deleted along with its content."""

    _threads: anyio.CapacityLimiter | None = None

    def __init__(self, client: hawse.sync.Client, box: hawse.sync.Sandbox) -> None:
        """Create an environment from an open client and a sandbox. The environment's cleanup deletes the sandbox and
        closes the client.
        """
        super().__init__()
        self.box = box
        self._client = client

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Create the sandbox for a sample.

        Raises:
            ValueError: `config` is not a template name.
            HawseError: The gateway cannot be reached or refuses to create the sandbox.
        """
        if config is not None and not isinstance(config, str):
            raise ValueError('the configuration of the sandbox "hawse" must be a template name')
        return {"default": await cls._in_thread(partial(cls._create, config))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Delete a sample's sandboxes, even if the evaluation was interrupted."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                await cls._in_thread(environment.as_type(HawseSandbox)._delete)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command as specified by Inspect. After the timeout, the command and all processes it started are
        killed. The command is not retried.

        Raises:
            SandboxUserUnsupportedError: `user` is set, but all programs in a sandbox run as the same user.
            SandboxUnavailableError: The sandbox is not running.
            OutputLimitExceededError: The output exceeds Inspect's limit.
            PermissionError: The program is not executable.
            TimeoutError: The command took longer than `timeout` seconds.
        """
        if user is not None:
            raise SandboxUserUnsupportedError(f"a hawse sandbox cannot run commands as another user: {user!r}")
        stdin = input.encode() if isinstance(input, str) else input
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            done = await self._in_thread(
                lambda: self.box.exec(cmd, cwd=cwd, env=env, stdin=stdin, timeout=timeout, max_output=limit)
            )
        except SpawnFailedError as error:
            return await self._not_started(cmd[0], error)
        except HawseError as error:
            raise SandboxUnavailableError(f"{error.code}: {error.message}") from error
        if done.timed_out:
            raise TimeoutError(f"the command took longer than {timeout} s")
        if done.truncated:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, done.text)
        code = 128 + _number(done.signal) if done.code is None else done.code
        return ExecResult(success=code == 0, returncode=code, stdout=done.text, stderr=done.stderr_text)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, creating missing directories. Raises the matching `OSError`."""
        data = contents.encode() if isinstance(contents, str) else contents
        with _os_errors(file):
            await self._in_thread(lambda: self.box.files.write(file, data))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Return the content of a file. Raises the matching `OSError`, or `UnicodeDecodeError` or
        `OutputLimitExceededError`.
        """
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            with _os_errors(file):
                data: bytes = await self._in_thread(lambda: self.box.files.read(file, max_size=limit))
        except TooLargeError:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None) from None
        return data.decode() if text else data

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """Return the command that opens a terminal in the sandbox."""
        return SandboxConnection(type="hawse", command=f"hawse shell --sandbox {self.box.id}")

    async def _not_started(self, program: str, error: SpawnFailedError) -> ExecResult[str]:
        """Return a shell's result for a program that doesn't exist. Raises `PermissionError` if the
        program exists.
        """
        if "/" in program and await self._in_thread(lambda: self.box.files.exists(program)):
            raise PermissionError(error.message) from error
        return ExecResult(success=False, returncode=NOT_FOUND, stdout="", stderr=error.message)

    @classmethod
    def _create(cls, template: str | None) -> "HawseSandbox":
        client = hawse.sync.connect()
        client.__enter__()
        try:
            return cls(client, client.sandboxes.create(template=template, labels={"inspect": "sample"}))
        except BaseException:
            client.__exit__(None, None, None)
            raise

    def _delete(self) -> None:
        with self._client:
            self.box.delete()

    @classmethod
    async def _in_thread(cls, function: Callable[[], T]) -> T:
        """Run a synchronous client call in a thread. The client's connection is independent of Inspect's tasks."""
        cls._threads = cls._threads or anyio.CapacityLimiter(CALLS_MAX)
        return await anyio.to_thread.run_sync(function, abandon_on_cancel=True, limiter=cls._threads)


def _number(signal: Any) -> int:
    return signals.Signals[signal].value if isinstance(signal, str) else int(signal or 0)


@contextmanager
def _os_errors(file: str) -> Iterator[None]:
    """Convert errors from file calls to the errors that Inspect expects."""
    try:
        yield
    except NotFoundError as error:
        raise FileNotFoundError(f"{file}: {error.message}") from error
    except PermissionDeniedError as error:
        raise PermissionError(f"{file}: {error.message}") from error
    except IsDirectoryError as error:
        raise IsADirectoryError(f"{file}: {error.message}") from error
    except NotDirectoryError as error:
        raise NotADirectoryError(f"{file}: {error.message}") from error
