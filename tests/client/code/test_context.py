"""Code contexts of the Python client, through a real gateway."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse.client import (
    CodeEnd,
    CodeEvent,
    CodeInput,
    CodeStderr,
    CodeStdout,
    HawseError,
    RichResult,
    Sandbox,
)
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect


@pytest.fixture
async def box(tmp_path: Path, connect: Connect) -> AsyncIterator[Sandbox]:
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


async def test_code_is_run_streamed_attached_to_and_asked_about(box: Sandbox) -> None:
    async with box.code.create("python") as ctx:
        done = await ctx.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay('d')\n40 + 2")
        assert (done.ok, done.text, done.stdout, done.stderr) == (True, "42", b"out\n", b"err\n")
        assert [rich.kind for rich in done.results] == ["display", "value"]
        failed = await ctx.run("1 / 0")
        assert failed.error is not None
        assert (failed.status, failed.error.name, failed.text) == ("error", "ZeroDivisionError", None)

        events = [event async for event in ctx.stream("print(1, flush=True); display(2); 3")]
        assert isinstance(events[0], CodeStdout)
        assert [event.text for event in events if isinstance(event, RichResult)] == ["2", "3"]
        assert isinstance(events[-1], CodeEnd)
        assert [event async for event in ctx.attach(events[-1].run)] == events

        seen: list[object] = []
        done = await ctx.run(
            "import getpass, sys\nprint(input('name? ') + getpass.getpass('word? '))\nprint('e', file=sys.stderr)\n1/0",
            on_stdout=seen.append,
            on_stderr=seen.append,
            on_result=seen.append,
            on_error=lambda error: seen.append(error.name),
            on_input=lambda request: "secret" if request.password else request.prompt,
        )
        assert seen == [b"name? secret\n", b"e\n", "ZeroDivisionError"]

        assert "getpass" in "".join((await ctx.complete("getpas")).matches)
        assert (await ctx.inspect("print")).found
        assert [info.id for info in await box.code.list()] == [ctx.id]
        assert (await ctx.restart()).restarts == 1
        assert (await ctx.run("getpass")).status == "error"
        assert any(language.language == "python" and language.kernel for language in await box.code.languages())
    assert await box.code.list() == []
    with pytest.raises(HawseError, match="not_found"):
        await ctx.run("1")
    assert (await box.code.run("'leaked' in dir()")).text == "False"


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_a_caller_that_is_cancelled_or_stops_reading_interrupts_its_run(box: Sandbox) -> None:
    async with box.code.create() as ctx:
        endless = "print('begun', flush=True)\nwhile True: pass"
        begun = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(ctx.run(endless, on_stdout=lambda data: begun.set()))
            await begun.wait()
            task.cancel()
        assert (await ctx.run("x = 1; x")).text == "1"

        async def first(events: AsyncIterator[CodeEvent]) -> CodeEvent:
            async for event in events:
                return event
            raise AssertionError

        stream = ctx.stream(endless)
        events = stream.events()
        assert isinstance(await first(events), CodeStdout)
        await events.aclose()
        assert (await ctx.run("x")).text == "1"

        kept = ctx.stream(endless, key="kept").events()
        await first(kept)
        await kept.aclose()
        assert (await ctx.info()).running is not None
        await ctx.interrupt()
        done = [event async for event in ctx.stream(endless, key="kept")][-1]
        assert isinstance(done, CodeEnd)
        assert done.status == "interrupted"


async def test_a_context_is_shared_by_its_id(box: Sandbox) -> None:
    async with box.code.create(id="shared") as ctx:
        async with box.code.attach("shared") as same:
            await same.run("x = 5")
        assert (await ctx.run("x")).text == "5"
        with pytest.raises(HawseError, match="conflict"):
            await box.code.create(id="shared").__aenter__()
        ctx.detach()
    assert [info.id for info in await box.code.list()] == ["shared"]
    with pytest.raises(HawseError, match="language_unavailable"):
        await box.code.create("cobol").__aenter__()


async def test_a_stream_answers_requests_for_input(box: Sandbox) -> None:
    async with box.code.create() as ctx:
        stream = ctx.stream("import sys; print(input(), file=sys.stderr)", stdin=True)
        errors = b""
        async for event in stream:
            if isinstance(event, CodeInput):
                await stream.answer(event, "line")
            elif isinstance(event, CodeStderr):
                errors += event.data
        assert errors == b"line\n"


async def test_the_runs_of_a_context_are_watched(box: Sandbox) -> None:
    async with box.code.create() as ctx, ctx.watch() as states:
        await ctx.run("1")
        async for state in states:
            if [(run.state, run.status) for run in state.runs] == [("ended", "ok")]:
                break
        assert state.context.id == ctx.id
