"""Random operations on a runtime's code contexts, compared with a model: both must always agree.

The kernels are processes that speak Jupyter's protocol (tests/support/fake_kernel.py). The test suite runs some
examples (tests/integration/test_code_model.py), and `make fuzz` runs more (tests/fuzz/contexts.py).
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import psutil
import uvloop
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hawse.code_pool import PoolLimits
from hawse.wire import HawseError
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support import fake_kernel
from tests.support.code import begin, create, end, run
from tests.support.runtime import Channel, Client, Served, eventually

T = TypeVar("T")

LIMITS = RuntimeLimits(code=CodeLimits(pool=PoolLimits(size=1)))
IDS = st.sampled_from("abc")
NUMBERS = st.integers(1, 9)


@dataclass
class Modelled:
    """The model of a context."""

    total: int = 0
    restarts: int = 0
    alive: bool = True
    busy: Channel | None = None
    waiting: list[tuple[int, Channel]] = field(default_factory=list)  # runs of `add N` behind the busy one


class Services:
    """A runtime and a client, for many examples."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        fake_kernel.install(self.folder / "jupyter")
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = str(self.folder / "jupyter")
        try:
            self.served = Served(self.folder, limits=LIMITS)
            self.loop.run_until_complete(self.served.__aenter__())
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before
        self.connecting = self.served.client()
        self.client: Client = self.loop.run_until_complete(self.connecting.__aenter__())

    def close(self) -> None:
        self.loop.run_until_complete(self.connecting.__aexit__(None, None, None))
        self.loop.run_until_complete(self.served.__aexit__(None, None, None))
        self.loop.close()
        shutil.rmtree(self.folder)


def options(examples: int, steps: int) -> settings:
    """Return the settings for a number of examples."""
    slow = [HealthCheck.too_slow]  # it starts processes
    return settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=slow)


