"""Sessions through a real gateway: compared with bash, with cancelled calls, and with clients that disconnect."""

import asyncio
import os
import subprocess
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import hawse
from hawse.client import CommandError, Sandbox
from tests.support.held import nothing_left
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

# ---- the model: one bash with the same commands

TEXTS = st.sampled_from(["a", "b c", "", "*", "$", "ü", "\\n", "it's", "--", "-n"])
NAMES = st.sampled_from(["v", "w", "PATHS"])
COMMANDS = st.one_of(
    st.sampled_from(
        [
            "cd /usr",
            "cd /tmp",
            "cd ..; pwd",
            "cd - >/dev/null; pwd",
            "cd /no/such 2>/dev/null",
            "pwd",
            "echo $?",
            "true",
            "false",
            "! true",
            "(exit 7)",
            "f() { echo f:$1:$v; v=changed; return 3; }",
            "f() (cd /; pwd; exit 4)",
            "unset -f f",
            "f x 2>/dev/null",
            "alias hi='echo hi $v'",
            "hi there 2>/dev/null",
            "unalias -a",
            "(cd /; v=sub; export w=sub; pwd)",
            "printf 'a\\nb\\n' | while read -r x; do v=$x; echo $x; done",
            "printf '1\\n2\\n' | wc -l",
            "set -o pipefail",
            "set +o pipefail",
            "false | true",
            "false || echo or; true && echo and",
            "cat <<E\nhere $v\nE",
            "cat <<'E'\nquoted $v\nE",
            "printf 'no end'",
            "printf '\\0\\377\\n\\n\\xc3\\x28'",
            "cat; read -r x; echo $?",
            "for i in 1 2 3; do echo $i; done > /dev/null; echo $i",
            "while :; do break; done; echo out",
            "a=(x 'y z'); a+=(q)",
            'echo "${#a[@]}:${a[1]}"',
            "sh -c 'echo $v:$w; exit 6'",
            "no_such_command 2>/dev/null",
            "sleep 0 & wait $!; echo waited $?",
            "set -u",
            "set +u",
            "shopt -s nullglob; echo /no/such*",
            "shopt -u nullglob; echo /no/such*",
            "set -- one 'two three'",
            'echo "$#:$*"',
            "IFS=:; x=a:b; echo $x; unset IFS",
            "eval 'echo eval'; return_code() { return $1; }; return_code 9",
            "exec 5>/dev/null; echo five >&5",
            "{ echo group; } >&2",
            "trap 'echo usr' USR1; kill -USR1 $$; trap - USR1",
        ]
    ),
    st.builds(lambda name, text: f"{name}={quoted(text)}", NAMES, TEXTS),
    st.builds(lambda name, text: f"export {name}={quoted(text)}", NAMES, TEXTS),
    st.builds(lambda name: f'printf "<%s>" "${{{name}-}}"', NAMES),
    st.builds(lambda name: f"unset {name}", NAMES),
)
SEPARATOR = b"\x01--separator--\x01"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def as_bash(commands: list[str], cwd: Path, env: dict[str, str]) -> list[tuple[int, bytes]]:
    """Run the commands in one bash, one after another; return the exit code and stdout of each."""
    report = "__c=$?; printf '%s%s%s' $'\\1--separator--\\1' $__c $'\\1--separator--\\1'; (exit $__c)"
    script = "shopt -s expand_aliases\n" + "".join(f"{{ {c}\n}} </dev/null\n{report}\n" for c in commands)
    run = subprocess.run(
        ["bash", "--norc", "-c", 'eval "$0"', script], cwd=cwd, env=env, capture_output=True, check=False
    )
    parts = run.stdout.split(SEPARATOR)
    return [(int(code), out) for out, code in zip(parts[0::2], parts[1::2], strict=False)]


@pytest.mark.soak
@pytest.mark.timeout(300)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands=st.lists(COMMANDS, min_size=1, max_size=12))
async def test_a_session_prints_what_bash_prints(stack: Stack, commands: list[str]) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        async with box.sessions.create(shell="/bin/bash") as s:
            where = (await s.exec("pwd; env -0")).stdout
            cwd, _, raw = where.partition(b"\n")
            env = dict(item.split("=", 1) for item in os.fsdecode(raw).split("\0") if item)
            results = [await s.exec(command) for command in commands]
        expected = await asyncio.to_thread(as_bash, commands, Path(os.fsdecode(cwd)), env)
        assert len(expected) == len(commands) or "set -u" in commands, "which ends a bash that is not interactive"
        assert [(r.code, r.stdout) for r in results[: len(expected)]] == expected
        assert not any(r.ended for r in results)


