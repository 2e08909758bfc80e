"""`box.terminals` against a server."""

from pathlib import Path

import pytest

import hawse
from hawse.api.terminals import RecordOptions
from hawse.wire import HawseError
from tests.support.fake_server import FakeServer
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect


async def test_a_terminal_that_is_awaited_stays_attached_until_it_is_closed(hw: hawse.Client) -> None:
    first = await hw.sandbox().terminals.open("main", cols=100, rows=30)
    again = await hw.sandbox().terminals.attach("main", instance=first.instance, kind="person", name="Ada")
    async with again:  # is not attached a second time
        await again.write(b"x")
        await again.flush()
    assert first.instance == again.instance
    first.close()


async def test_a_terminal_that_does_not_exist_is_not_created_by_attach(hw: hawse.Client, server: FakeServer) -> None:
    with pytest.raises(HawseError, match="not_found"):
        await hw.sandbox().terminals.attach("none")
    assert not server.terminals


async def test_a_terminal_can_be_recorded_from_its_start_and_without_integration(
    hw: hawse.Client, server: FakeServer
) -> None:
    async with hw.sandbox().terminals.open("main", integration=False, record=RecordOptions(input=True)):
        (created,) = server.params("terminal.create")
    assert (created["integration"], created["record"]) == (False, {"input": True})


async def test_an_option_that_does_not_exist_is_refused_by_the_name_of_the_function(hw: hawse.Client) -> None:
    terminals = hw.sandbox().terminals
    with pytest.raises(TypeError, match=r"^open\(\) got an unexpected keyword argument 'colour'$"):
        await terminals.open("main", colour=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^attach\(\) got an unexpected keyword argument 'colour'$"):
        await terminals.attach("main", colour=True)  # type: ignore[call-arg]


async def test_a_watch_yields_the_terminals_after_each_change(connect: Connect, tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.runtime()  # starts the sandbox: a stream that only watches does not
        async with box.terminals.watch() as watch:
            states = aiter(watch)
            assert await anext(states) == []
            expected = [("main", 1, "line")]
            async with box.terminals.open("main", argv=["sh", "-c", "read x"]) as term:
                while [(each.id, each.viewers, each.waiting.kind) for each in await anext(states)] != expected:
                    pass
                await term.write(b"\n")
                while (found := await anext(states))[0].exit is None:
                    pass
                assert found[0].state == "exited"
