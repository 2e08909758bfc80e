"""Starts what `exec` and `process.start` are asked for, in a bounded number."""

import os
from collections.abc import Callable

from hawse.api.processes import Program
from hawse.wire import HawseError
from runtime.journal.spill import SpillStore
from runtime.posix.environment import Environment
from runtime.process.process import Process, ProcessContext

RUNNING_LIMIT = 4096
SHELLS = ("/bin/bash", "/bin/sh")


class Launcher:
    """`running`: how many there are."""

    def __init__(self, environment: Environment, ground: ProcessContext) -> None:
        self.running = 0
        self.ground = ground
        self.mark = environment.mark  # of everything that is started here, terminals as well
        self._environment = environment

    def spawn(
        self, process_id: str, params: Program, on_exit: Callable[[Process], None], store: SpillStore | None = None
    ) -> Process:
        """Raises `limit_exceeded`, `invalid_params`, `spawn_failed`, `too_large`: then nothing was started."""
        if self.running >= RUNNING_LIMIT:
            raise HawseError("limit_exceeded", f"{RUNNING_LIMIT} processes are running")

        def ended(process: Process) -> None:
            self.running -= 1
            on_exit(process)

        cwd = self._environment.cwd(params.cwd)
        process = Process(
            process_id,
            words(params),
            cwd=cwd,
            env=self._environment.build(params.env, cwd=cwd),
            stdin=bool(params.stdin),
            timeout=params.timeout,
            ground=self.ground,
            on_exit=ended,
            store=store,
        )
        self.running += 1
        return process


def words(params: Program) -> list[str]:
    """The argv of what is to be run. Raises `invalid_params` unless there is one of `argv` and `command`."""
    if (params.argv is None) == (params.command is None):
        raise HawseError("invalid_params", "give either `argv` or `command`")
    if params.argv is not None:
        return params.argv
    shell = next(path for path in SHELLS if path == SHELLS[-1] or os.access(path, os.X_OK))
    return [shell, "-c", params.command or ""]