class CodeMachine(RuleBasedStateMachine):
    """Contexts `a`, `b` and `c`."""

    services: ClassVar[Services]

    def __init__(self) -> None:
        super().__init__()
        self.contexts: dict[str, Modelled] = {}
        self.client = self.services.client

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.services.loop.run_until_complete(asyncio.wait_for(work, 120))

    @rule(id=IDS)
    def create(self, id: str) -> None:
        async def codes() -> list[str]:
            """Create the context twice at once."""
            return sorted(await asyncio.gather(*(code_of(create(self.client, id, language="fake")) for _ in range(2))))

        if id in self.contexts:
            assert self.wait(codes()) == ["conflict", "conflict"]
        else:
            assert self.wait(codes()) == ["conflict", "ok"]
            self.contexts[id] = Modelled()

    @rule(id=IDS, number=NUMBERS)
    def add(self, id: str, number: int) -> None:
        context = self.contexts.get(id)
        if context is None or not context.alive:
            refusal = self.wait(begin(self.client, f"add {number}", id).refusal())
            assert refusal.code == ("not_found" if context is None else "exited")
        elif context.busy is not None:
            call = begin(self.client, f"add {number}", id)
            waiting = self.wait(call.event("waiting"))
            context.waiting.append((number, call))
            assert waiting["ahead"] == len(context.waiting)
        else:
            context.total += number
            assert self.wait(run(self.client, f"add {number}", id)).text == str(context.total)

    @rule(number=NUMBERS)
    def run_without_a_context(self, number: int) -> None:
        assert self.wait(run(self.client, f"add {number}", None, language="fake")).text == str(number)

    @rule(id=IDS)
    def occupy(self, id: str) -> None:
        context = self.contexts.get(id)
        if context is not None and context.alive and context.busy is None:
            context.busy = begin(self.client, "busy", id)
            self.wait(context.busy.seen(b"begun"))

    @rule(id=IDS)
    def interrupt(self, id: str) -> None:
        context = self.contexts.get(id)
        code = self.wait(code_of(self.client.ask("code.interrupt", context=id)))
        if context is None or not context.alive:
            assert code == ("not_found" if context is None else "exited")
            return
        assert code == "ok"
        if context.busy is not None:
            assert self.wait(end(context.busy)).status == "interrupted: KeyboardInterrupt"
            context.busy = None
            for number, call in context.waiting:
                context.total += number
                assert self.wait(end(call)).text == str(context.total)
            context.waiting.clear()

    @rule(id=IDS)
    def restart(self, id: str) -> None:
        context = self.contexts.get(id)
        code = self.wait(code_of(self.client.ask("code.restart", context=id)))
        assert code == ("not_found" if context is None else "ok")
        if context is not None:
            self.stopped(context, "stopped")
            context.total, context.alive = 0, True
            context.restarts += 1

    @rule(id=IDS)
    def delete(self, id: str) -> None:
        async def codes() -> set[str]:
            """Delete the context twice at once."""
            return set(await asyncio.gather(*(code_of(self.client.ask("code.delete", context=id)) for _ in range(2))))

        context = self.contexts.pop(id, None)
        if context is None:
            assert self.wait(codes()) == {"not_found"}
        else:
            assert "ok" in self.wait(codes()) <= {"ok", "not_found"}
            self.stopped(context, "stopped")

    @rule(id=IDS, number=NUMBERS)
    def exit(self, id: str, number: int) -> None:
        context = self.contexts.get(id)
        if context is not None and context.alive and context.busy is None:
            done = self.wait(run(self.client, f"exit {number}", id))
            assert (done.status, done.result["exit"]["code"]) == ("crashed", number)
            context.alive = False

    @rule(id=IDS)
    def kill(self, id: str) -> None:
        context = self.contexts.get(id)
        if context is not None and context.alive:
            os.kill(self.wait(self.client.ask("code.get", context=id))["pid"], signal.SIGKILL)
            self.crashed(context)

    @precondition(lambda self: any(context.alive for context in self.contexts.values()))
    @rule()
    def kill_the_host(self) -> None:
        served = self.services.served
        for pid in served.started_children():
            with suppress(psutil.Error):  # other processes may end in the meantime
                if "hawse_runtime.code.host" in psutil.Process(pid).cmdline():
                    os.kill(pid, signal.SIGKILL)
        self.wait(eventually(lambda: served.runtime.code.host is None))
        for context in self.contexts.values():
            if context.alive:
                self.crashed(context)

    def crashed(self, context: Modelled) -> None:
        """Expect the executor to end on its own."""
        self.stopped(context, "crashed")
        context.alive = False

    def stopped(self, context: Modelled, status: str) -> None:
        """Expect the run in progress to end, and the queued runs to be refused."""
        if context.busy is not None:
            assert self.wait(end(context.busy)).status == status
            for _, call in context.waiting:
                assert self.wait(call.refusal()).code == "exited"
            context.busy = None
            context.waiting.clear()

    @invariant()
    def the_list_is_that_of_the_model(self) -> None:
        expected = {
            id: (context.alive, context.restarts, context.busy is not None, len(context.waiting))
            for id, context in self.contexts.items()
        }

        async def found() -> dict[str, Any]:
            contexts = (await self.client.ask("code.list"))["contexts"]
            return {
                each["id"]: (each["state"] == "running", each["restarts"], each["running"] is not None, each["waiting"])
                for each in contexts
            }

        async def agree() -> None:
            # No call reports the end of a process that was killed between two runs.
            while await found() != expected:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        try:
            self.wait(agree())
        except TimeoutError:
            assert self.wait(found()) == expected

    def teardown(self) -> None:
        for id in list(self.contexts):
            self.delete(id)
        code = self.services.served.runtime.code
        assert len(code) == 0
        self.wait(eventually(lambda: code.host is None or (not code.host.runs and len(code.host.on_exit) <= 1)))


async def code_of(work: Awaitable[object]) -> str:
    """Return the code of a failed call's error, or `ok`."""
    try:
        await work
    except HawseError as error:
        return error.code
    return "ok"
