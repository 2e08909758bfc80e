"""Participants of a terminal, through gateway and runtime: rights, the writer lease, and events."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

import hawse
from hawse.client import Joined, LeaseChanged, Left, Output, PresenceChanged, Terminal
from hawse.wire import HawseError
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

CAT = ["sh", "-c", "stty raw -echo; echo ready; exec cat"]


async def until(term: Terminal, kind: type) -> object:
    async with asyncio.timeout(20):
        async for item in term.items():
            if isinstance(item, kind):
                return item
    raise AssertionError(f"no {kind.__name__}")


async def until_output(term: Terminal, text: bytes) -> bytes:
    seen = b""
    async with asyncio.timeout(20):
        async for item in term.items():
            if isinstance(item, Output):
                seen += item.data
                if text in seen:
                    return seen
    raise AssertionError(seen)


async def test_a_viewer_token_reads_everything_and_changes_nothing(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as mine,
        hawse.connect(stack.base, token=stack.viewer_token) as theirs,
        mine.sandbox().terminals.open("t", argv=CAT, name="Ada", kind="person") as term,
        theirs.sandbox().terminals.attach("t", name="Eve") as looking,
    ):
        await until_output(looking, b"ready")
        joined = await until(term, Joined)
        assert isinstance(joined, Joined)
        # The name is the token's, not the one that the viewer has requested.
        assert (joined.viewer.name, joined.viewer.read_only, joined.viewer.guest) == ("viewer", True, False)
        await term.write(b"secret plan")
        await until_output(looking, b"secret plan")
        sandbox = theirs.sandbox()
        for call in (
            sandbox.exec("id"),
            sandbox.files.read("x"),
            looking.resize(10, 10),
            looking.kill(),
            looking.take(),
            theirs.call("share.list"),
        ):
            with pytest.raises(HawseError, match="forbidden"):
                await call
        await looking.write(b"rm")
        with pytest.raises(HawseError, match="forbidden"):
            await until(looking, Left)


async def test_a_viewer_asks_for_the_lease_and_the_holder_refuses_and_then_gives_it(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hawse.connect(stack.base, token=stack.viewer_token) as guest,
        hw.sandbox().terminals.open("t", argv=CAT, name="Ada") as ada,
        hw.sandbox().terminals.open("t", name="Bob") as bob,
        guest.sandbox().terminals.attach("t") as eve,
    ):
        assert ada.me is not None
        assert bob.me is not None
        await ada.take()
        await bob.ask()
        await until_asks(ada, bob.me.id, True)
        await ada.keep(bob.me.id)
        await until_asks(bob, bob.me.id, False)
        with pytest.raises(HawseError, match="conflict"):
            await bob.give(ada.me.id)
        with pytest.raises(HawseError, match="forbidden"):
            await eve.ask()
        await bob.ask()
        await bob.withdraw()
        assert (await ada.give(bob.me.id)).holder == bob.me.id
        await bob.write(b"mine")
        await until_output(ada, b"mine")


async def test_a_guest_of_one_terminal_is_not_sent_what_else_others_look_at(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().terminals.open("t", argv=CAT) as ada:
        link = await hw.call("share.create", {"sandbox": "local", "terminal": "t"})
        await ada.set_presence(scroll=7, view="editor~path~secret")
        async with (
            hawse.connect(stack.base, token=link["token"]) as guest,
            guest.sandbox().terminals.attach("t") as eve,
        ):
            await until_output(eve, b"ready")
            (seen,) = [viewer for viewer in eve.viewers if viewer.id != (eve.me and eve.me.id)]
            assert (seen.scroll, seen.view) == (7, "")


async def until_asks(term: Terminal, viewer: str, asks: bool) -> None:
    async with asyncio.timeout(20):
        async for item in term.items():
            if isinstance(item, Joined | PresenceChanged) and (item.viewer.id, item.viewer.asks) == (viewer, asks):
                return


async def test_a_take_over_is_announced_and_later_input_is_refused_with_its_offset(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=CAT, name="Ada") as ada,
        hw.sandbox().terminals.open("t", name="Bob") as bob,
    ):
        await until_output(ada, b"ready")
        await bob.write(b"early")
        await until_output(ada, b"early")
        lease = await ada.take()
        assert ada.me is not None
        assert lease.holder == ada.me.id
        changed = await until(bob, LeaseChanged)
        assert isinstance(changed, LeaseChanged)
        assert (changed.lease, changed.applied) == (lease, 5)
        with pytest.raises(HawseError, match="conflict"):
            await bob.take(over=False)
        await bob.write(b"late")
        with pytest.raises(HawseError, match="lease_held") as caught:
            await until(bob, Left)
        assert caught.value.details["applied"] == 5
        async with hw.sandbox().terminals.open("t", name="Bob again") as bob_again:
            assert (await bob_again.take()).epoch == lease.epoch + 1
            await bob_again.write(b"now")
            assert b"late" not in await until_output(ada, b"now")
            await bob_again.release()
            await ada.write(b"mine too")
            await until_output(bob_again, b"mine too")


@pytest.mark.parametrize("end", [Stack.kill, Stack.terminate])
async def test_participants_and_the_lease_survive_a_restart_of_the_gateway(
    stack: Stack, end: Callable[[Stack], Awaitable[object]]
) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=CAT, name="Ada") as ada,
        hw.sandbox().terminals.open("t", name="Bob") as bob,
    ):
        await until_output(bob, b"ready")
        lease = await ada.take()
        before = ada.me
        await end(stack)
        await stack.start()
        await ada.write(b"still mine")
        await until_output(bob, b"still mine")
        assert ada.lease == lease
        assert before is not None
        assert ada.me is not None
        assert (ada.me.id, ada.me.name, ada.me.color) == (before.id, before.name, before.color)
        assert [viewer.name for viewer in ada.viewers] == ["Ada", "Bob"]
