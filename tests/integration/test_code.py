"""Code contexts through a real gateway: rich results of real libraries, other languages, isolation, and sudden ends."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

import hawse
from hawse.client import CodeContext, HawseError, RichResult, Sandbox
from tests.support.deno import path_with_deno
from tests.support.http_clients import http_client
from tests.support.stack import Stack
from tests.support.waiting import gone


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """A gateway shared by all tests of this module, whose sandbox has Deno."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path_with_deno())
        pools = (f"--code-pool={language}:size=0" for language in ("javascript", "typescript", "bash"))
        async with Stack(tmp_path_factory.mktemp("s") / "state", *pools) as stack:
            yield stack


@pytest.fixture
async def box(module_stack: Stack) -> AsyncIterator[Sandbox]:
    async with hawse.connect(module_stack.base, token=module_stack.token) as hw:
        yield hw.sandbox()


async def values(ctx: CodeContext, source: str) -> list[RichResult]:
    done = await ctx.run(source)
    assert done.ok, done.error
    return list(done.results)


# ---- rich results


async def test_tables_figures_and_charts_of_real_libraries(box: Sandbox) -> None:
    async with box.code.create() as ctx:
        await ctx.run("import pandas as pd, matplotlib.pyplot as plt, plotly.express as px")
        (table,) = await values(ctx, "pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")
        assert "<table" in (table.html or "")
        assert "a  b" in (table.text or "")

        (figure,) = await values(ctx, "_ = plt.plot([1, 4, 9])")  # without show()
        assert figure.kind == "display"
        assert figure.png is not None
        assert figure.png.startswith(b"\x89PNG")
        noise = "import numpy as np; plt.imshow(np.random.default_rng(1).random((400, 400))); plt.show()"
        (large,) = await values(ctx, f"plt.figure(figsize=(12, 12), dpi=100); {noise}")
        assert len(large.png or b"") > 100_000  # it travels as bytes

        (chart,) = await values(ctx, "px.bar(x=['a'], y=[1])")
        assert chart.plotly["data"][0]["type"] == "bar"


async def test_each_kind_of_representation_updates_and_clearing(box: Sandbox) -> None:
    async with box.code.create() as ctx:
        await ctx.run("from IPython.display import *; import base64")
        shown = await values(
            ctx,
            "display(HTML('<b>h</b>')); display(Markdown('# m')); display(Latex('$x$')); display(SVG('<svg></svg>'));"
            "display(JSON({'a': [1]})); display(Javascript('1'));"
            "display({'application/vnd.vegalite.v5+json': {'mark': 'bar'}}, raw=True);"
            "display({'image/jpeg': base64.b64encode(b'jpeg' * 50_000).decode()}, raw=True)",
        )
        assert shown[0].html == "<b>h</b>"
        assert (shown[1].markdown, shown[2].latex, shown[3].svg) == ("# m", "$x$", "<svg/>")
        assert (shown[4].json, shown[5].javascript, shown[6].vega) == ({"a": [1]}, "1", {"mark": "bar"})
        assert shown[7].jpeg == b"jpeg" * 50_000
        updated = await values(ctx, "h = display('old', display_id=True); display('other'); h.update('new')")
        assert [rich.text for rich in updated] == ["'new'", "'other'"]
        cleared = await values(ctx, "display(1); clear_output(wait=True); display(2)")
        assert [rich.text for rich in cleared] == ["2"]


@pytest.mark.soak
async def test_twenty_thousand_displays_arrive_in_order(box: Sandbox) -> None:
    count = 20_000
    async with box.code.create() as ctx:
        expected = 0
        async for event in ctx.stream(f"for n in range({count}): display(n)"):
            if isinstance(event, RichResult):
                assert event.text == str(expected)
                expected += 1
        assert expected == count


# ---- languages


async def test_javascript_typescript_and_bash(box: Sandbox) -> None:
    found = {entry.language: entry.kernel for entry in await box.code.languages()}
    assert {name: found[name] for name in ("python", "javascript", "typescript", "bash")} == {
        "python": "python3",
        "javascript": "deno",
        "typescript": "deno",
        "bash": "bash",
    }
    async with box.code.create("javascript") as ctx:
        done = await ctx.run("const x = [1, 2]; console.log('out'); console.error('err'); x.map(n => n * 2)")
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
        assert "2" in str(done.text)
        assert (await ctx.run("x.length")).text is not None
        failed = await ctx.run("throw new TypeError('no')")
        assert (failed.status, "no" in str(failed.error)) == ("error", True)
    async with box.code.create("typescript") as ctx:
        done = await ctx.run("let n: number = 6; n * 7")
        assert done.text == "42"
        endless = await ctx.run("while (true) {}", timeout=0.5)
        assert endless.status == "timed_out"
        if endless.killed:
            await ctx.restart()
        assert (await ctx.run("1 + 1")).text == "2"
    async with box.code.create("bash") as ctx:
        await ctx.run("cd /tmp; v=5")
        assert (await ctx.run("echo $v; pwd")).stdout == b"5\n/tmp\n"
        assert (await ctx.run("false")).status == "error"
    with pytest.raises(HawseError, match="language_unavailable"):
        await box.code.create("cobol").__aenter__()


async def test_results_over_http(module_stack: Stack) -> None:
    headers = {"Authorization": f"Bearer {module_stack.token}", "Idempotency-Key": "http-1"}
    url = f"{module_stack.base}/v1/sandboxes/local/code.run"
    async with http_client(headers=headers, timeout=60) as http:
        answer = (
            await http.post(url, json={"source": "print('out'); display({'text/plain': 'd'}, raw=True); 6 * 7"})
        ).json()
        assert (answer["status"], answer["stdout"]) == ("ok", "out\n")
        assert [event["event"] for event in answer["events"]][-2:] == ["display", "value"]
        assert answer["events"][-1]["data"]["data"]["text/plain"] == "42"
        refused = await http.post(url, json={"source": "1", "language": "cobol"}, headers={"Idempotency-Key": "http-2"})
        assert (refused.status_code, refused.json()["code"]) == (501, "language_unavailable")


