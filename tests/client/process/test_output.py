"""The output of a process by lines, and where another handle continues."""

import hawse
from tests.support.fake_server import FakeServer


async def test_lines_and_bytes_of_a_stream_are_read_in_any_order(hw: hawse.Client) -> None:
    async with hw.sandbox().processes.start(["print", "one\ntwo\r\nthree\nrest"]) as process:
        async for line in process.stdout.lines():
            assert line == "one"
            break
        async for line in process.stdout.lines():
            assert line == "two"
            break
        assert await anext(process.stdout) == b"three\nrest"
        assert process.offset == {"stdout": 19, "stderr": 0}


async def test_lines_of_both_streams_are_named(hw: hawse.Client) -> None:
    async with hw.sandbox().processes.start(["print", "a\nb", "c\n"]) as process:
        lines = [line async for line in process.lines()]
    assert sorted(lines) == [("stderr", "c"), ("stdout", "a"), ("stdout", "b")]


async def test_another_handle_continues_after_the_last_line_that_was_read(hw: hawse.Client, server: FakeServer) -> None:
    processes = hw.sandbox().processes
    process = await processes.start(["print", "one\ntwo\nthree\n", "err"])
    async for line in process.stdout.lines():
        assert line == "one"
        break
    assert process.offset == {"stdout": 4, "stderr": 0}
    process.close()
    async with await processes.attach(process.id, since=process.offset) as again:
        assert [line async for line in again.stdout.lines()] == ["two", "three"]
        assert [data async for data in again.stderr] == [b"err"]
        assert again.offset == {"stdout": 14, "stderr": 3}


async def test_the_offset_begins_where_output_is_still_kept(hw: hawse.Client, server: FakeServer) -> None:
    processes = hw.sandbox().processes
    first = await processes.start(["print", "0123456789"], id="p")
    await first.wait()
    server.processes.get("p").stdout.journal.start = 4
    async with await processes.attach("p") as again:
        assert again.offset == {"stdout": 4, "stderr": 0}
        assert await anext(again.stdout) == b"456789"
        assert again.offset == {"stdout": 10, "stderr": 0}
