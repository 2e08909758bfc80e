import pytest

from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_process_runs_on_while_its_output_is_read(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("process_start", id="p1", command="echo one; echo two >&2; exec sleep 100")
        assert await call("process_wait", id="p1", pattern="t[w]o") == "stderr: two"
        assert await call("process_output", id="p1") == "one\n\n[bytes 0 to 4 of 4 of stdout; running]"
        assert await call("process_output", id="p1", stream="stderr", since=1) == (
            "wo\n\n[bytes 1 to 4 of 4 of stderr; running]"
        )
        await call("process_kill", id="p1")


async def test_waiting_has_an_end(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("process_start", id="p2", command="exec sleep 100")
        assert "not met within 0.1 s" in await call.fails("process_wait", id="p2", text="never", timeout=0.1)
        assert "only one of" in await call.fails("process_wait", id="p2", text="a", port=1)
        await call("process_kill", id="p2")
        assert await call("process_wait", id="p2") == "ended by SIGTERM"
        assert "exited" in await call.fails("process_wait", id="p2", text="never")
        assert "not_found" in await call.fails("process_wait", id="missing")


@pytest.mark.parametrize("raw", [False, True])
async def test_a_long_output_is_read_in_parts_without_gaps(agent: OpenAgent, raw: bool) -> None:
    lines = "".join(f"{n:0299}\n" for n in range(12))
    async with agent(limit=1000) as call:
        await call("process_start", id=f"p4-{raw}", command="for n in $(seq 0 11); do printf '%0299d\\n' $n; done")
        await call("process_wait", id=f"p4-{raw}")
        read, end = "", 0
        while end < len(lines):
            part = await call.result("process_output", id=f"p4-{raw}", since=end, raw=raw)
            end = part.structured_content["end"]
            read += part.content[0].text.rpartition("\n[bytes")[0]
            assert read == lines[:end]


async def test_bytes_that_are_not_printed_yet_are_none(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("process_start", id="p3", command="echo short")
        await call("process_wait", id="p3")
        assert await call("process_output", id="p3", since=100) == ("\n[bytes 6 to 6 of 6 of stdout; exit code 0]")
