"""Three gateways on one Redis server behind a proxy as documented, which are restarted one after the other."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pytest

import hawse
from e2e.apps.proxies import KINDS, OPTIONS, configure, make_certificates
from e2e.apps.servers import server
from tests.support.client import eventually
from tests.support.redis import redis_server
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
TERMINALS: Final = 6
PENALTY: Final = 10.0  # s for which nginx avoids a server by default, which several of them add up
COUNT: Final = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"


class Watched:
    """A terminal that prints numbers, and the longest time without output."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.items = 0

    async def follow(self, term: hawse.Terminal) -> None:
        now = asyncio.get_running_loop().time
        last = now()
        async for _ in term.items():
            self.longest, last = max(self.longest, now() - last), now()
            self.items += 1


async def call_steadily(hw: hawse.Client) -> None:
    while True:
        async with hw.sandboxes.create() as box:
            assert (await box.exec("echo 1")).stdout == b"1\n"


@pytest.mark.parametrize("kind", list(KINDS))
async def test_no_terminal_is_silent_for_long_while_gateways_are_restarted_one_after_the_other(
    kind: str, tmp_path: Path
) -> None:
    await make_certificates(tmp_path)
    port = free_port()
    async with AsyncExitStack() as exits:
        url = await exits.enter_async_context(redis_server(tmp_path))
        options = ["--store", url, *OPTIONS, "--allow-host", "localhost", "--allow-host", f"localhost:{port}"]
        stacks = [await exits.enter_async_context(Stack(tmp_path / "state", *options)) for _ in range(3)]
        argv = configure(kind, tmp_path, port, [stack.port for stack in stacks], name="localhost")
        await exits.enter_async_context(server(argv, port, log=tmp_path / "log"))

        async def connected() -> hawse.Client:
            hw = hawse.connect(f"https://localhost:{port}", token=stacks[0].token, ca=tmp_path / "ca.pem")
            return await exits.enter_async_context(hw)

        watched = [Watched() for _ in range(TERMINALS)]
        tasks = await exits.enter_async_context(asyncio.TaskGroup())
        running = [tasks.create_task(call_steadily(await connected()))]
        for number, each in enumerate(watched):
            term = (await connected()).sandbox().terminals.open(f"t{number}", argv=["sh", "-c", COUNT])
            running.append(tasks.create_task(each.follow(await exits.enter_async_context(term))))
        for stack in stacks:
            await eventually(partial(all_print, watched, [each.items for each in watched]))
            assert await stack.terminate() == 0
            await stack.start()
        await eventually(partial(all_print, watched, [each.items + 20 for each in watched]))
        print("longest silence in s:", kind, [round(each.longest, 2) for each in watched])
        assert max(each.longest for each in watched) < PENALTY
        for task in running:
            task.cancel()


def all_print(watched: list[Watched], before: list[int]) -> bool:
    return all(each.items > items for each, items in zip(watched, before, strict=True))
