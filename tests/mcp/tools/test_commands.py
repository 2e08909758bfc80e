import pytest

from hawse.api.types import Exit
from hawse.mcp.tools.commands import ending
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_both_streams_and_the_exit_code_are_returned(agent: OpenAgent) -> None:
    async with agent() as call:
        result = await call.result("exec", command="cat; echo bad >&2; exit 3", stdin="given\n")
        assert result.content[0].text == "given\n[stderr]\nbad\n[exit code 3]"
        assert not result.is_error
        assert (result.structured_content["code"], result.structured_content["stderr_bytes"]) == (3, 4)
        assert await call("exec", command="echo $A; pwd", cwd="/", env={"A": "1"}) == "1\n/\n[exit code 0]"


async def test_input_that_is_not_read_is_no_error(agent: OpenAgent) -> None:
    async with agent() as call:
        assert await call("exec", command="true", stdin="x" * 1_000_000) == "[exit code 0]"


async def test_a_long_output_is_cut_and_can_be_read_on(agent: OpenAgent) -> None:
    async with agent(limit=2048) as call:
        shown = await call("exec", command="seq 1 10000")
        assert len(shown) < 2500
        note = next(line for line in shown.splitlines() if "omitted" in line)
        id = note.partition("id=")[2].split()[0]
        assert note.endswith(f"process_output reads them, id={id} stream=stdout since=512]")
        for raw in (False, True):
            rest = await call("process_output", id=id, since=512, raw=raw)
            assert rest.startswith("".join(f"{n}\n" for n in range(1, 10001))[512:2560])
            assert "[bytes 512 to 2,560 of 48,894 of stdout; continue with since=2560; exit code 0]" in rest


async def test_output_is_plain_text_unless_the_raw_bytes_are_asked_for(agent: OpenAgent) -> None:
    noisy = r"printf '\033[31mred\033[0m\r\n 5%%\r95%%\ndone\n'; for n in 1 2 3 4 5; do echo same; done"
    plain = "red\n95%\ndone\nsame\n[… 4 more identical lines]"
    raw = "\x1b[31mred\x1b[0m\r\n 5%\r95%\ndone" + "\nsame" * 5
    async with agent() as call:
        for tool in ("exec", "session_exec"):
            assert await call(tool, command=noisy) == f"{plain}\n[exit code 0]"
            assert await call(tool, command=noisy, raw=True) == f"{raw}\n[exit code 0]"
        await call("process_start", id="noisy", command=noisy)
        await call("process_wait", id="noisy")
        assert (await call("process_output", id="noisy")).startswith(f"{plain}\n\n[bytes 0 to 52 of 52")
        assert (await call("process_output", id="noisy", raw=True)).startswith(f"{raw}\n\n[bytes 0 to 52 of 52")


async def test_errors_in_the_omitted_part_are_shown(agent: OpenAgent) -> None:
    async with agent(limit=2048) as call:
        shown = await call("exec", command="seq 5000; echo 'x.c:3: error: no such file'; seq 5000")
        assert "\n[omitted lines with errors or warnings:]\nx.c:3: error: no such file\n[…]\n" in shown


async def test_a_time_limit_ends_a_command_and_not_its_session(agent: OpenAgent) -> None:
    async with agent() as call:
        assert await call("exec", command="sleep 100", timeout=0.2) == "[ended at its time limit of 0.2 s]"
        await call("session_exec", command="X=kept", id="s")
        assert "time limit" in await call("session_exec", command="sleep 100", id="s", timeout=0.2)
        assert await call("session_exec", command="echo $X", id="s") == "kept\n[exit code 0]"
        ended = await call("session_exec", command="exit 4", id="s")
        assert ended == "[exit code 4; the session has ended with it; the next command starts a new one]"
        assert await call("session_exec", command="echo [$X]", id="s") == "[]\n[exit code 0]"


async def test_an_end_is_put_in_words() -> None:
    assert ending(Exit(code=1)) == "exit code 1"
    assert ending(Exit(signal="SIGKILL", oom=True)) == "ended by SIGKILL, out of memory"
    assert ending(Exit(code=124, timed_out=True)) == "ended at its time limit"


async def test_a_command_in_a_terminal_returns_its_question(agent: OpenAgent) -> None:
    async with agent() as call:
        asked = await call.result("exec", command="echo hi; read -p 'Name? ' n; echo got $n; exit 3", terminal=True)
        data = asked.structured_content
        needed = data["needs_input"]
        assert (needed["kind"], needed["prompt"], data["exit"]) == ("line", "Name?", None)
        assert asked.content[0].text == (
            "hi\nName?\n[needs input: type a line and press enter; answer: terminal_send "
            f"id={data['id']} question={needed['since']}; end: terminal_kill id={data['id']}]"
        )
        answer = {"id": data["id"], "question": needed["since"], "text": "Anna", "keys": ["enter"]}
        ended = await call.result("terminal_send", **answer)
        assert ended.content[0].text == "Anna\ngot Anna\n[exit code 3]"
        assert (ended.structured_content["exit"]["code"], ended.structured_content["needs_input"]) == (3, None)
        assert "exited" in await call.fails("terminal_send", **answer)


async def test_a_command_in_a_terminal_ends_at_its_time_limit(agent: OpenAgent) -> None:
    async with agent() as call:
        ended = await call("exec", command="exec sleep 100", terminal=True, timeout=0.2)
        assert ended == "[ended at its time limit of 0.2 s]"
        assert "either `stdin` or `terminal`" in await call.fails("exec", command="cat", terminal=True, stdin="x")


async def test_much_output_in_a_terminal_is_shortened(agent: OpenAgent) -> None:
    async with agent(limit=2048) as call:
        command = "yes | head -c 4000000; echo end"
        shown = await call("exec", command=command, terminal=True)
        assert shown == (
            "[4,951,429 earlier bytes are omitted]\ny\n[… 349,522 more identical lines]\nend\n[exit code 0]"
        )
        shown = await call("exec", command=command, terminal=True, raw=True)
        assert len(shown) < 2500
        assert shown.startswith("[4,951,429 earlier bytes are omitted]\n")
        assert "terminal_screen id=t-" in shown
        assert shown.endswith("y\r\nend\n[exit code 0]")


async def test_commands_are_unattended_unless_told_otherwise(agent: OpenAgent) -> None:
    async with agent() as call:
        command = "echo $PAGER $CI"
        assert await call("exec", command=command) == "cat 1\n[exit code 0]"
        assert await call("exec", command=command, terminal=True) == "cat 1\n[exit code 0]"
        assert await call("exec", command=command, env={"CI": "no"}) == "cat no\n[exit code 0]"
        assert await call("session_exec", command=command, id="unattended") == "cat 1\n[exit code 0]"
        attended = await call("exec", command="echo [${CI-unset}]", unattended=False, env={"CI": "given"})
        assert attended == "[given]\n[exit code 0]"
