import pytest

from hawse.client import Sandbox
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")
PROGRAM = r"""printf '\033[?1049h\033[2J\033[5;10Hfull screen'; read x; printf '\033[?1049l'; echo left"""


async def test_a_full_screen_program_is_driven_by_keys(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        await call("terminal_open", id="t1", command=PROGRAM, cols=60, rows=12)
        await call("terminal_wait", id="t1", text="full screen")  # on a busy machine a program prints late
        shown = await call("terminal_open", id="t1", command=PROGRAM, cols=60, rows=12)
        assert (
            shown
            == "\n\n\n\n" + " " * 9 + "full screen\n[60×12, cursor in row 5, column 21, a full-screen program; running]"
        )
        await call("terminal_send", id="t1", keys=["enter"])
        shown = await call("terminal_wait", id="t1")
        assert shown.startswith("left\n[60×12")
        assert shown.endswith("its program has ended]")
        assert "exited" in await call.fails("terminal_send", id="t1", text="x")


async def test_a_person_sees_what_the_agent_types(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        await call("terminal_open", id="t2", command="cat")
        async with box.terminals.attach("t2", kind="person") as person:
            await call("terminal_send", id="t2", paste="pasted ", text="typed", keys=["enter"])
            await person.expect("pasted typed")
            await person.write(b"by hand\n")
            assert "by hand" in await call("terminal_wait", id="t2", pattern=r"by \w+")
            assert "not within 0.1 s" in await call.fails("terminal_wait", id="t2", text="never", timeout=0.1)
            await person.kill()


async def test_rows_above_the_screen_are_returned_when_asked_for(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("terminal_open", id="t3", command="seq 1 100", rows=5)
        await call("terminal_wait", id="t3")
        assert "\n90\n" not in await call("terminal_screen", id="t3")
        assert "\n90\n" in await call("terminal_screen", id="t3", scrollback=50)
