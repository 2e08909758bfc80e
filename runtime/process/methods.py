"""The processes of a sandbox, and the `process.*` methods."""

import asyncio
import logging
import secrets
import signal as signals
from concurrent.futures import ThreadPoolExecutor

from hawse.api import Nothing
from hawse.api.processes import (
    Attach,
    Get,
    Kill,
    Killed,
    List,
    ProcessEnd,
    ProcessInfo,
    ProcessList,
    SendSignal,
    Start,
    Wait,
)
from runtime.journal.spill import SpillStore
from runtime.posix import process_tree as tree
from runtime.process.attach import ProcessReader, beginning
from runtime.process.exec import Execs
from runtime.process.launcher import Launcher
from runtime.process.process import KILL_GRACE, Process
from runtime.process.registry import Keep, Records
from runtime.process.wait import ProcessWait
from runtime.rpc.call import Call
from runtime.rpc.dispatcher import Method
from runtime.rpc.handle_checks import check_running, signal_number

log = logging.getLogger(__name__)

LISTED = 1000  # records in one answer
CLOSING_GRACE = 0.5  # seconds from TERM to KILL when the runtime ends


class Processes:
    """Running and finished. At the end, nothing is left of them nor of what `exec` started."""

    def __init__(self, launcher: Launcher, execs: Execs, store: SpillStore, keep: Keep | None = None) -> None:
        self.records = Records(keep or Keep())
        self._launcher = launcher
        self._execs = execs
        self._store = store
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="logs")  # for long searches

    def __len__(self) -> int:
        return len(self.records)

    def methods(self) -> dict[str, Method]:
        return {
            "process.start": Method(Start, lambda call, p: self.start(p)),
            "process.attach": Method(Attach, self._attach, stream=True),
            "process.wait": Method(Wait, self._wait, stream=True),
            "process.signal": Method(SendSignal, lambda call, p: self._signal(p)),
            "process.kill": Method(Kill, lambda call, p: self._kill(p)),
            "process.list": Method(List, lambda call, p: self._list(p)),
            "process.get": Method(Get, lambda call, p: self.records.get(p.id).describe()),
        }

    async def close(self) -> None:
        """End every process with its tree, and what was left behind by those that have ended."""
        running = [p for p in (*self.records, *self._execs.running) if p.exit is None]
        ends = [process.end(signals.SIGTERM, CLOSING_GRACE) for process in running]
        for error in await asyncio.gather(*ends, self._end_the_rest(), return_exceptions=True):
            if isinstance(error, BaseException):
                log.error("! a process is left: %s", error)
        self._threads.shutdown(cancel_futures=True)
        self.records.close()
        await self._store.close()

    async def _end_the_rest(self) -> None:
        await tree.end(tree.NOBODY, signals.SIGTERM, CLOSING_GRACE, lambda: True, mark=self._launcher.mark)

    def start(self, params: Start) -> ProcessInfo:
        process_id = params.id or f"p-{secrets.token_hex(4)}"
        self.records.check_free(process_id)
        process = self._launcher.spawn(process_id, params, self.records.ended, self._store)
        self.records.add(process)
        return process.describe()

    def _attach(self, call: Call, params: Attach) -> None:
        process = self.records.get(params.id, params.instance)
        reader = ProcessReader(
            process,
            call,
            since=beginning(process, params.since),
            input_id=params.input,
            hold_id=params.input if params.lossless else None,
            result=_result,
            exit_event=True,
        )
        call.serve(reader)

    def _wait(self, call: Call, params: Wait) -> None:
        process = self.records.get(params.id, params.instance)
        wait = ProcessWait(process, call, params, self._threads, self._launcher.ground.tasks)
        call.serve(wait)
        wait.begin()

    def _signal(self, params: SendSignal) -> Nothing:
        process = self.records.get(params.id, params.instance)
        signum = signal_number(params.signal)
        check_running("process", process)
        process.signal(signum)
        return Nothing()

    async def _kill(self, params: Kill) -> Killed:
        process = self.records.get(params.id, params.instance)
        grace = KILL_GRACE if params.grace is None else params.grace
        await process.end(signal_number("TERM" if params.signal is None else params.signal), grace)
        assert process.exit is not None
        return Killed(exit=process.exit)

    def _list(self, params: List) -> ProcessList:
        return self.records.list(params.after, params.limit or LISTED)


def _result(process: Process, cut: bool) -> ProcessEnd:
    assert process.exit is not None
    return ProcessEnd(exit=process.exit, stdout=process.stdout.end, stderr=process.stderr.end)
