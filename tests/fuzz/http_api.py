"""Fuzzes the HTTP API of a live gateway: every method with odd parameters, odd headers, and requests that are not HTTP.

A case is JSON: a call, or the bytes of a request. Every answer must be a result of the declared type or a declared
error, but never `internal`; neither server logs an exception, and both keep working.

The sandbox is isolated, because the calls run commands and delete files.
"""

import asyncio
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
from msgspec import inspect

from hawse.api import GATEWAY, METHODS
from hawse.api.spec import EVERY_CALL, Spec
from tests.fuzz.mutations import ODD_TEXTS, mutated, odd_value
from tests.fuzz.target import Run, Target
from tests.support.http_clients import http_client
from tests.support.stack import Stack

ALL = METHODS | GATEWAY
BY_GATEWAY = ("too_large", "not_found", "origin_denied")  # errors of any request
CALL_SECONDS = 0.3  # after which a call is cancelled: streams do not end on their own
ANSWER_SECONDS = 20.0  # the time limit for an answer
COMMANDS = (
    "true",
    "exit 3",
    "echo x",
    "cat",
    "printf '\\377'",
    "sleep 0.05",
    "x" * 300,
    "",
    "kill -9 $$",
    "head -c 100000 /dev/zero",
)
PATHS = (
    "a",
    "d",
    "d/b",
    ".",
    "..",
    "/",
    "/workspace",
    "/proc/self/mem",
    "/dev/full",
    "/dev/zero",
    "/etc",
    "link",
    "d/" * 200,
)
HEADERS = (
    *(("Accept", "text/event-stream"), ("Accept", "*/*;q=x"), ("Last-Event-ID", "x"), ("Last-Event-ID", "9" * 40)),
    *(("Last-Event-ID", "-1"), ("Idempotency-Key", "k"), ("Idempotency-Key", "x" * 129), ("Idempotency-Key", "\u00e9")),
    *(
        ("Content-Type", "application/octet-stream"),
        ("Content-Type", "text/plain"),
        ("Content-Type", "application/json; x"),
    ),
    *(("Host", "evil.test"), ("Origin", "http://evil.test"), ("Origin", "null"), ("Authorization", "Bearer x")),
    *(
        ("Content-Encoding", "gzip"),
        ("Expect", "100-continue"),
        ("X-HTTP-Method-Override", "GET"),
        ("Range", "bytes=0-"),
    ),
    *(("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Transfer-Encoding", "x"), ("Forwarded", "for=x")),
)
QUERIES = (
    "timeout=0.05",
    "timeout=nan",
    "timeout=1e400",
    "timeout=" + "9" * 400,
    "timeout=-1",
    "params={}",
    "params=[",
    "%",
    "a=%00",
)
SEEDS = (
    b"POST /v1/sandboxes/local/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
    b"GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: hawse.v1\r\n\r\n\x81\x85abcdhello",
    b"GET /p/local/abcdefghijklmnopqrstuvwx/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n0\r\n\r\n",
    b"PUT /v1/sandboxes/local/files/a HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Length: 5\r\n\r\nx",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
)
TOKENS = (
    b"\r\n",
    b"\n",
    b"\x00",
    b"%00",
    b"/../",
    b"//",
    b"?",
    b"Host: a\r\n",
    b"Content-Length: 9\r\n",
    b": ",
    b"\xff",
    b"HTTP/9.9",
)