# ---- isolation


async def test_fifteen_contexts_see_nothing_of_each_other(box: Sandbox) -> None:
    """All contexts write globals, modules and directories at the same time, then each is read."""
    count = 15
    contexts = [box.code.create(id=f"iso-{n}") for n in range(count)]
    await asyncio.gather(*(ctx.__aenter__() for ctx in contexts))
    try:
        source = (
            "import os, sys, types\nmine_{n} = {n}\nshared = {n}\nsys.modules['m{n}'] = types.ModuleType('m{n}')\n"
            "os.makedirs('iso-{n}', exist_ok=True); os.chdir('iso-{n}'); os.environ['ISO'] = '{n}'"
        )
        await asyncio.gather(*(ctx.run(source.format(n=n)) for n, ctx in enumerate(contexts)))
        for _ in range(2):
            increments = (ctx.run("shared += 100") for ctx in contexts for _ in range(5))
            await asyncio.gather(*increments)
        read = (
            "[name for name in globals() if name.startswith('mine_')], shared, os.getcwd(), os.environ['ISO'],"
            "[name for name in sys.modules if name in ('m' + str(n) for n in range(15))], os.getpid()"
        )
        found = await asyncio.gather(*(ctx.run(f"import json; print(json.dumps([{read}]))") for ctx in contexts))
        pids = set()
        for n, done in enumerate(found):
            names, shared, cwd, env, modules, pid = json.loads(done.stdout)
            assert (names, shared, env, modules) == ([f"mine_{n}"], n + 1000, str(n), [f"m{n}"])
            assert cwd.endswith(f"/iso-{n}")
            pids.add(pid)
        assert len(pids) == count
    finally:
        await asyncio.gather(*(ctx.delete() for ctx in contexts))
    assert not [info for info in await box.code.list() if info.id.startswith("iso-")]


@pytest.mark.soak
async def test_thirty_runs_in_each_context_and_deletions_during_runs(box: Sandbox) -> None:
    contexts = [box.code.create(id=f"sustained-{n}") for n in range(4)]
    await asyncio.gather(*(ctx.__aenter__() for ctx in contexts))

    async def sustain(ctx: CodeContext) -> None:
        await ctx.run("total = 0")
        for n in range(1, 31):
            assert (await ctx.run("total += 1; total")).text == str(n)

    async def delete_in_a_run(number: int) -> None:
        async with box.code.create(id=f"short-{number}") as ctx:
            begun = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                run = group.create_task(
                    ctx.run("print('begun', flush=True)\nwhile True: pass", on_stdout=lambda data: begun.set())
                )
                await begun.wait()
                await ctx.delete()
            assert run.result().status == "stopped"

    await asyncio.gather(*map(sustain, contexts), *map(delete_in_a_run, range(3)))
    await asyncio.gather(*(ctx.delete() for ctx in contexts))


@pytest.mark.soak
async def test_twenty_contexts_are_created_during_runs(box: Sandbox) -> None:
    async with box.code.create(id="busy") as busy:
        stop = asyncio.Event()

        async def work() -> int:
            runs = 0
            while not stop.is_set():
                runs += 1
                assert (await busy.run(f"{runs}")).text == str(runs)
            return runs

        async with asyncio.TaskGroup() as group:
            working = group.create_task(work())
            contexts = [box.code.create(id=f"many-{n}") for n in range(20)]
            await asyncio.gather(*(ctx.__aenter__() for ctx in contexts))
            done = await asyncio.gather(*(ctx.run(f"{n}") for n, ctx in enumerate(contexts)))
            assert [each.text for each in done] == [str(n) for n in range(20)]
            await asyncio.gather(*(ctx.delete() for ctx in contexts))
            stop.set()
        assert working.result() > 10


# ---- sudden ends


async def test_code_runs_in_an_isolated_sandbox_and_leaves_nothing(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state", "--max-contexts=1", "--code-pool=size=1", isolation="bubblewrap") as stack:
        client = hawse.connect(stack.base, token=stack.token)
        async with client as hw:
            box = hw.sandbox()
            async with box.code.create() as ctx:
                done = await ctx.run("import os; os.system('echo out'); os.getcwd()")
                assert (done.stdout, done.text) == (b"out\n", "'/workspace'")
                with pytest.raises(HawseError, match="limit_exceeded"):
                    await box.code.create().__aenter__()
                assert (await ctx.run("os._exit(3)")).status == "crashed"
                await ctx.restart()
                endless = await ctx.run("while True: pass", timeout=0.2)
                assert endless.status == "timed_out"
                if endless.killed:  # on a busy machine the executor takes longer to handle the interrupt
                    await ctx.restart()
                assert (await ctx.run("1")).text == "1"
            assert (await box.code.run("2")).text == "2"


async def test_executors_end_with_a_runtime_that_is_killed(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        ctx = await box.code.create(id="doomed").__aenter__()
        pid = (await ctx.info()).pid
        done = await ctx.run("import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True).pid")
        runtime = psutil.Process((await box.runtime()).pid)
        host = psutil.Process(pid).ppid()
        os.kill(runtime.pid, signal.SIGKILL)
        await gone(runtime.pid, pid, host)
        assert (await box.code.list()) == []  # a new runtime has started
        await gone(int(str(done.text)))  # killed by its mark when the runtime has started
        with pytest.raises(HawseError, match="not_found"):
            await ctx.run("1")
