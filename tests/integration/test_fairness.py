"""Promise 3: a flood, a thousand calls and typing share a socket; a stalled reader does not affect the others."""

import asyncio
import json

import psutil
import pytest
import websockets
from websockets.typing import Subprotocol

import hawse
from hawse.client import Output, Terminal
from tests.support.stack import Stack

MIB = 1 << 20
ENDLESS = ["sh", "-c", "exec yes a line of a flood that never ends"]


@pytest.fixture
def stack(new_stack: Stack) -> Stack:
    return new_stack


def memory(stack: Stack) -> dict[str, int]:
    """Return the resident bytes of the gateway and the runtime."""
    (runtime,) = stack.runtimes()
    return {"gateway": psutil.Process(stack.pid).memory_info().rss, "runtime": runtime.memory_info().rss}


class Flood:
    """A reader of a flood, and its waiters."""

    def __init__(self, term: Terminal) -> None:
        self._term = term
        self._received = 0
        self._more = asyncio.Event()

    async def read(self) -> None:
        async for item in self._term.items():
            if isinstance(item, Output):
                self._received += len(item.data)
                self._more.set()

    async def more(self, size: int) -> None:
        """Wait until `size` more bytes have arrived."""
        goal = self._received + size
        while self._received < goal:
            self._more.clear()
            await self._more.wait()


async def type_and_see(term: Terminal, count: int) -> None:
    """Type numbers into `cat`, each after the previous one was echoed."""
    items = term.items()
    seen = b""
    for number in range(count):
        typed = b"w%05d" % number
        await term.write(typed + b"\n")
        while typed not in seen:
            item = await anext(items)
            if isinstance(item, Output):
                seen = seen[-64:] + item.data


@pytest.mark.soak
async def test_a_thousand_calls_and_typing_complete_in_bounded_memory_beside_a_flood(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with (
            sb.terminals.open("flood", argv=ENDLESS) as flooding,
            sb.terminals.open("typing", argv=["cat"]) as typing,
        ):
            flood = Flood(flooding)
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(flood.read())
                await flood.more(40 * MIB)
                before = memory(stack)
                calls = [tasks.create_task(sb.call("runtime.info")) for _ in range(500)]
                calls += [tasks.create_task(sb.exec(["echo", str(n)])) for n in range(500)]
                await type_and_see(typing, 200)
                results = await asyncio.gather(*calls)
                assert [r.stdout for r in results[500:]] == [b"%d\n" % n for n in range(500)]
                await flood.more(40 * MIB)
                reader.cancel()
        after = memory(stack)
        for name in before:
            assert after[name] - before[name] < 48 * MIB, (name, before, after)
        await sb.call("terminal.kill", {"id": "flood"})


@pytest.mark.timeout(120)
async def test_a_client_that_stops_reading_does_not_affect_others(stack: Stack) -> None:
    headers = {"Authorization": f"Bearer {stack.token}"}
    uri = f"ws://127.0.0.1:{stack.port}/v1/connect"
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with (
            sb.terminals.open("flood", argv=ENDLESS) as flooding,
            sb.terminals.open("typing", argv=["cat"]) as typing,
        ):
            flood = Flood(flooding)
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(flood.read())
                await flood.more(10 * MIB)
                before = memory(stack)
                async with websockets.connect(
                    uri,
                    subprotocols=[Subprotocol("hawse.v1")],
                    additional_headers=headers,
                    max_queue=1,
                    ping_interval=None,
                ) as stalled:
                    await stalled.send(
                        json.dumps({"type": "hello", "protocol": 1, "client": "stalled", "window": 4 * MIB})
                    )
                    for ch in range(1, 41):
                        attach = {"type": "call", "ch": ch, "method": "terminal.attach", "sandbox": "local"}
                        await stalled.send(json.dumps(attach | {"params": {"id": "flood"}}))
                    # It never reads. The others continue, and the data kept for it is bounded.
                    more = tasks.create_task(flood.more(60 * MIB))
                    await type_and_see(typing, 100)
                    await more
                    after = memory(stack)
                    stalled.transport.abort()
                reader.cancel()
        assert after["gateway"] - before["gateway"] < 64 * MIB, (before, after)
        assert after["runtime"] - before["runtime"] < 64 * MIB, (before, after)
        await sb.call("terminal.kill", {"id": "flood"})
