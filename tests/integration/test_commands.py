"""Commands and processes through a real gateway: compared with bash, a thousand at once, with many cancelled calls, and
with clients that disconnect at every step. No test leaves a process, descriptor or task behind.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import hawse
from hawse.client.base.errors import CommandError
from hawse.wire import HawseError
from tests.support.held import nothing_left
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")

AT_ONCE = 1000

# Variables that the runtime sets or removes for its programs. Set on both sides, so that their environments are equal.
SAME_ENV: dict[str, str | None] = {
    "LANG": "C.UTF-8",
    "USER": "user",
    "PYTEST_CURRENT_TEST": None,
    **dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COLUMNS", "LINES", "TMUX", "STY")),
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.from_regex(r"\A[A-Z_]{1,6}\Z").filter(lambda name: name not in ("PATH", "HOME", "PWD", "_", "IFS"))


def model(argv: list[str], cwd: str, env: dict[str, str | None], stdin: bytes) -> tuple[int, bytes, bytes]:
    """Run a program directly, in a new session; return its exit code, stdout and stderr."""
    full = {k: v for k, v in os.environ.items() if not k.startswith("HAWSE_")}
    for name, value in env.items():
        full.pop(name, None)
        if value is not None:
            full[name] = value
    done = subprocess.run(
        argv, cwd=cwd, env=full, input=stdin, capture_output=True, check=False, start_new_session=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


# The parts of a command. Each prints a part of its input, or ends in its own way.
PIECES = st.one_of(
    st.builds("printf '%s|' {!r}".format, st.from_regex(r"\A[a-z0-9 ]{0,9}\Z")),
    st.sampled_from(
        [
            "printf '<%s>' \"$@\"",
            "printf '%s;' \"$#\"; printf '%s' \"$0\"",
            'pwd; printf %s "$PWD"',
            "env | grep -a '^[A-Z_]*=' | grep -av '^\\(HAWSE\\|SHLVL\\|_=\\|PWD\\|OLDPWD\\)' | LC_ALL=C sort | cksum",
            'printf \'%s\' "${A-unset}" "${B-unset}" >&2',
            "head -c 7",
            "cat",
            "wc -c",
            "printf '\\0\\377\\376 no newline'",
            "printf 'err\\0' >&2; printf out",
            "(exit 3); printf '%s' $?",
            "sleep 60 & kill $!; wait $! 2>/dev/null; printf '%s' $?",
            "false && printf no || printf yes",
            "f() { printf 'in f %s' \"$1\"; return 4; }; f x; printf '%s' $?",
            "cd / && pwd",
            "seq 2000",
            "echo 'unbalanced",
            "no-such-command",
        ]
    ),
)
ENDS = st.one_of(
    st.just(""),
    st.builds("exit {}".format, st.integers(0, 255)),
    st.sampled_from(["kill -TERM $$", "kill -KILL $$", "kill -USR1 $$", "exec sh -c 'exit 9'", "set -e; false"]),
    st.just("trap 'echo bye' EXIT; exit 2"),
)


class Case(NamedTuple):
    script: str
    arguments: list[str]
    env: dict[str, str | None]
    stdin: bytes
    times: int
    folder: str


CASES = st.builds(
    Case,
    st.builds(lambda pieces, end: "\n".join([*pieces, end]), st.lists(PIECES, max_size=4), ENDS),
    st.lists(TEXTS, max_size=3),
    st.dictionaries(st.one_of(NAMES, st.sampled_from("AB")), st.none() | TEXTS, max_size=4),
    st.binary(max_size=300),
    st.sampled_from([1, 1000]),
    st.sampled_from(["", "sub dir", "ünï\ncode"]),
)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_commands_have_the_same_result_as_in_bash(stack: Stack, tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()

        async def check(case: Case) -> None:
            folder = tmp_path / "cases" / case.folder
            folder.mkdir(parents=True, exist_ok=True)
            argv = ["/bin/bash", "-c", case.script, "name", *case.arguments]
            env = {**SAME_ENV, **case.env}
            code, stdout, stderr = await asyncio.to_thread(model, argv, str(folder), env, case.stdin * case.times)
            result = await sb.exec(argv, cwd=str(folder), env=env, stdin=case.stdin * case.times)
            expected = (code, None) if code >= 0 else (None, signal.Signals(-code).name)
            assert (result.code, result.signal) == expected
            assert (result.stdout, result.stderr) == (stdout, stderr)

        @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
        @given(CASES)
        def compare(case: Case) -> None:
            asyncio.run_coroutine_threadsafe(check(case), loop).result(60)

        async with nothing_left(stack, sb):
            await asyncio.to_thread(compare)


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_a_thousand_commands_at_once_on_one_socket_each_get_their_own_output(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()

        async def one(number: int) -> None:
            script = f"cat; printf %s {number} >&2; exit {number % 256}"
            result = await sb.exec(["/bin/sh", "-c", script], stdin=b"%d\n" % number * 50)
            assert (result.code, result.stderr) == (number % 256, b"%d" % number)
            assert result.stdout == b"%d\n" % number * 50

        async with nothing_left(stack, sb):
            await asyncio.gather(*(one(number) for number in range(AT_ONCE)))


@pytest.mark.soak
@pytest.mark.timeout(120)
async def test_many_cancelled_calls_do_not_affect_their_process(stack: Stack, tmp_path: Path) -> None:
    """Waits, reads and commands are cancelled at any age. Their process keeps running."""
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with nothing_left(stack, sb):
            script = "while printf .; do sleep 0.01; done & read x; kill $!; wait; echo end"
            process = await sb.processes.start(["/bin/bash", "-c", script], id="p", stdin=True)

            async def attach(number: int) -> None:
                other = await sb.processes.attach("p")
                try:
                    async for _ in other.output():
                        pass
                finally:
                    other.close()

            kinds: list[Callable[[int], Awaitable[Any]]] = [
                attach,
                lambda _: process.wait(),
                lambda _: process.wait_for_log("never"),
                lambda _: process.wait_for_port(free_port()),
                lambda number: sb.exec(f"cat; : {number}", stdin=b"x" * 1000),
            ]
            tasks = [asyncio.ensure_future(kinds[number % len(kinds)](number)) for number in range(400)]
            for number, task in enumerate(tasks):
                if number % 7 == 0:
                    await asyncio.sleep(0.002)  # so that calls are cancelled at different steps
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(not isinstance(o, Exception) for o in outcomes), [
                o for o in outcomes if isinstance(o, Exception)
            ]
            assert (await sb.processes.get("p")).state == "running"
            await process.write(b"\n")
            assert (await process.wait(timeout=20)).code == 0
            assert (await process.wait_for_log("end")).stream == "stdout"
            process.close()


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_clients_that_disconnect_at_every_step_leave_nothing_behind(stack: Stack) -> None:
    """A process outlives the connection of the client that started it, and another client finds and ends it."""

    async def step(number: int) -> None:
        hw = hawse.connect(stack.base, token=stack.token)
        async with hw:
            sb = hw.sandbox()
            calls: list[Callable[[], Awaitable[Any]]] = [
                lambda: sb.exec("sleep 0.2; echo done"),
                lambda: sb.exec("cat", stdin=bytes(3_000_000)),
                lambda: sb.exec("head -c 3000000 /dev/zero"),
                lambda: sb.processes.start("sleep 300", id=f"v{number}"),
                lambda: sb.call("process.wait", {"id": "stays", "exit": True}),
                lambda: sb.call("process.wait", {"id": "stays", "log": {"text": "never"}}),
                lambda: sb.call("process.wait", {"id": "stays", "port": {"port": 9}}),
                lambda: sb.processes.attach("stays"),
            ]
            task = asyncio.ensure_future(calls[number % len(calls)]())
            await asyncio.wait({task}, timeout=(number // len(calls)) * 0.01)
            task.cancel()  # the connection closes in the same step
        with contextlib.suppress(asyncio.CancelledError, HawseError):
            await task

    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with nothing_left(stack, sb):
            stays = await sb.processes.start("cat", id="stays", stdin=True)
            for number in range(64):
                await step(number)
            assert (await sb.processes.get("stays")).state == "running"
            for info in await sb.processes.list():
                if info.id.startswith("v"):
                    assert info.state == "running", "it outlives its client"
                    (handle := await sb.processes.attach(info.id)).close()
                    await handle.kill(grace=0)
            await stays.end()
            assert (await stays.wait()).code == 0
            # The client gives each command a key, so its stdin stays open for a retry.
            (runtime,) = stack.runtimes()
            for child in runtime.children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    if child.cmdline() in (["cat"], ["/bin/bash", "-c", "cat"]):
                        child.kill()
            stays.close()


async def test_a_server_is_started_waited_for_and_ended_with_its_process_tree(stack: Stack) -> None:
    port = free_port()
    server = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with nothing_left(stack, sb):
            process = await sb.processes.start(server, id="web")
            assert await process.wait_for_port(port) is None
            assert await process.wait_for_port(port, path="/") == 200
            found = await process.wait_for_log(pattern=r"port (\d+)")
            assert found.groups == [str(port)]
            with pytest.raises(HawseError, match="conflict"):
                await sb.processes.start("true", id="web")
            with pytest.raises(HawseError, match="deadline_exceeded"):
                await process.wait_for_log("never", timeout=0.05)
            assert [info.id for info in await sb.processes.list()] == ["web"]
            assert (await process.kill()).signal == "SIGTERM"
            with pytest.raises(HawseError, match="exited") as caught:
                await process.wait_for_port(port)
            assert caught.value.details["exit"]["signal"] == "SIGTERM"
            assert (await process.wait()).signal == "SIGTERM"
            process.close()


async def test_a_later_client_reads_a_long_log_from_its_beginning(stack: Stack) -> None:
    lines = 3_000_000
    flood = f"import sys; sys.stdout.writelines('%09d\\n' % n for n in range({lines}))"
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        process = await sb.processes.start([sys.executable, "-c", flood], id="log")
        process.close()
        assert (await sb.call("process.wait", {"id": "log", "exit": True, "timeout": 60}))["exit"]["code"] == 0
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        later = await sb.processes.attach("log", since={"stdout": 0, "stderr": 0})
        expected = 0
        rest = b""
        async for chunk in later.stdout:
            *whole, rest = (rest + chunk).split(b"\n")
            assert all(int(line) == expected + at for at, line in enumerate(whole))
            expected += len(whole)
        assert expected == lines
        assert (await later.wait_for_log(f"{lines // 2:09d}")).start == lines // 2 * 10
        later.close()


async def test_a_checked_command_raises_and_limited_output_is_truncated(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        with pytest.raises(CommandError, match="exited with 3: oh no"):
            await sb.exec("echo oh no >&2; exit 3", check=True)
        cut = await sb.exec("head -c 50000000 /dev/zero; echo error >&2", max_output=1000)
        assert (len(cut.stdout), cut.stderr, cut.truncated, cut.code) == (1000, b"error\n", True, 0)
        background = await sb.exec("sleep 60 & echo $!", timeout=20)
        assert background.code == 0
        psutil.Process(int(background.stdout)).kill()
        late = await sb.exec("echo kept; sleep 60", timeout=3)
        assert (late.code, late.timed_out, late.stdout) == (124, True, b"kept\n")
