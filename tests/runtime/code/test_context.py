"""Contexts with real kernels: the order of runs, isolation, and all the ways a run or an executor can end."""

import asyncio

import pytest

from hawse.code_pool import PoolLimits
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.code import answer, begin, create, end, run
from tests.support.runtime import Client, Served, alive
from tests.support.waiting import gone

pytestmark = pytest.mark.asyncio(loop_scope="module")

STRICT = RuntimeLimits(code=CodeLimits(pool=PoolLimits(size=0), interrupt_grace=3.0, queue=3))

# Before each run, ipykernel would set the handler of the signal again.
IGNORE_INTERRUPTS = """
import signal
kernel = get_ipython().kernel
kernel.pre_handler_hook = kernel.post_handler_hook = lambda: None
_ = signal.signal(signal.SIGINT, signal.SIG_IGN)
"""


async def test_twenty_runs_at_once_are_made_in_the_order_of_their_calls(client: Client) -> None:
    await create(client)
    first = begin(client, "order = []; print('begun', flush=True); input()", stdin=True)
    request = await first.event("input")
    calls = [begin(client, f"order.append({n}); len(order)") for n in range(20)]
    waiting = [await call.event("waiting") for call in calls]
    assert [value["ahead"] for value in waiting] == list(range(1, 21))
    info = await client.ask("code.get", context="c")
    assert (info["waiting"], info["running"]) == (20, (await first.event("opened"))["run"])
    await client.ask("code.answer", run=info["running"], request=request["request"], value="")
    assert [(await end(call)).text for call in calls] == [str(n) for n in range(1, 21)]
    assert (await run(client, "order == list(range(20))")).text == "True"


async def test_contexts_share_nothing_and_run_at_the_same_time(client: Client) -> None:
    """Each waits until the other runs: neither would end if one had to wait for the end of the other."""
    await asyncio.gather(create(client, "a"), create(client, "b"))
    source = "import os, time\nopen('{0}', 'w')\nwhile not os.path.exists('{1}'): time.sleep(0.01)\nmine = '{0}'"
    await asyncio.gather(run(client, source.format("a", "b"), "a"), run(client, source.format("b", "a"), "b"))
    assert [(await run(client, "mine", name)).text for name in "ab"] == ["'a'", "'b'"]


async def test_a_withdrawn_run_is_not_made(client: Client) -> None:
    await create(client)
    first = begin(client, "made = []; input()", stdin=True)
    request = await first.event("input")
    withdrawn = begin(client, "made.append(1)")
    await withdrawn.event("waiting")
    withdrawn.cancel()
    assert (await withdrawn.refusal()).code == "cancelled"
    run_id = (await first.event("opened"))["run"]
    await client.ask("code.answer", run=run_id, request=request["request"], value="")
    assert (await run(client, "made")).text == "[]"


@pytest.mark.parametrize("limits", [STRICT])
async def test_a_run_that_is_too_long_is_interrupted_and_one_that_ignores_it_is_killed(client: Client) -> None:
    await create(client, timeout=0.5)
    await run(client, "x = 1", timeout=60.0)
    done = await run(client, "while True: pass")
    assert (done.status, done.result["killed"]) == ("timed_out: KeyboardInterrupt", False)
    assert (await run(client, "x", timeout=60.0)).text == "1"
    assert (await run(client, IGNORE_INTERRUPTS, timeout=60.0)).status == "ok"
    done = await run(client, "while True: pass", timeout=0.3)
    assert (done.status, done.result["killed"], done.result["exit"]["signal"]) == ("timed_out", True, "SIGKILL")
    assert (await begin(client, "x").refusal()).code == "exited"
    assert (await client.ask("code.get", context="c"))["state"] == "exited"
    info = await client.ask("code.restart", context="c")
    assert (info["state"], info["restarts"]) == ("running", 1)
    assert (await run(client, "x", timeout=60.0)).status == "error: NameError"


@pytest.mark.parametrize("limits", [STRICT])
async def test_an_interrupt_ends_the_run_in_progress_only(client: Client) -> None:
    await create(client)
    await client.ask("code.interrupt", context="c")
    busy = begin(client, "print('begun', flush=True)\nwhile True: pass")
    waiting = [begin(client, "7") for _ in range(3)]
    await busy.seen(b"begun")
    assert (await begin(client, "8").refusal()).code == "limit_exceeded"
    await client.ask("code.interrupt", context="c", run="r-other")
    await client.ask("code.interrupt", run=(await busy.event("opened"))["run"])
    assert (await end(busy)).status == "interrupted: KeyboardInterrupt"
    assert [(await end(call)).text for call in waiting] == ["7"] * 3
    asked = begin(client, "input()", stdin=True)
    await asked.event("input")
    await client.ask("code.interrupt", context="c", grace=60)
    assert (await end(asked)).status == "interrupted: KeyboardInterrupt"


