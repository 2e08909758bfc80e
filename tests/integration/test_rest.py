"""The HTTP API with a real gateway and runtime: the README's commands with curl itself, and every operation."""

import asyncio
import base64
import hashlib
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import VIEW
from hawse.wire.errors import ERRORS
from tests.support.http_clients import http_client
from tests.support.stack import Stack, free_port
from tests.support.typed import mistake
from tests.support.waiting import in_directory

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).resolve().parents[2]
EVENTS = {"Accept": "text/event-stream"}
HERE = "/v1/sandboxes/local/"


@pytest_asyncio.fixture(loop_scope="session")
async def http(stack: Stack) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {stack.token}"}
    async with http_client(stack.base, headers=headers, timeout=20) as http:
        yield http


async def read_events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield fields | {"data": json.loads(fields["data"])}
            fields = {}


def content(event: dict[str, Any]) -> bytes:
    data = event["data"]
    return base64.b64decode(data["data"]) if "data" in data else data["text"].encode()


async def stream(
    http: httpx.AsyncClient, method: str, params: Any, *, last: str | None = None, stop_at: int | None = None
) -> tuple[bytes, str | None, dict[str, Any] | None]:
    """Return stdout up to at least `stop_at` bytes, the event id at that point, and the result."""
    headers = EVENTS | ({"Last-Event-ID": last} if last else {})
    output, result = b"", None
    async with http.stream("POST", HERE + method, headers=headers, json=params) as answer:
        assert answer.status_code == 200
        async for event in read_events(answer):
            last = event.get("id", last)
            if event["event"] == "stdout":
                output += content(event)
            if event["event"] == "result":
                result = event["data"]
            if stop_at is not None and len(output) >= stop_at:
                break
    return output, last, result


async def test_a_log_resumes_exactly_where_it_was_interrupted(http: httpx.AsyncClient) -> None:
    line = "bytes((i * j) % 256 for j in range(500)) + 'h\u00e9\u20ac'.encode()"
    script = f"import os; [os.write(1, {line}) for i in range(800)]"
    answer = await http.post(HERE + "process.start", json={"id": "log", "argv": ["python3", "-c", script]})
    assert answer.status_code == 200
    whole = b"".join(bytes((i * j) % 256 for j in range(500)) + "h\u00e9\u20ac".encode() for i in range(800))
    got, last, result = b"", None, None
    while result is None:
        part, last, result = await stream(http, "process.attach", {"id": "log"}, last=last, stop_at=50_000)
        got += part
    assert got == whole
    assert result["exit"]["code"] == 0


