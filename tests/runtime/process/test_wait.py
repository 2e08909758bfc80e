"""`process.wait`: for an exit, a match in the output or a port; and a wait that ends leaves nothing behind."""

import asyncio
import sys
from typing import Any

import pytest

from hawse_runtime.journal.limits import JournalLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Channel, Client, Served
from tests.support.stack import free_port
from tests.support.waiting import TIMEOUT

SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204 if self.path == '/ready' else 404)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"""


SMALL_JOURNALS = pytest.mark.parametrize("limits", [RuntimeLimits(journals=JournalLimits(each=1 << 20))])


async def start(client: Client, command: str, **params: Any) -> None:
    await client.ask("process.start", {"id": "p", "command": command, **params})


async def wait(client: Client, **params: Any) -> Any:
    return await client.ask("process.wait", {"id": "p", **params})


def idle(served: Served) -> bool:
    """Whether no process has a reader."""
    return all(
        not process.readers and stream.pacer.readers <= {stream.spill}
        for process in served.runtime.processes.records
        for stream in (process.stdout, process.stderr)
    )


async def test_an_exit_is_reported_when_it_happens_and_also_afterwards(client: Client) -> None:
    await start(client, "read x; exit 4", stdin=True)
    waiting = client.call("process.wait", {"id": "p", "exit": True})
    assert (await waiting.event("opened"))["from"] == {"stdout": 0, "stderr": 0}
    writer = client.call("process.attach", {"id": "p", "input": "i"})
    writer.end()
    expected = {"code": 4, "signal": None, "timed_out": False, "oom": None}
    assert (await waiting.result())["exit"] == expected
    assert await wait(client, exit=True) == {"event": "exit", "exit": expected, "match": None, "status": None}


async def test_a_line_matches_whether_it_was_printed_before_or_after_the_call(client: Client) -> None:
    await start(client, "echo one; echo two >&2; read x; printf 'three\\r\\n'; sleep 60", stdin=True)
    first = await wait(client, log={"text": "one"})
    assert first["event"] == "log"
    assert (first["match"]["stream"], first["match"]["start"], first["match"]["end"]) == ("stdout", 0, 3)
    second = await wait(client, log={"pattern": r"^t(?P<rest>w\w)$"})
    assert (second["match"]["stream"], second["match"]["named"]) == ("stderr", {"rest": "wo"})
    third = client.call("process.wait", {"id": "p", "log": {"pattern": "^three$", "stream": "stdout"}})
    await third.event("opened")
    client.call("process.attach", {"id": "p", "input": "i"}).send(b"\n")
    assert (await third.result())["match"]["start"] == 4


async def test_a_text_matches_literally_and_since_excludes_earlier_output(client: Client) -> None:
    await start(client, "echo 'a.c abc'; echo abc; sleep 60")
    assert (await wait(client, log={"text": "a.c"}))["match"]["start"] == 0
    assert (await wait(client, log={"pattern": "a.c", "since": {"stdout": 3}}))["match"]["start"] == 4
    assert (await wait(client, log={"text": "abc", "since": {"stdout": 7}}))["match"]["start"] == 8
    assert (await wait(client, log={"text": "abc", "stream": "stderr"}, timeout=0.05))["event"] == "timeout"


@SMALL_JOURNALS
async def test_a_line_that_is_only_on_disk_is_found(client: Client, served: Served) -> None:
    flood = "import sys; print('needle'); sys.stdout.writelines('%07d\\n' % n for n in range(600_000))"
    await client.ask("process.start", id="p", argv=[sys.executable, "-c", flood])
    await wait(client, exit=True)
    (process,) = served.runtime.processes.records
    assert process.stdout.journal.start > 7
    assert (await wait(client, log={"text": "needle"}))["match"]["start"] == 0
    assert (await wait(client, log={"text": "0599999"}))["match"]["end"] == 600_000 * 8 + 6


async def test_an_exit_before_the_line_or_the_port_is_an_error_with_the_exit(client: Client) -> None:
    await start(client, "echo hello; exit 3")
    error = await client.refused("process.wait", id="p", log={"text": "never"})
    assert error.code == "exited"
    assert error.details["exit"]["code"] == 3
    assert error.details["stdout"] == 6
    error = await client.refused("process.wait", id="p", port={"port": free_port()})
    assert (error.code, error.details["exit"]["code"]) == ("exited", 3)
    assert error.message == "the process ended before the condition was met, with exit code 3: hello"
    ended = await wait(client, log={"text": "never"}, exit=True)
    assert ended["event"] == "exit"
    last = await wait(client, log={"text": "hello"}, exit=True)
    assert last["event"] == "log", "output is searched before the exit is reported"


async def test_a_timeout_is_a_result(client: Client, served: Served) -> None:
    await start(client, "sleep 60")
    assert await wait(client, exit=True, timeout=0.02) == {
        "event": "timeout", "exit": None, "match": None, "status": None,
    }  # fmt: skip
    assert idle(served)


async def test_a_port_counts_as_open_when_it_accepts_or_answers_with_the_status(client: Client) -> None:
    port = free_port()
    await client.ask("process.start", id="p", argv=[sys.executable, "-c", SERVER, str(port)])
    assert (await wait(client, port={"port": port}))["event"] == "port"
    answered = await wait(client, port={"port": port, "path": "/ready"})
    assert answered["status"] == 204
    assert (await wait(client, port={"port": port, "path": "/x", "status": [404, 404]}))["status"] == 404
    assert (await wait(client, port={"port": port, "path": "/x"}, timeout=0.1))["event"] == "timeout"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "invalid_params"),
        ({"log": {}}, "invalid_params"),
        ({"log": {"text": "a", "pattern": "b"}}, "invalid_params"),
        ({"log": {"pattern": "("}}, "invalid_params"),
        ({"log": {"pattern": "()" * 40}}, "too_large"),
        ({"log": {"text": "a", "since": {"stdout": 9}}}, "invalid_params"),
        ({"port": {"port": 0}}, "invalid_params"),
        ({"port": {"port": 80, "path": "/a b"}}, "invalid_params"),
        ({"port": {"port": 80, "path": "/a\r\nX: y"}}, "invalid_params"),
        ({"exit": True, "timeout": 0}, "invalid_params"),
        ({"exit": True, "instance": "another"}, "stale_handle"),
        ({"exit": True, "id": "missing"}, "not_found"),
    ],
)
async def test_an_invalid_wait_is_refused_and_leaves_no_reader(
    client: Client, served: Served, params: dict[str, Any], code: str
) -> None:
    await start(client, "sleep 60")
    assert (await client.refused("process.wait", {"id": "p"} | params)).code == code
    assert idle(served)


async def test_the_error_for_an_invalid_pattern_names_its_parameter(client: Client) -> None:
    await start(client, "sleep 60")
    assert (await client.refused("process.wait", id="p", log={"pattern": "("})).details == {"path": "$.log.pattern"}


async def test_a_wait_that_is_cancelled_or_disconnected_leaves_no_task_and_no_reader(served: Served) -> None:
    async with served.client() as client:
        await start(client, "while echo line; do sleep 0.01; done")
        before = (await client.info())["tasks"]
        calls: list[Channel] = []
        for params in ({"exit": True}, {"log": {"text": "never"}}, {"port": {"port": free_port()}}):
            calls += [client.call("process.wait", {"id": "p", **params}) for _ in range(10)]
        await asyncio.gather(*(call.event("opened") for call in calls))
        for call in calls[::2]:
            call.cancel()
        assert {(await call.refusal()).code for call in calls[::2]} == {"cancelled"}
    async with served.client() as client:
        await served.until(lambda: idle(served))
        async with asyncio.timeout(TIMEOUT):
            while (await client.info())["tasks"] > before:
                pass


@SMALL_JOURNALS
async def test_a_flood_of_output_does_not_outrun_a_wait_for_a_line(client: Client) -> None:
    lines = "import sys; sys.stdin.read(1); open(1, 'w').writelines('%07d\\n' % n for n in range(3_000_000))"
    await client.ask("process.start", id="p", argv=[sys.executable, "-c", lines], stdin=True)
    waiting = client.call("process.wait", {"id": "p", "log": {"pattern": "^2999998$"}})
    await waiting.event("opened")
    writer = client.call("process.attach", {"id": "p", "input": "i"})
    writer.send(b"g")
    writer.cancel()
    assert (await waiting.result())["match"]["start"] == 2_999_998 * 8
