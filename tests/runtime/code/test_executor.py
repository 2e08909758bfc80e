"""An executor's process ends with everything it has started, for any cause, and leaves nothing behind."""

import asyncio
from pathlib import Path

import psutil
import pytest

from tests.support.code import answer, begin, create, end, run
from tests.support.runtime import Client, Served, eventually, no_fd_leaked
from tests.support.waiting import gone

pytestmark = pytest.mark.asyncio(loop_scope="module")


def files(folder: Path) -> list[str]:
    """The names of sockets and connection files."""
    return [path.name for path in folder.iterdir()]


async def test_nothing_is_left_after_contexts_were_created_used_and_ended(served: Served, client: Client) -> None:
    await client.ask("code.languages")  # the host stays
    before = await client.info()
    code = served.runtime.code
    folder: Path = code.host.folder if code.host is not None else Path()
    with no_fd_leaked():
        await asyncio.gather(*(create(client, f"c{n}") for n in range(4)))
        assert len(files(folder)) >= 8
        await asyncio.gather(*(run(client, "import time; x = 1", f"c{n}") for n in range(4)))
        crashed = await run(client, "import os; os._exit(1)", "c0")
        assert crashed.status == "crashed"
        await asyncio.gather(*(client.ask("code.delete", context=f"c{n}") for n in range(4)))
        assert (await run(client, "1", None)).text == "1"
        await eventually(lambda: len(served.started_children()) == 1)
        await eventually(lambda: files(folder) == [])
        while (await client.info())["tasks"] > before["tasks"]:  # noqa: ASYNC110 - they look for processes in /proc
            await asyncio.sleep(0.01)
    assert code.contexts.running_count == 0
    await eventually(lambda: code.host is not None and (code.host.runs, code.host.on_exit) == ({}, {}))


async def test_daemons_of_a_crashed_executor_are_ended(client: Client) -> None:
    await create(client)
    daemon = "p = subprocess.Popen(['sleep', '600'], start_new_session=True)\nprint(p.pid, flush=True)"
    doomed = begin(client, f"import os, subprocess\n{daemon}\n_ = input(); os._exit(1)", stdin=True)
    await answer(client, doomed)  # the output before the question has come
    done = await end(doomed)
    assert done.status == "crashed"
    await gone(int(done.stdout))


async def test_an_executor_whose_host_is_stopped_can_still_be_killed(served: Served, client: Client) -> None:
    info = await create(client)
    busy = begin(client, "print('begun', flush=True)\nwhile True: pass")
    await busy.seen(b"begun")
    host = psutil.Process(psutil.Process(info["pid"]).ppid())
    host.suspend()
    try:
        await client.ask("code.interrupt", context="c", grace=0.2)
        done = await end(busy)
        assert (done.status, done.result["killed"], done.result["exit"]["signal"]) == ("interrupted", True, "SIGKILL")
        await client.ask("code.delete", context="c")
    finally:
        host.resume()
    await eventually(lambda: info["pid"] not in served.started_children())


async def test_an_executor_that_does_not_start_leaves_nothing(served: Served, client: Client) -> None:
    await client.ask("code.languages")
    before = served.started_children()
    assert (await client.refused("code.create", cwd="missing")).code == "spawn_failed"
    assert (await client.refused("code.create", kernel="missing")).code == "language_unavailable"
    assert served.started_children() == before
    assert served.runtime.code.host is not None
    assert served.runtime.code.host.on_exit == {}