async def test_a_command_with_a_key_is_rejoined_where_it_was_interrupted(
    http: httpx.AsyncClient, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    http.headers["Idempotency-Key"] = "once"
    params = {"command": f"echo one; until [ -e {go} ]; do sleep 0.01; done; echo two"}
    first, last, _ = await stream(http, "exec", params, stop_at=4)
    go.touch()
    rest, _, result = await stream(http, "exec", params, last=last)
    assert (first, rest, result and result["code"]) == (b"one\n", b"two\n", 0)


async def test_a_command_returns_its_output(http: httpx.AsyncClient) -> None:
    answer = await http.post(HERE + "exec", json={"command": "echo out; echo err >&2; exit 3"})
    result = answer.json()
    assert result.pop("duration") > 0
    assert result == {
        "code": 3,
        "signal": None,
        "timed_out": False,
        "oom": None,
        "stdout": "out\n",
        "stderr": "err\n",
        "encoding": "utf-8",
        "truncated": False,
    }
    answer = await http.post(HERE + "exec", json={"command": "head -c 2000000 /dev/zero"})
    assert (len(answer.json()["stdout"]), answer.json()["truncated"]) == (1 << 20, True)


async def test_a_command_reads_the_body(http: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 4000
    query = {"params": json.dumps({"command": "sha256sum; echo; wc -c </dev/null"})}
    headers = {"Content-Type": "application/octet-stream"}
    answer = await http.post(HERE + "exec", params=query, headers=headers, content=data)
    assert answer.json()["stdout"].startswith(hashlib.sha256(data).hexdigest())
    echoed = await http.post(HERE + "exec", params={"params": '{"command": "cat"}'}, headers=headers, content=data)
    assert base64.b64decode(echoed.json()["stdout"]) == data


async def test_a_terminal_can_be_watched_and_written_to(http: httpx.AsyncClient) -> None:
    await http.post(HERE + "terminal.create", json={"id": "t", "argv": ["cat"]})
    output = b""
    options: Any = {"headers": EVENTS, "json": {"id": "t"}}
    async with http.stream("POST", HERE + "terminal.attach", **options) as answer:
        async for event in read_events(answer):
            if event["event"] == "live":
                await http.post(HERE + "terminal.send", json={"id": "t", "text": "h\u00e9llo\r"})
            if event["event"] == "output":
                output += content(event)
            if output.count("h\u00e9llo".encode()) == 2:
                break
    shown = await http.post(HERE + "terminal.screen", json={"id": "t"})
    assert shown.json()["content"].startswith("h\u00e9llo\nh\u00e9llo\n")


async def test_a_file_is_uploaded_and_downloaded(http: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 20_000
    put = await http.put(HERE + "files/a/b%E9.bin", content=data, params={"mode": "600"})
    assert put.json()["bytes"] == len(data)
    got = await http.get(HERE + "files/a/b%E9.bin")
    assert (got.content, got.headers["etag"]) == (data, f'"{put.json()["version"]}"')
    part = await http.get(HERE + "files/a/b%E9.bin", headers={"Range": "bytes=-10"})
    assert (part.status_code, part.content) == (206, data[-10:])
    assert (await http.get(HERE + "files//proc/self/status")).text.startswith("Name:")
    stale = await http.put(HERE + "files/a/b%E9.bin", content=b"x", headers={"If-Match": '"1-2"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    taken = await http.put(HERE + "files/a/b%E9.bin", content=b"x", headers={"If-None-Match": "*"})
    assert taken.json()["details"]["version"] == got.headers["etag"].strip('"')
    unclear = await http.put(HERE + "files/new", content=b"x", headers={"If-Match": "*"})
    assert unclear.json()["code"] == "invalid_params"
    latest = await http.put(HERE + "files/a/b%E9.bin", content=data, headers={"If-Match": got.headers["etag"]})
    assert latest.json()["bytes"] == len(data)
    assert (await http.put(HERE + "files/a", content=b"")).json()["code"] == "is_directory"


async def test_an_interrupted_upload_changes_nothing(http: httpx.AsyncClient, stack: Stack) -> None:
    await http.put(HERE + "files/f", content=b"before")
    _, writer = await asyncio.open_connection("127.0.0.1", stack.port)
    head = f"PUT {HERE}files/f HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {stack.token}\r\n"
    writer.write(f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"half")
    await writer.drain()
    workspace = stack.state / "sandboxes" / "local" / "workspace"
    await in_directory(workspace, lambda: list(workspace.glob(".hawse-*")))
    writer.close()
    await in_directory(workspace, lambda: not list(workspace.glob(".hawse-*")))
    assert (await http.get(HERE + "files/f")).content == b"before"


async def test_a_viewer_can_only_read(http: httpx.AsyncClient) -> None:
    await http.post(HERE + "terminal.create", json={"id": "t", "argv": ["cat"]})
    token = (await http.post("/v1/token.create", json={"role": "viewer"})).json()["token"]
    http.headers["Authorization"] = f"Bearer {token}"
    for table, prefix in ((METHODS, HERE), (GATEWAY, "/v1/")):
        for method, spec in table.items():
            if spec.requires != VIEW:
                answer = await http.post(prefix + method, json={"id": "t"})
                assert (method, answer.status_code, answer.json()["code"]) == (method, 403, "forbidden")
    assert (await http.post(HERE + "terminal.get", json={"id": "t"})).status_code == 200
    assert (await http.get(HERE + "files/x")).status_code == 403
    assert (await http.put(HERE + "files/x", content=b"")).status_code == 403


async def test_every_operation_returns_a_declared_result_or_error(http: httpx.AsyncClient) -> None:
    document = (await http.get("/v1/openapi.json")).json()
    await http.post(HERE + "terminal.create", json={"id": "t", "argv": ["cat"]})
    await http.post(HERE + "process.start", json={"id": "t", "argv": ["cat"], "stdin": True})
    answered = 0
    for path, item in document["paths"].items():
        for verb in item.keys() - {"parameters"}:
            operation = item[verb]["operationId"]
            params = {"id": "t", "terminal": "t", "path": ".", "port": 1, "exit": True, "command": "true", "timeout": 1}
            url = path.replace("{sandbox}", "local").replace("{path}", "x")
            if (spec := (METHODS | GATEWAY).get(operation)) is not None:
                known = spec.params.__struct_fields__  # other fields would be refused
                params = {name: value for name, value in params.items() if name in known}
            body: Any = {"json": params} if verb == "post" else {}
            answer = await http.request(verb, url, params={"timeout": "0.5"}, **body)
            assert answer.status_code != 500, (operation, answer.text)
            if answer.is_error and verb != "head":
                problem = answer.json()
                assert ERRORS[problem["code"]].status == answer.status_code
                assert str(answer.status_code) in item[verb]["responses"]
            elif operation in METHODS | GATEWAY and not (METHODS | GATEWAY)[operation].stream:
                assert mistake(operation, None, answer.json()) is None
                answered += 1
    assert answered > 20


PROGRAMS = {  # of the README, with parts of their output
    0: ("0 Linux", "/site\nhello", "Change(type='added'", "index='?'", ".localhost:", "0 GNU Make"),
    1: ("Linux",),
}


def readme_programs() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)


async def test_each_program_of_the_readme_is_run() -> None:
    assert list(PROGRAMS) == list(range(len(readme_programs())))


@pytest.mark.parametrize("number", PROGRAMS)
async def test_the_programs_of_the_readme_run_unchanged(stack: Stack, tmp_path: Path, number: int) -> None:
    text = readme_programs()[number]
    text = text.replace("http://127.0.0.1:8080", stack.base).replace('token="…"', f"token={stack.token!r}")
    text = text.replace("5173", str(free_port()))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", text, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b""), out
    output = out.decode()
    assert [part for part in PROGRAMS[number] if part not in output] == []


def readme_commands() -> list[str]:
    section = (ROOT / "README.md").read_text("utf-8").partition("## With curl\n")[2].partition("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return [command for command in block[1].strip().split("\n\n") if command]


async def test_the_commands_of_the_readme_work(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")
    address = f"{stack.base}/v1/sandboxes/local"
    outputs = []
    for command in readme_commands():
        command = re.sub(r"http://127\.0\.0\.1:8080/v1/sandboxes/local", address, command)
        command = command.replace("TOKEN=…", f"TOKEN={stack.token}")
        outputs.append(command)
    script = "set -e\n" + "\necho '#####'\n".join(outputs)
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", script, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b""), out
    _, ran, streamed, upload, download, started, log = (part.strip() for part in out.decode().split("#####"))
    assert json.loads(ran)["stdout"].startswith("Linux")
    assert [line for line in streamed.splitlines() if "text" in line] == [
        f'data: {{"offset":{2 * n},"text":"{n + 1}\\n"}}' for n in range(3)
    ]
    assert json.loads(upload)["bytes"] == 4
    assert download == "a,b"
    assert json.loads(started)["state"] == "running"
    assert 'data: {"offset":0,"text":"ready\\n"}' in log
    assert "event: result" in log
