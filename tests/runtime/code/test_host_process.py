"""The kernel host from the runtime's side: it starts on first use, and a host that misbehaves costs only itself."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hawse_runtime.code.host_protocol import AnswerInput
from hawse_runtime.core.framing import frame
from hawse_runtime.settings import RuntimeLimits
from tests.support.code import create, run
from tests.support.runtime import Client, Served, eventually
from tests.support.waiting import gone

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


@pytest.mark.parametrize("body", [b"\4", b"\0{]", b'\0{"type":1}'], ids=["unknown kind", "not JSON", "wrong type"])
async def test_a_host_that_violates_the_protocol_is_killed(served: Served, client: Client, body: bytes) -> None:
    info = await create(client)
    assert served.runtime.code.host is not None
    served.runtime.code.host.server.receive(frame(body))
    await gone(info["pid"])
    await eventually(lambda: served.runtime.code.host is None)
    assert (await client.ask("code.get", context="c"))["state"] == "exited"


async def test_a_host_that_does_not_read_is_killed(
    served: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = await create(client)
    (process,) = hosts(served)
    process.suspend()
    host: Any = served.runtime.code.host
    for _ in range(64):
        host.send(AnswerInput(executor=0, run=0, value="x" * (1 << 20)))
    await gone(process.pid, info["pid"])
    await eventually(lambda: served.runtime.code.host is None)
