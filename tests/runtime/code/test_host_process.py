"""The kernel host from the runtime's side: it starts on first use, and a host that misbehaves costs only itself."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hawse_runtime.code.host_process import PORTION
from hawse_runtime.code.host_protocol import LENGTH, STDOUT, Answer, encode_output
from hawse_runtime.settings import RuntimeLimits
from tests.support.code import create, run
from tests.support.runtime import Client, Served, eventually
from tests.support.waiting import TIMEOUT, gone

pytestmark = pytest.mark.asyncio(loop_scope="module")


def hosts(served: Served) -> list[psutil.Process]:
    """The processes that this runtime has started as kernel hosts."""
    found = []
    for pid in served.started_children():
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            process = psutil.Process(pid)
            if "hawse_runtime.code.host" in process.cmdline():
                found.append(process)
    return found


async def test_a_runtime_that_runs_no_code_starts_no_host(tmp_path: Path, limits: RuntimeLimits) -> None:
    async with Served(tmp_path, limits=limits) as served, served.client() as client:
        assert (await client.ask("code.list"))["contexts"] == []
        assert hosts(served) == []
        await client.ask("code.languages")
        (host,) = hosts(served)
        assert host.name()


async def test_a_runtime_loads_no_kernel_library() -> None:
    program = "import sys, hawse_runtime.__main__; print(*{name.partition('.')[0] for name in sys.modules})"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    loaded = (await process.communicate())[0].decode().split()
    assert "hawse_runtime" in loaded
    assert not {"jupyter_client", "ipykernel", "zmq"} & set(loaded)


async def test_a_host_that_was_killed_is_replaced_on_the_next_use(served: Served, client: Client) -> None:
    await create(client, "a")
    (host,) = hosts(served)
    host.kill()
    await gone(host.pid)
    await eventually(lambda: served.runtime.code.host is None)
    await create(client, "b")
    assert (await run(client, "1", "b")).text == "1"
    assert (await client.ask("code.get", context="a"))["state"] == "exited"
    await client.ask("code.restart", context="a")
    assert (await run(client, "2", "a")).text == "2"
    assert [process.pid for process in hosts(served)] != [host.pid]


@pytest.mark.parametrize("data", [LENGTH.pack(0), LENGTH.pack(3) + b"\0{]", LENGTH.pack(11) + b'\0{"type":1}'])
async def test_a_host_that_sends_nonsense_is_ended(served: Served, client: Client, data: bytes) -> None:
    info = await create(client)
    host: Any = served.runtime.code.host
    host.data_received(data)
    await gone(info["pid"])
    await eventually(lambda: served.runtime.code.host is None)
    assert (await client.ask("code.get", context="c"))["state"] == "exited"


async def test_a_burst_of_messages_is_handled_in_portions(served: Served, client: Client) -> None:
    await create(client)
    host: Any = served.runtime.code.host
    taken: list[bytes] = []
    turns: list[int] = []

    class Taker:
        def receive_output(self, stream: int, data: bytes) -> None:
            taken.append(data)

    host.runs[7] = Taker()
    done = asyncio.Event()

    def turn() -> None:
        turns.append(len(taken))
        if len(taken) < 100:
            asyncio.get_running_loop().call_soon(turn)
        else:
            done.set()

    asyncio.get_running_loop().call_soon(turn)
    host.data_received(b"".join(encode_output(STDOUT, 7, b"%d" % n) for n in range(100)))
    async with asyncio.timeout(TIMEOUT):
        await done.wait()
    del host.runs[7]
    assert taken == [b"%d" % n for n in range(100)]
    assert turns == [PORTION, 2 * PORTION, 3 * PORTION, 100]
    assert (await run(client, "1")).text == "1"  # the connection is read again


async def test_a_host_that_does_not_read_is_killed(
    served: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = await create(client)
    (process,) = hosts(served)
    process.suspend()
    host: Any = served.runtime.code.host
    for _ in range(64):
        host.send(Answer(executor=0, run=0, value="x" * (1 << 20)))
    await gone(process.pid, info["pid"])
    await eventually(lambda: served.runtime.code.host is None)
