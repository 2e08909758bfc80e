"""The processes of a sandbox, and the `process.*` and `exec` methods."""

import asyncio
import logging
import os
import secrets
import signal as signals
from collections import OrderedDict, deque
from typing import Any

import msgspec

from hawse.api.processes import (
    Attach,
    Exec,
    ExecEnd,
    Get,
    Kill,
    Killed,
    List,
    ProcessEnd,
    ProcessInfo,
    ProcessList,
    Program,
    SendSignal,
    Since,
    Start,
)
from hawse.wire import HawseError
from runtime.call import Call
from runtime.dispatch import Method
from runtime.environment import Environment
from runtime.journal import JournalPool
from runtime.outcomes import Outcome, Outcomes, fingerprint
from runtime.process import KILL_GRACE, Process, ProcessReader
from runtime.terminals import signal_number

log = logging.getLogger(__name__)

RUNNING_LIMIT = 4096
EXITED_KEPT = 256  # finished records that stay readable
SHELLS = ("/bin/bash", "/bin/sh")


class Processes:
    """By id, running and finished; and what `exec` runs, by key."""

    def __init__(self, environment: Environment, journals: JournalPool, outcomes: Outcomes) -> None:
        self._environment = environment
        self._journals = journals
        self._processes: dict[str, Process] = {}
        self._exited: OrderedDict[str, None] = OrderedDict()
        self._execs: dict[Process, None] = {}  # those that run
        self._outcomes = outcomes
        self._finished_execs: deque[Process] = deque()  # those with a key, the latest EXITED_KEPT

    def __len__(self) -> int:
        return len(self._processes) + len(self._execs)

    def methods(self) -> dict[str, Method]:
        return {
            "exec": Method(Exec, self._exec, stream=True),
            "process.start": Method(Start, lambda call, p: self._start(p)),
            "process.attach": Method(Attach, self._attach, stream=True),
            "process.signal": Method(SendSignal, lambda call, p: self._signal(p)),
            "process.kill": Method(Kill, lambda call, p: self._kill(p)),
            "process.list": Method(List, lambda call, p: self._list()),
            "process.get": Method(Get, lambda call, p: self.get(p.id).describe()),
        }

    def get(self, process_id: str) -> Process:
        process = self._processes.get(process_id)
        if process is None:
            raise HawseError("not_found", f"no process {process_id}")
        return process

    async def close(self) -> None:
        """End every process with its tree."""
        running = [p for p in (*self._processes.values(), *self._execs) if p.exit is None]
        for error in await asyncio.gather(*(p.end(signals.SIGTERM, 0.5) for p in running), return_exceptions=True):
            if error is not None:
                log.error("! a process is left: %s", error)

    # ---- process.*

    def _start(self, params: Start) -> ProcessInfo:
        process_id = params.id or f"p-{secrets.token_hex(4)}"
        existing = self._processes.get(process_id)
        if existing is not None and existing.exit is None:
            raise HawseError("conflict", f"process {process_id} is running")
        process = self._spawn(process_id, params, self._finished)
        if existing is not None:
            del self._exited[process_id]
        self._processes[process_id] = process
        return process.describe()

    def _attach(self, call: Call, params: Attach) -> None:
        process = self.get(params.id)
        if params.instance is not None and params.instance != process.instance:
            raise HawseError("stale_handle", f"process {params.id} was started anew")
        hold_id = params.input if params.lossless else None
        self._read(call, process, params.since, params.input, hold_id, _attach_result, is_exec=False)

    def _signal(self, params: SendSignal) -> dict[str, Any]:
        process = self.get(params.id)
        signum = signal_number(params.signal)
        if process.exit is not None:
            raise HawseError("exited", f"process {params.id} has ended")
        process.signal(signum)
        return {}

    async def _kill(self, params: Kill) -> Killed:
        process = self.get(params.id)
        grace = KILL_GRACE if params.grace is None else params.grace
        await process.end(signal_number("TERM" if params.signal is None else params.signal), grace)
        assert process.exit is not None
        return Killed(exit=process.exit)

    def _list(self) -> ProcessList:
        return ProcessList(processes=[process.describe() for process in self._processes.values()])

    # ---- exec

    def _exec(self, call: Call, params: Exec) -> None:
        process = self._execution(call, params)
        self._read(call, process, params.since, params.input, call.key, _exec_result, is_exec=True)

    def _execution(self, call: Call, params: Exec) -> Process:
        """The process of this call: of an earlier one with its key, or a new one."""
        if call.key is None:
            _check_beginning(params)
            process = self._spawn("exec", params, self._forget_exec)
            self._execs[process] = None
            return process
        mark = fingerprint("exec", msgspec.json.encode({n: getattr(params, n) for n in Program.__struct_fields__}))
        known = self._outcomes.join(call.key, mark, call.age)
        if known is not None:
            assert isinstance(known.work, Process)
            return known.work
        _check_beginning(params)
        outcome: Outcome
        process = self._spawn("exec", params, lambda process: self._keep_exec(process, outcome))
        self._execs[process] = None
        outcome = self._outcomes.begin(call.key, mark, process)
        return process

    def _forget_exec(self, process: Process) -> None:
        del self._execs[process]

    def _keep_exec(self, process: Process, outcome: Outcome) -> None:
        self._forget_exec(process)
        outcome.succeed()
        self._finished_execs.append(process)
        if len(self._finished_execs) > EXITED_KEPT:
            self._finished_execs.popleft().shrink()

    # ---- both

    def _spawn(self, process_id: str, params: Program, on_exit: Any) -> Process:
        running = sum(p.exit is None for p in self._processes.values()) + len(self._execs)
        if running >= RUNNING_LIMIT:
            raise HawseError("limit_exceeded", f"{RUNNING_LIMIT} processes are running")
        cwd = self._environment.cwd(params.cwd)
        return Process(
            process_id,
            _words(params),
            cwd=cwd,
            env=self._environment.build(params.env, cwd=cwd),
            stdin=bool(params.stdin),
            timeout=params.timeout,
            journal=self._journals.journal,
            on_exit=on_exit,
        )

    def _read(
        self,
        call: Call,
        process: Process,
        since: Since | None,
        input_id: str | None,
        hold_id: str | None,
        result: Any,
        *,
        is_exec: bool,
    ) -> None:
        stdout = (since and since.stdout) or 0
        stderr = (since and since.stderr) or 0
        for name, offset, stream in (("stdout", stdout, process.stdout), ("stderr", stderr, process.stderr)):
            if offset > stream.journal.end:
                raise HawseError("invalid_params", f"`since.{name}` is in the future", details=stream.describe())
        reader = ProcessReader(
            process,
            call,
            stdout=stdout,
            stderr=stderr,
            input_id=input_id,
            hold_id=hold_id,
            result=result,
            exit_event=not is_exec,
            only_caller=is_exec and call.key is None,
        )
        call.serve(reader)

    def _finished(self, process: Process) -> None:
        self._exited[process.id] = None
        if len(self._exited) > EXITED_KEPT:
            oldest, _ = self._exited.popitem(last=False)
            del self._processes[oldest]


def _check_beginning(params: Exec) -> None:
    """What has not been started has no output to resume: say so before it is."""
    if params.since is not None and (params.since.stdout or params.since.stderr):
        raise HawseError("invalid_params", "`since` of a command that has not been run", details={"path": "$.since"})


def _attach_result(process: Process) -> ProcessEnd:
    assert process.exit is not None
    return ProcessEnd(exit=process.exit, stdout=process.stdout.journal.end, stderr=process.stderr.journal.end)


def _exec_result(process: Process) -> ExecEnd:
    assert process.exit is not None
    stdout, stderr = process.stdout.journal.end, process.stderr.journal.end
    return ExecEnd(**msgspec.structs.asdict(process.exit), stdout=stdout, stderr=stderr)


def _words(params: Program) -> list[str]:
    """The argv of what is to be run."""
    if (params.argv is None) == (params.command is None):
        raise HawseError("invalid_params", "give either `argv` or `command`")
    if params.argv is not None:
        return params.argv
    shell = next(path for path in SHELLS if path == SHELLS[-1] or _is_executable(path))
    return [shell, "-c", params.command or ""]


def _is_executable(path: str) -> bool:
    return os.access(path, os.X_OK)
