"""Two gateways on one Redis server: they serve the same sandboxes, and a client moves from one to the other."""

import asyncio
from pathlib import Path

import hawse
from tests.support.redis import redis_server
from tests.support.stack import Stack


async def created(hw: hawse.Client) -> hawse.Sandbox:
    return await hw.sandboxes.create("a", env={"A": "1"})


async def test_two_gateways_serve_the_same_sandboxes_and_one_continues_after_the_other(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with (
        redis_server(tmp_path) as url,
        Stack(state, "--store", url) as first,
        Stack(state, "--store", url) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
        other.sandboxes.watch() as changes,
    ):
        boxes = await asyncio.gather(*(created(hw) for hw in (one, other) for _ in range(5)))
        runtimes = {(await box.info()).runtime for box in boxes}
        assert len(runtimes) == 1, "ten creations by two gateways made one sandbox"
        assert len([process for process in first.runtimes() if "a" in process.cmdline()]) == 1
        async with asyncio.timeout(30):
            async for change in changes:
                if change.info is not None and (change.id, change.info.state) == ("a", "running"):
                    break
        box = other.sandbox("a")
        async with box.terminal("t", argv=["cat"]):
            await one.sandbox("a").update(env={"A": "2"})
        await first.kill()
        assert {found.id for found in await box.terminals()} == {"t"}
        await box.stop()
        await box.wake()
        assert (await box.exec("echo $A")).stdout == b"2\n"
        assert {(await box.info()).runtime}.isdisjoint(runtimes)
        await box.delete()
        assert [info.id for info in await other.sandboxes.list()] == ["local"]
