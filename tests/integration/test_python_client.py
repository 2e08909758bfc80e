"""Listing, querying and cancelling with the Python client through a real gateway."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import hawse
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_gateway_and_the_runtime_describe_themselves(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        assert (await box.runtime()).terminals == 0
        assert (await box.metrics()).terminals == 0
        assert [(found.id, found.state) for found in await hw.sandboxes.list()] == [("local", "running")]
        assert await hw.preview_host() == "localhost"


async def test_terminals_sessions_and_recordings_are_listed(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=["cat"]) as term,
        hw.sandbox().sessions.create("s") as session,
    ):
        box = hw.sandbox()
        assert [(found.id, found.instance) for found in await box.terminals.list()] == [("t", term.instance)]
        assert [(found.id, found.instance) for found in await box.sessions.list()] == [("s", session.instance)]
        assert await box.recordings.list() == []
        async with box.recordings.watch(terminal="t") as watch:
            running = aiter(watch)
            assert await anext(running) == []
            recording = await term.record(title="a title")
            assert [found.id for found in await anext(running)] == [recording.id]
            await recording.stop()
            assert await anext(running) == []
        assert [(found.id, found.title) for found in await box.recordings.list(terminal="t")] == [
            (recording.id, "a title")
        ]
        assert await box.recordings.list(terminal="another") == []


async def test_processes_are_narrowed_to_a_session_killed_and_removed(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().sessions.create("s") as session:
        box = hw.sandbox()
        inside = await session.start(["sleep", "1000"], id="inside")
        outside = await box.processes.start(["sleep", "1000"], id="outside")
        assert [(found.id, found.session) for found in await box.processes.list(session="s")] == [("inside", "s")]
        assert await box.processes.kill_all(session="s", grace=0) == 1
        assert (await inside.wait()).signal == "SIGTERM"
        assert (await box.processes.get("inside")).ended is not None
        assert await box.processes.remove("inside", instance=inside.instance) == 1
        assert await box.processes.kill_all() == 1
        assert (await outside.wait()).signal == "SIGTERM"
        assert await box.processes.remove() >= 1


async def test_files_of_a_session_begin_in_its_directory(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().sessions.create("s") as session:
        await session.exec("mkdir -p deep/er; cd deep", check=True)
        files = hw.sandbox().files.in_session("s")
        await files.write_text("page.html", "<p>")
        assert await hw.sandbox().files.read_text("deep/page.html") == "<p>"
        await files.within("er").write("data", b"\0")
        found = await hw.sandbox().files.stat("deep/er/data", detect=True)
        assert (found.mime, found.binary) == ("application/octet-stream", True)
        assert (await files.stat("page.html", detect=True)).mime == "text/html"


async def test_cancelling_a_command_ends_it(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.exec(["mkfifo", "begun", "ended"], check=True)
        command = "trap 'echo gone > ended; exit' TERM; echo > begun; while :; do sleep 0.1; done"
        running = asyncio.create_task(box.exec(command))
        await box.exec(["cat", "begun"], check=True)
        running.cancel()
        assert (await box.exec(["cat", "ended"], check=True)).text == "gone\n"


async def test_a_handle_that_was_neither_awaited_nor_entered_says_so(stack: Stack) -> None:
    client = hawse.connect(stack.base, token=stack.token)
    uses: list[Callable[[], object]] = [
        client.sandbox,
        lambda: client.sandboxes,
        lambda: client.state,
        client.preview_host,
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="this client is not connected: use `async with connect"):
            await awaited(use())
    await client.close()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        uses = [
            lambda: box.sessions.create().exec("true"),
            lambda: box.sessions.attach("s").info(),
            lambda: box.code.create("python").run("1"),
            lambda: box.code.attach("c").info(),
            lambda: box.terminals.open("t").write(b"typed"),
            lambda: anext(aiter(box.terminals.open("t"))),
            lambda: box.terminals.open("t").run("true"),
            lambda: anext(aiter(box.watches.start("."))),
            lambda: anext(box.files.open_read("f").lines()),
            lambda: box.files.open_write("f").write(b"content"),
        ]
        for use in uses:
            with pytest.raises(RuntimeError, match=r"is not open: .* in `async with`"):
                async with asyncio.timeout(30):
                    await awaited(use())


async def awaited(found: Any) -> Any:
    """Await a value if a program would have to await it."""
    return await found if inspect.isawaitable(found) else found


async def test_an_option_that_does_not_exist_is_refused(stack: Stack) -> None:
    options: Any = {"on_stdot": print}
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().sessions.create() as session:
        box = hw.sandbox()
        for run in (box.exec, session.exec, box.code.run):
            with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'on_stdot'"):
                await run("true", **options)
        assert (await box.exec("echo a", on_stdout=None)).text == "a\n"  # type: ignore[call-overload]  # as one that is not given


async def test_input_that_is_text_is_refused_with_what_to_do(stack: Stack) -> None:
    text: Any = "text"
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().terminals.open("t") as terminal:
        for write in (terminal.write(text), hw.sandbox().exec("cat", stdin=text)):
            with pytest.raises(TypeError, match=r"encode it, for example with `\.encode\(\)`"):
                await write


async def test_a_user_with_rights_in_its_own_sandboxes_only_creates_one_without_an_id(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        token = await hw.tokens.create("builds", role="operator", user="ada", own=True)
        async with hawse.connect(stack.base, token=token.token) as ada, ada.sandboxes.create() as box:
            assert box.id.startswith("ada.")
            assert (await box.exec("echo mine")).text == "mine\n"
            assert [one.id for one in await ada.sandboxes.list()] == [box.id]
            with pytest.raises(hawse.InvalidParamsError, match=r"start with 'ada\.'"):
                await ada.sandboxes.create("other")
        viewer = await hw.tokens.create("looks", role="viewer", user="bob", own=True)
        async with hawse.connect(stack.base, token=viewer.token) as bob:
            with pytest.raises(hawse.ForbiddenError):
                await bob.sandboxes.create()


async def test_a_wait_keeps_the_output_of_a_terminal_whose_id_another_one_took(stack: Stack) -> None:
    options = hawse.Options(window=64 << 10)
    async with hawse.connect(stack.base, token=stack.token, options=options) as hw:
        box = hw.sandbox()
        argv = [
            "sh",
            "-c",
            "head -c 200000 /dev/zero | tr '\\0' x; exit 7",
        ]  # a new viewer gets this much as output, without a snapshot
        async with box.terminals.open("taken", argv=argv) as terminal:
            assert (await terminal.wait()).code == 7
            async with box.terminals.open("taken", argv=["cat"]) as other:
                assert other.instance != terminal.instance
                assert (await terminal.wait()).code == 7
                assert b"".join([data async for data in terminal]) == b"x" * 200_000
                await other.kill()