def make(rng: random.Random) -> bytes:
    if rng.random() < 0.2:
        return json.dumps({"raw": mutated(rng, rng.choice(SEEDS), TOKENS).decode("latin-1")}).encode()
    name = rng.choice(list(ALL))
    spec = ALL[name]
    body: Any = params_of(rng, spec)
    if rng.random() < 0.05:
        body = odd_value(rng)
    text = json.dumps(body).encode()
    if rng.random() < 0.05:
        text = mutated(rng, text)
    headers = [rng.choice(HEADERS) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
    where = (
        ""
        if name in GATEWAY
        else f"sandboxes/{quote(rng.choice(ODD_TEXTS[:10]), safe='') if rng.random() < 0.05 else 'local'}/"
    )
    query = f"timeout={CALL_SECONDS}" if rng.random() < 0.9 else rng.choice(QUERIES)
    if "timeout=" not in query:  # a watch does not end on its own
        query += f"&timeout={CALL_SECONDS}"
    path = f"/v1/{where}{name}?{query}"
    if rng.random() < 0.05:
        file = quote(
            rng.choice(ODD_TEXTS + PATHS).encode(errors="surrogatepass"), safe="/" if rng.random() < 0.5 else ""
        )
        path = f"/v1/sandboxes/local/files/{file}?{query}"
    verb = "POST" if rng.random() < 0.95 else rng.choice(("GET", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH"))
    return json.dumps(
        {"verb": verb, "path": path, "headers": headers, "body": text.decode("latin-1"), "method": name}
    ).encode()


def params_of(rng: random.Random, spec: Spec) -> dict[str, Any]:
    """Return parameters of the declared types, some of them odd or missing."""
    described = inspect.type_info(spec.params)
    assert isinstance(described, inspect.StructType)
    params = {}
    for field in described.fields:
        if field.required or rng.random() < 0.3:
            params[field.encode_name] = (
                odd_value(rng) if rng.random() < 0.08 else value_of(rng, field.type, field.encode_name)
            )
    if rng.random() < 0.03:
        params[rng.choice(ODD_TEXTS[:5])] = odd_value(rng)
    if spec.name == "file.chmod":
        params["path"] = "d/b"  # a sandbox without access to its workspace can do nothing
    return params


def value_of(rng: random.Random, kind: Any, name: str) -> Any:
    match kind:
        case inspect.UnionType():
            return value_of(rng, rng.choice(kind.types), name)
        case inspect.LiteralType():
            return rng.choice(kind.values)
        case inspect.BoolType():
            return rng.random() < 0.5
        case inspect.IntType() | inspect.FloatType():
            low = kind.ge if kind.ge is not None else kind.gt if kind.gt is not None else 0
            high = kind.le if kind.le is not None else kind.lt
            return rng.choice((low, low + 1, rng.randint(0, 300), *((high,) if high is not None else (2**53 - 1,))))
        case inspect.StrType():
            if "path" in name or name in ("cwd", "to", "root"):
                return rng.choice(PATHS)
            if name in ("command", "shell", "data", "text"):
                return rng.choice(COMMANDS)
            return rng.choice(("x", "t", "s-1", rng.choice(ODD_TEXTS)))
        case inspect.ListType() | inspect.VarTupleType():
            if name in ("argv", "command"):
                return rng.choice((["true"], ["sh", "-c", rng.choice(COMMANDS)], ["nowhere"], [], [""]))
            return [value_of(rng, kind.item_type, name) for _ in range(rng.randint(0, 3))]
        case inspect.TupleType():
            return [value_of(rng, item, name) for item in kind.item_types]
        case inspect.DictType():
            return {
                rng.choice(("A", "x", "", "=", "HAWSE_RUNTIME")): rng.choice(("", "v", "\x00"))
                for _ in range(rng.randint(0, 2))
            }
        case inspect.StructType():
            return {
                field.encode_name: value_of(rng, field.type, field.encode_name)
                for field in kind.fields
                if rng.random() < 0.7
            }
        case inspect.NoneType():
            return None
        case _:
            return odd_value(rng)


# ---- running cases


@contextmanager
def opened() -> Iterator[Run]:
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        api = runner.run(_open(Path(folder)))
        try:
            yield lambda case: runner.run(api.run(json.loads(case)))
            runner.run(api.check_alive())
        finally:
            runner.run(api.close())


async def _open(folder: Path) -> "LiveApi":
    stack = Stack(folder / "state", isolation="bubblewrap")
    await stack.start()
    return LiveApi(stack)


class LiveApi:
    """A live gateway, and its output so far."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        authorization = {"Authorization": f"Bearer {stack.token}"}
        self._http = http_client(stack.base, headers=authorization, timeout=ANSWER_SECONDS)

    async def run(self, given: dict[str, Any]) -> None:
        """Run one case. Raises `AssertionError`, or the product's exception."""
        printed = len(self._stack.printed)
        if "raw" in given:
            await self._send(given["raw"].encode("latin-1"))
        else:
            await self._call(given)
        found = [
            line
            for line in self._stack.printed[printed:]
            if "Traceback" in line or " ERROR " in line or "a bug" in line
        ]
        assert not found, "\n".join(self._stack.printed[printed:])[-3000:]

    async def _send(self, data: bytes) -> None:
        """Send bytes on a new connection, close its sending half, and read the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._stack.port)
        with suppress(ConnectionError):
            writer.write(data)
            writer.write_eof()
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await reader.read()
            assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:200]
            assert b" 500 " not in answer[:20], answer[:200]
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _call(self, given: dict[str, Any]) -> None:
        headers = [("Content-Type", "application/json"), *map(tuple, given["headers"])]
        names = [name.lower() for name, _ in given["headers"]]
        fields = [
            (name, value)
            for name, value in headers
            if value not in ("application/json",) or "content-type" not in names
        ]
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in fields]
        try:
            answer = await self._http.request(
                given["verb"], given["path"], headers=encoded, content=given["body"].encode("latin-1")
            )
        except (httpx.InvalidURL, httpx.LocalProtocolError, httpx.ReadError, httpx.RemoteProtocolError):
            return  # httpx refuses to send this request, or the server has closed because of its framing
        if answer.headers.get("content-type", "").startswith("application/json") and answer.content:
            check_answer(answer.status_code, answer.json(), given)
        else:
            assert answer.status_code != 500, answer.text[:500]
            assert (
                "internal" not in answer.text[-2000:].rpartition("event: error")[2] or "event: error" not in answer.text
            )

    async def check_alive(self) -> None:
        """Assert that both servers still work."""
        answer = await self._http.post("/v1/sandboxes/local/exec", json={"command": "echo alive", "cwd": "/tmp"})
        assert answer.status_code == 200, answer.text
        assert "alive" in answer.text

    async def close(self) -> None:
        await self._http.aclose()
        await self._stack.close()


def check_answer(status: int, value: Any, given: dict[str, Any]) -> None:
    spec = ALL[given["method"]]
    if status < 300:
        if given["verb"] == "POST" and "/files/" not in given["path"] and not spec.output and not spec.events:
            msgspec.convert(value, spec.result)
        return
    code = value["code"]
    assert code != "internal", value
    allowed = {*EVERY_CALL, *spec.raises, *BY_GATEWAY}
    assert code in allowed or "/files/" in given["path"], f"{given['method']} does not declare {code}: {value}"


TARGET = Target("http", make, opened, cases=120)