async def test_each_death_of_an_executor_is_reported_at_once_and_a_restart_helps(client: Client) -> None:
    info = await create(client)
    for source, code, signal in (
        ("import os; os._exit(3)", 3, None),
        ("import ctypes; ctypes.string_at(0)", None, "SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", None, "SIGKILL"),
        ("import os; os.kill(os.getppid(), 9)", None, "SIGKILL"),  # the kernel host
    ):
        doomed = begin(client, f"print('before', flush=True); _ = input()\n{source}", stdin=True)
        waiting = begin(client, "1")
        await answer(client, doomed)  # the output before the question has come
        done = await end(doomed)
        assert (done.stdout, done.status) == (b"before\n", "crashed")
        assert (done.result["exit"]["code"], done.result["exit"]["signal"]) == (code, signal), source
        assert (await waiting.refusal()).code == "exited"
        refused = await begin(client, "1").refusal()
        assert refused.code == "exited"
        assert "code.restart" in refused.message
        await gone(info["pid"])
        info = await client.ask("code.restart", context="c")
        assert (await run(client, "1 + 1")).text == "2"
    short = "import resource as r; r.setrlimit(r.RLIMIT_AS, (2**31, 2**31)); x = bytearray(2**33)"
    assert (await run(client, short)).status == "error: MemoryError"  # it lives
    assert (await run(client, "1")).text == "1"


async def test_the_death_of_an_idle_executor_is_noticed_before_the_next_run(client: Client) -> None:
    info = await create(client)
    await run(client, "import threading, os; threading.Timer(0.05, os._exit, [1]).start()")
    await gone(info["pid"])
    call = begin(client, "1")
    await call.until(lambda: call.closed)
    if call.error is None:
        assert call.value["status"] == "crashed"  # the code was sent before the end was reported
    else:
        assert call.error.code == "exited"
    assert (await begin(client, "1").refusal()).code == "exited"


async def test_unusual_code_does_not_disturb_the_context(client: Client) -> None:
    await create(client)
    assert (await run(client, "import os; _ = os.system('echo hi; echo e >&2')")).stdout == b"hi\n"
    forked = await run(client, "pid = os.fork()\nif not pid: os._exit(0)\n_ = os.waitpid(pid, 0); 'parent'")
    assert (forked.status, forked.text) == ("ok", "'parent'")
    later = "import threading; go = threading.Event()\ndef late(): go.wait(); print('late')"
    started = await run(client, later + "\nthread = threading.Thread(target=late); thread.start()")
    assert started.stdout == b""
    next_run = await run(client, "go.set(); thread.join(); print('mine')")
    assert next_run.stdout.endswith(b"mine\n")
    assert (await run(client, "def f(:\n  pass")).status == "error: SyntaxError"
    assert (await run(client, "raise SystemExit(1)")).status == "error: SystemExit"
    assert (await run(client, "input()")).status == "error: StdinNotImplementedError"
    assert (await run(client, "")).status == "ok"


async def test_a_hundred_megabytes_of_output_arrive(client: Client) -> None:
    await create(client)
    call = begin(client, "print('x' * 99_999_999)\nfor n in range(2000): print('y' * 99)")
    done = await end(call)
    assert done.result["end"]["stdout"] == 100_200_000
    assert len(done.stdout) == 100_200_000
    assert done.stdout.count(b"y") == 99 * 2000


async def test_a_restart_or_a_delete_ends_the_run_and_everything_that_the_code_started(client: Client) -> None:
    for method, status in (("code.restart", "running"), ("code.delete", None)):
        if method == "code.restart":
            await create(client)
        started = await run(
            client, "import subprocess\nchild = subprocess.Popen(['sleep', '600'], start_new_session=True); child.pid"
        )
        busy = begin(client, "print('begun', flush=True)\nwhile True: pass")
        waiting = begin(client, "1")
        await busy.seen(b"begun")
        await client.ask(method, context="c")
        assert (await end(busy)).status == "stopped"
        assert (await waiting.refusal()).code == "exited"
        assert not alive(int(started.text))
        if status is not None:
            assert (await run(client, "'child' in globals()")).text == "False"


async def test_a_context_starts_where_and_with_what_it_was_asked_to(served: Served, client: Client) -> None:
    folder = served.workspace / "data"
    folder.mkdir()
    info = await create(client, cwd="data", env={"COLOUR": "red", "HOME": None})
    assert info["cwd"] == str(folder)
    done = await run(client, "import os; print(os.getcwd(), os.environ['COLOUR'], 'HAWSE_TOKEN' in os.environ)")
    assert done.stdout.decode() == f"{folder} red False\n"
    await client.ask("code.restart", context="c")
    assert (await run(client, "import os; os.getcwd()")).text == repr(str(folder))


@pytest.mark.parametrize("limits", [RuntimeLimits(code=CodeLimits(contexts=1, pool=PoolLimits(size=0)))])
async def test_a_limit_for_each_language_counts_contexts_that_are_being_created(client: Client) -> None:
    calls = [client.call("code.create", {"id": f"c{n}"}) for n in range(3)]
    await client.until(lambda: all(call.closed for call in calls))
    refused = [call for call in calls if call.error is not None]
    assert [call.error.code for call in refused if call.error] == ["limit_exceeded"] * 2
    await client.ask("code.delete", context=next(f"c{n}" for n, call in enumerate(calls) if call not in refused))
    await create(client)
