"""Starts programs for `exec` and `process.start`, and limits their number."""

import os
from collections.abc import Callable, Sequence

from hawse.api.processes import Program
from hawse.wire import HawseError
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.posix.environment import Environment
from hawse_runtime.process.process import Process, ProcessContext, ProcessOptions

SHELLS = ("/bin/bash", "/bin/sh")  # commands are run by the first of these that is executable


class Launcher:
    """Starts processes. `running` is the number of running processes."""

    def __init__(self, environment: Environment, context: ProcessContext) -> None:
        """Create the launcher. `environment` provides new programs' variables and directories."""
        self.running = 0
        self.context = context
        self.mark = environment.mark  # marks all of this runtime's programs, including terminals
        self._environment = environment

    def spawn(
        self,
        process_id: str,
        params: Program,
        on_exit: Callable[[Process], None],
        store: SpillStore | None = None,
        session: str | None = None,
    ) -> Process:
        """Start a process.

        Args:
            process_id: The id for the process.
            params: The program, its environment, directory, stdin and timeout.
            on_exit: Called once, when the process has exited.
            store: Stores output above the memory limit on disk. Without a store, that output is lost.
            session: The id of the session starting the process, if any.

        Raises:
            HawseError: `limit_exceeded`, `invalid_params`, `spawn_failed` or `too_large`. No program was started.
        """
        limit = self.context.limits.running
        if self.running >= limit:
            raise HawseError("limit_exceeded", f"process limit reached: {limit} processes are running")

        def ended(process: Process) -> None:
            self.running -= 1
            on_exit(process)

        cwd = self._environment.cwd(params.cwd)
        options = ProcessOptions(
            argv=program_argv(params.argv, params.command),
            cwd=cwd,
            env=self._environment.build(params.env, cwd=cwd),
            stdin=bool(params.stdin),
            timeout=params.timeout,
            session=session,
            store=store,
        )
        process = Process(process_id, options, self.context, ended)
        self.running += 1
        return process


def command_shell(shells: Sequence[str] = SHELLS) -> str:
    """Return the shell for running commands: the first executable one in `shells`, or the last if none is
    executable.
    """
    return next(path for path in shells if path == shells[-1] or os.access(path, os.X_OK, effective_ids=True))


def program_argv(
    argv: Sequence[str] | None, command: str | None, shell_argv: Callable[[str], list[str]] | None = None
) -> list[str]:
    """Return the argv described by a call's parameters.

    Args:
        argv: The program and its arguments.
        command: A command line for a shell.
        shell_argv: Returns the argv of a shell that runs a command line. By default, this uses `command_shell`.

    Raises:
        HawseError: `invalid_params` unless exactly one of `argv` and `command` is set.
    """
    if argv is not None and command is None:
        return list(argv)
    if command is not None and argv is None:
        return shell_argv(command) if shell_argv is not None else [command_shell(), "-c", command]
    raise HawseError("invalid_params", "specify either `argv` or `command`")
