"""`code.*`: contexts, runs and their errors, with real kernels."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.code import begin, create, end, run
from tests.support.runtime import Client, Served, eventually
from tests.support.waiting import gone

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_context_keeps_its_state_and_each_output_has_its_place(client: Client) -> None:
    info = await create(client)
    assert (info["language"], info["kernel"], info["state"]) == ("python", "python3", "running")
    first = await run(client, "import os, sys\nx = 41\nprint('out')\nprint('err', file=sys.stderr)\nx + 1")
    assert (first.status, first.stdout, first.stderr, first.text) == ("ok", b"out\n", b"err\n", "42")
    second = await run(client, "x += 1; x")
    assert (second.text, second.result["execution_count"]) == ("42", 2)
    silent = await run(client, "x += 1", store_history=False)
    assert silent.result["execution_count"] == 2

    failed = await run(client, "def f():\n    1 / 0\nf()")
    assert failed.status == "error: ZeroDivisionError"
    error = failed.result["error"]
    assert error["value"] == "division by zero"
    assert "1 / 0" in "\n".join(error["traceback"])
    assert "\x1b" not in "\n".join(error["traceback"])
    assert failed.named("raised")[0]["name"] == "ZeroDivisionError"
    assert (await run(client, "x = = 1")).status == "error: SyntaxError"
    assert (await run(client, "x")).text == "43"

    completed = await client.ask("code.complete", context="c", source="os.getcw")
    assert "getcwd" in "".join(completed["matches"])
    assert (completed["start"], completed["end"]) == (3, 8) or completed["matches"][0].startswith("os.")
    found = await client.ask("code.inspect", context="c", source="os.getcwd", detail=0)
    assert found["found"]
    assert "\x1b" not in found["data"]["text/plain"]

    listed = await client.ask("code.list")
    assert [context["id"] for context in listed["contexts"]] == ["c"]
    await client.ask("code.delete", context="c")
    assert (await client.ask("code.list"))["contexts"] == []
    assert (await begin(client, "1").refusal()).code == "not_found"


async def test_half_an_emoji_loses_nothing_around_it(client: Client) -> None:
    await create(client, "half")
    done = await run(client, r"print('before', 'a\ud83d b'); print('after'); print('\ud83d\ude00 \udcff')", "half")
    assert done.stdout == "before a\ufffd b\nafter\n\U0001f600 ".encode() + b"\xff\n"
    done = await run(client, r"import sys; sys.stderr.write('e\ude00e'); raise ValueError('v\ud83dv')", "half")
    assert (done.stderr, done.result["error"]["value"]) == ("e\ufffde".encode(), "v\ufffdv")
    done = await run(
        client, r"display({'application/json': {'k\ud83d': ['\ud800']}, 'text/html': 'h\ud83d'}, raw=True)", "half"
    )
    assert done.named("display")[0]["data"] == {"application/json": {"k\ufffd": ["\ufffd"]}, "text/html": "h\ufffd"}
    await client.ask("code.delete", context="half")


async def test_a_runtime_without_jupyter_client_has_no_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_client", None)  # as if it were not installed
    async with Served(tmp_path) as served, served.client() as client:
        assert (await client.ask("code.languages"))["languages"] == []
        assert (await client.refused("code.create", id="c")).code == "language_unavailable"


async def test_code_without_a_context_runs_in_an_executor_of_its_own(client: Client) -> None:
    one, two = begin(client, "leaked = 1; import os; os.getpid()", None), begin(client, "import os; os.getpid()", None)
    pids = {(await end(one)).text, (await end(two)).text}
    assert len(pids) == 2
    assert (await run(client, "'leaked' in globals()", None)).text == "False"


async def test_a_call_that_cannot_be_served_is_a_typed_error(client: Client) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("code.create", {"language": "cobol"}, "language_unavailable"),
        ("code.create", {"kernel": "no-such-kernel"}, "language_unavailable"),
        ("code.create", {"env": {"a=b": "c"}}, "invalid_params"),
        ("code.create", {"cwd": "no/such"}, "spawn_failed"),
        ("code.run", {"source": "1", "language": "cobol"}, "language_unavailable"),
        ("code.run", {"source": "1", "context": "missing"}, "not_found"),
        ("code.run", {"source": "1", "since": {"stdout": 1}}, "invalid_params"),
        ("code.attach", {"context": "missing"}, "not_found"),
        ("code.watch", {"context": "missing"}, "not_found"),
        ("code.answer", {"run": "missing", "request": 1, "value": "x"}, "not_found"),
        ("code.interrupt", {"context": "missing"}, "not_found"),
        ("code.interrupt", {}, "not_found"),
        ("code.restart", {"context": "missing"}, "not_found"),
        ("code.complete", {"context": "missing", "source": ""}, "not_found"),
        ("code.inspect", {"context": "missing", "source": ""}, "not_found"),
        ("code.get", {"context": "missing"}, "not_found"),
        ("code.delete", {"context": "missing"}, "not_found"),
    ]
    for method, params, code in calls:
        error = await client.refused(method, params)
        assert error.code == code, method
        if code == "language_unavailable":
            assert error.status == 501
            assert "installed" in error.message
    assert (await client.ask("code.list"))["contexts"] == []


async def test_a_handle_of_an_earlier_context_is_stale(client: Client) -> None:
    info = await create(client)
    assert (await client.refused("code.create", id="c")).code == "conflict"
    assert (await begin(client, "1", instance="other").refusal()).code == "stale_handle"
    assert (await run(client, "1", instance=info["instance"])).status == "ok"
    assert (await begin(client, "1", language="python").refusal()).code == "invalid_params"
    assert (await client.call("code.attach", {"context": "c", "run": "missing"}).refusal()).code == "not_found"


async def test_the_languages_are_listed_with_how_to_install_them(client: Client) -> None:
    listed = {entry["language"]: entry for entry in (await client.ask("code.languages"))["languages"]}
    assert (listed["python"]["kernel"], listed["python"]["install"]) == ("python3", "")
    assert set(listed) >= {"python", "javascript", "typescript", "bash"}
    for entry in listed.values():
        assert bool(entry["kernel"]) != bool(entry["install"])


async def test_a_run_without_a_context_and_a_key_ends_with_its_call(served: Served, client: Client) -> None:
    source = "import os; print(os.getpid(), flush=True)\nwhile True: pass"
    call = begin(client, source, None)
    await call.until(lambda: call.output.endswith(b"\n"))
    call.cancel()
    await gone(int(call.output))
    early = begin(client, source, None)
    await early.event("waiting")
    early.cancel()
    assert (await early.refusal()).code == "cancelled"
    kept = begin(client, source, None, key="kept", timeout=0.5)
    await kept.event("opened")
    kept.cancel()
    assert (await end(begin(client, source, None, key="kept", timeout=0.5))).status.startswith("timed_out")
    await eventually(lambda: len(served.started_children()) == 1)