# ---- use cases


async def test_a_session_from_its_beginning_to_its_end(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        async with box.sessions.create(env={"A": "a"}) as s:
            await s.exec("cd /tmp; export B=b; greet() { echo hello $1; }", check=True)
            assert (await s.exec("pwd; greet $A$B")).text == "/tmp\nhello ab\n"
            assert (await s.exec("cat", stdin=b"x" * 3_000_000)).stdout == b"x" * 3_000_000
            with pytest.raises(CommandError):
                await s.exec("false", check=True)
            assert (await s.exec("sleep 60", timeout=0.1)).timed_out
            process = await s.start("pwd; greet you; cd /")
            assert (await process.wait()).code == 0
            assert b"".join([data async for data in process.stdout]) == b"/tmp\nhello you\n"
            ending = asyncio.create_task(s.wait())
            result = await s.exec("exit 5")
            assert (result.code, result.ended) == (5, True)
            assert (await ending).code == 5
            with pytest.raises(hawse.HawseError) as refused:
                await s.exec("true")
            assert refused.value.code == "exited"
        with pytest.raises(hawse.HawseError) as forgotten:
            await s.info()
        assert forgotten.value.code == "not_found"


async def test_a_lost_connection_neither_repeats_nor_loses_output(stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy, hawse.connect(proxy.url, token=stack.token) as hw:
        box = hw.sandbox()
        s = await box.sessions.create().__aenter__()
        await s.exec("n=0; mkfifo gate")
        running = asyncio.create_task(s.exec("n=$((n+1)); echo begun; cat gate; seq 100000"))
        waiting = [asyncio.create_task(s.exec("n=$((n+1)); echo $n")) for _ in range(5)]
        while (await s.info()).waiting < 5:  # noqa: ASYNC110  # the runtime sends no event when a command has to wait
            await asyncio.sleep(0.01)
        proxy.cut()
        while (await s.info()).waiting < 5:  # noqa: ASYNC110  # the runtime sends no event when a command has to wait
            await asyncio.sleep(0.01)
        proxy.cut()
        await box.exec("echo open > gate")
        assert (await running).stdout == b"begun\nopen\n" + b"".join(b"%d\n" % i for i in range(1, 100001))
        assert sorted([(await task).text for task in waiting]) == [f"{n}\n" for n in range(2, 7)]


async def storm(stack: Stack, box: Sandbox) -> None:
    """Cancel calls, and disconnect clients, at different steps."""
    async with box.sessions.create("storm") as s:
        for delay in (0, 0.001, 0.005, 0.02, 0.1):
            tasks = [asyncio.create_task(s.exec(f"sleep 0.01; echo {n}", stdin=b"x")) for n in range(40)]
            await asyncio.sleep(delay)  # so that calls are cancelled at different steps
            for task in tasks[::2]:
                task.cancel()
            for number, task in enumerate(tasks):
                if number % 2:
                    assert (await task).text == f"{number}\n"
            await asyncio.gather(*tasks, return_exceptions=True)
        for delay in (0, 0.001, 0.003, 0.01, 0.03, 0.1):
            async with hawse.connect(stack.base, token=stack.token) as other:
                theirs = other.sandbox().sessions.attach("storm")
                work = asyncio.create_task(theirs.__aenter__())
                more = [asyncio.create_task(other.sandbox().call("session.create", {"id": f"v{delay}"}))]
                await asyncio.wait([work], timeout=5)
                more += [asyncio.create_task(theirs.exec("sleep 0.05; seq 1000")) for _ in range(5)]
                await asyncio.sleep(delay)  # so that calls are cancelled at different steps
                for task in more:
                    task.cancel()
                await asyncio.gather(*more, return_exceptions=True)
        assert (await s.exec("echo on")).text == "on\n"


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_cancelled_calls_and_clients_that_disconnect_leave_nothing_behind(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        async with box.sessions.create() as s:
            await s.exec("true")
        async with nothing_left(stack, box):
            await storm(stack, box)
            for session in (await box.call("session.list"))["sessions"]:
                await box.call("session.delete", {"id": session["id"]})
        assert not [p for p in psutil.process_iter(["environ"]) if "v0.1" in str(p.info["environ"] or "")]
