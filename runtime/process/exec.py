"""`exec`: one command to its end, with its output on the channel that asked for it; by its key, from anywhere again."""

from collections import deque

import msgspec

from hawse.api.processes import Exec, ExecResult, Program, StreamOffsets
from hawse.rpc import IdempotencyTable, Outcome, fingerprint, serves
from hawse.rpc.call import RuntimeCall
from hawse.wire import HawseError
from runtime.process.attach import ProcessAttachStream, beginning
from runtime.process.launcher import Launcher
from runtime.process.process import Process

STDIN_PATIENCE = 300.0  # seconds a keyed command waits for its caller to come back with more input
ENDED_KEPT = 256  # keyed ones that keep their whole output


class ExecMethods:
    """What runs, and what has ended and may be asked for again."""

    def __init__(self, launcher: Launcher, outcomes: IdempotencyTable) -> None:
        self.running: dict[Process, None] = {}
        self._launcher = launcher
        self._outcomes = outcomes
        self._ended: deque[Process] = deque()  # those with a key, the oldest first

    def __len__(self) -> int:
        return len(self.running)

    @serves(Exec)
    def _exec(self, call: RuntimeCall, params: Exec) -> None:
        process = self._execution(call, params)
        reader = ProcessAttachStream(
            process,
            call,
            since=beginning(process, params.since),
            limit=params.max_output,
            input_id=params.input,
            hold_id=call.key,
            result=_result,
            exit_event=False,
            patience=STDIN_PATIENCE if call.key is not None else 0.0,
        )
        call.serve(reader)

    def _execution(self, call: RuntimeCall, params: Exec) -> Process:
        """The process of this call: of an earlier one with its key, or a new one."""
        if call.key is None:
            _check_beginning(params)
            process = self._launcher.spawn("exec", params, self._forget)
            self.running[process] = None
            return process
        mark = fingerprint("exec", msgspec.json.encode({n: getattr(params, n) for n in Program.__struct_fields__}))
        known = self._outcomes.join(call.key, mark, call.age)
        if known is not None:
            assert isinstance(known.work, Process)
            return known.work
        _check_beginning(params)
        outcome: Outcome
        process = self._launcher.spawn("exec", params, lambda process: self._keep(process, outcome))
        self.running[process] = None
        outcome = self._outcomes.begin(call.key, mark, process)
        return process

    def _forget(self, process: Process) -> None:
        del self.running[process]

    def _keep(self, process: Process, outcome: Outcome) -> None:
        self._forget(process)
        outcome.succeed()
        self._ended.append(process)
        if len(self._ended) > ENDED_KEPT:
            self._ended.popleft().shrink()


def _check_beginning(params: Exec) -> None:
    """What has not been started has no output to resume: say so before it is."""
    if params.since is not None and (params.since.stdout or params.since.stderr):
        raise HawseError("invalid_params", "`since` of a command that has not been run", details={"path": "$.since"})


def _result(process: Process, cut: bool) -> ExecResult:
    assert process.exit is not None
    ends = StreamOffsets(stdout=process.stdout.end, stderr=process.stderr.end)
    return ExecResult(**msgspec.structs.asdict(process.exit), stdout=ends.stdout, stderr=ends.stderr, truncated=cut)
