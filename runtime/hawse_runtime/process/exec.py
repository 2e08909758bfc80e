"""`exec`: runs a command to completion and sends its output on the call's channel. Repeated keyed calls resume it."""

import secrets

import msgspec

from hawse.api.processes import Exec, ExecResult, Program, StreamOffsets
from hawse.rpc import IdempotencyTable, Outcome, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.process.attach import AttachOptions, ProcessAttachStream, beginning
from hawse_runtime.process.launcher import Launcher
from hawse_runtime.process.process import Process


class ExecMethods:
    """Running commands, which `process.*` can access, and keyed commands that have ended, whose calls can be repeated.

    The most recently ended commands retain all their output.
    """

    def __init__(self, launcher: Launcher, idempotency: IdempotencyTable) -> None:
        """Create the methods. `idempotency` stores the outcomes of keyed commands."""
        self._limits = launcher.context.limits
        self.registry: Registry[Process] = Registry(
            "command", retention=Retention(count=self._limits.ended_execs), on_drop=Process.shrink
        )
        self._launcher = launcher
        self._idempotency = idempotency
        self._count = 0  # number of commands started so far

    def __len__(self) -> int:
        """The number of running commands."""
        return self.registry.running_count

    def find_running(self, command_id: str) -> Process | None:
        """Return the running command with this id. `process.*` can't access commands that have ended."""
        process = self.registry.find(command_id)
        return process if process is not None and process.exit is None else None

    @serves(Exec)
    def _exec(self, call: ServerCall, params: Exec) -> None:
        program = [getattr(params, name) for name in Program.__struct_fields__]
        process = self._idempotency.attach_or_start(call, program, lambda outcome: self._start(params, outcome))
        options = AttachOptions(
            since=beginning(process, params.since),
            result=_result,
            exit_event=False,
            limit=params.max_output,
            input_id=params.input,
            hold_id=call.key,
            stdin_timeout=self._limits.stdin_timeout if call.key is not None else 0.0,
        )
        call.serve(ProcessAttachStream(process, call, options))

    def _start(self, params: Exec, outcome: Outcome) -> Process:
        if params.since is not None and (params.since.stdout or params.since.stderr):
            message = "`since` must be 0, because the command has not run yet and has no output"
            raise HawseError("invalid_params", message, details={"path": "$.since"})
        self._count += 1
        process = self._launcher.spawn(
            f"exec-{self._count}-{secrets.token_hex(4)}", params, lambda process: self._end(process, outcome)
        )
        self.registry.add(process)
        return process

    def _end(self, process: Process, outcome: Outcome) -> None:
        outcome.succeed()
        if outcome.key is None:
            # Without a key, no other call can attach to it; its own call may still be reading.
            self.registry.remove(process)
        else:
            self.registry.end(process)


def _result(process: Process, cut: bool) -> ExecResult:
    assert process.exit is not None
    ends = StreamOffsets(stdout=process.stdout.end, stderr=process.stderr.end)
    return ExecResult(
        **msgspec.structs.asdict(process.exit),
        stdout=ends.stdout,
        stderr=ends.stderr,
        truncated=cut,
        duration=process.duration,
    )
