"""Arguments for running a program, and their conversion to method parameters."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from hawse.client.base.call_errors import InvalidParamsError
from hawse.client.base.environment import Directory, Env, directory, environment
from hawse.client.base.timeouts import check_timeout
from hawse.client.calls.input_stream import BytesLike

Command = str | Sequence[str | os.PathLike[str]]

OUTPUT_LIMIT = 64 << 20  # maximum bytes `exec` keeps per stream; for more, use a process and its iterators


class OutputCallbacks(TypedDict, total=False):
    """Functions to call with output as it arrives. Their results are ignored. If one raises an exception, the call
    ends.

    They are called in a copy of the caller's context (`contextvars`).

    A stream arrives in consecutive parts. A part can end anywhere, even in the middle of a line or character.
    """

    on_stdout: Callable[[bytes], object]
    on_stderr: Callable[[bytes], object]


class ExecOptions(OutputCallbacks, total=False):
    """Options for running a command: the keyword arguments for `Sandbox.exec` and `Session.exec`.

    Args:
        cwd: The working directory, relative to the workspace or to the session's directory.
        env: Variables to add to the environment; None unsets a variable.
        stdin: The whole input; by default, the command reads from /dev/null.
        timeout: Time limit in seconds. If it is exceeded, the command is killed and the result is `timed_out`.
        unattended: Whether to set variables that make programs less likely to prompt, such as `CI`,
            `DEBIAN_FRONTEND`, `GIT_TERMINAL_PROMPT` and `PAGER`. `env` takes precedence.
        check: Whether to raise an error if the exit code is not 0 or the output is truncated.
        key: Calls with the same key, from any client, join the same run.
        max_output: Number of bytes to keep from each stream. If there are more, the result is `truncated`.
    """

    cwd: Directory | None
    env: Env | None
    stdin: BytesLike | None
    timeout: float | None
    unattended: bool
    check: bool
    key: str | None
    max_output: int


class StartOptions(TypedDict, total=False):
    """Options for starting a process: the keyword arguments for `Processes.start` and `Session.start`.

    Args:
        id: The id of the process; by default a random id.
        cwd: The working directory, relative to the workspace or to the session's directory.
        env: Variables to add to the environment; None unsets a variable.
        stdin: Whether the process gets input; by default it reads from /dev/null.
        timeout: Seconds until all of the program's processes are killed; by default never.
        unattended: The same as in `ExecOptions`.
    """

    id: str | None
    cwd: Directory | None
    env: Env | None
    stdin: bool
    timeout: float | None
    unattended: bool


class ProgramFields(TypedDict):
    """The fields of `hawse.api.processes.Program` except `stdin`. Exactly one of `argv` and `command` is set."""

    argv: list[str] | None
    command: str | None
    cwd: str | None
    env: dict[str, str | None] | None
    timeout: float | None


class StartFields(ProgramFields):
    """The fields common to `process.start` and `session.process`."""

    id: str | None
    stdin: bool | None


def program(
    command: Command, *, cwd: Directory | None, env: Env | None, timeout: float | None, unattended: bool = False
) -> ProgramFields:
    """Return the fields for a program. A string is a shell command; a sequence is an argv.

    Args:
        command: The command.
        cwd: The working directory.
        env: Variables to add to the environment; None unsets a variable.
        timeout: Time limit in seconds.
        unattended: Whether to set variables that make programs less likely to prompt.

    Raises:
        InvalidParamsError: `command` is neither a string nor a sequence of strings, or `timeout` is not a valid time
            limit.
    """
    text = command if isinstance(command, str) else None
    check_timeout(timeout)
    return {
        "argv": None if text is not None else _arguments(command),
        "command": text,
        "cwd": directory(cwd),
        "env": environment(env, unattended=unattended),
        "timeout": timeout,
    }


def _arguments(command: Any) -> list[str]:
    """Check and return an argv. Callers that don't use a type checker can pass a value of any type."""
    if not isinstance(command, Sequence) or isinstance(command, bytes | bytearray | memoryview):
        found = f"{type(command).__name__} {command!r:.100}"
        message = f"a command must be a string for the shell or a list of strings, not the {found}"
        raise InvalidParamsError(message, details={"path": "command"})
    arguments = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in command]
    for number, argument in enumerate(arguments):
        if not isinstance(argument, str):
            found = f"{type(argument).__name__} {argument!r:.100}"
            message = f"a command's arguments must be strings, but number {number} is the {found}"
            raise InvalidParamsError(message, details={"path": f"command[{number}]"})
    return arguments


def start_fields(
    command: Command,
    *,
    id: str | None = None,
    cwd: Directory | None = None,
    env: Env | None = None,
    stdin: bool = False,
    timeout: float | None = None,
    unattended: bool = False,
) -> StartFields:
    """Return the fields for starting a process. The arguments are the same as in `StartOptions`."""
    fields = program(command, cwd=cwd, env=env, timeout=timeout, unattended=unattended)
    return {**fields, "id": id, "stdin": stdin or None}
