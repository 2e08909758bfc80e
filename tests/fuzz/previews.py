"""Fuzzes previews: the headers of browsers and of previewed programs, and answers of a hostile program.

A case is JSON: the kind of preview address, the browser's request, and the bytes that the program sends, as HTTP or
after an upgrade. The gateway translates or refuses both: it raises only `HawseError`, sends valid HTTP, and forwards
no forbidden header.
"""

import asyncio
import json
import random
import re
from typing import Any

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.preview.addresses import PreviewTarget
from hawse_gateway.preview.headers import PublicAddress
from hawse_gateway.preview.http import forward
from hawse_gateway.preview.websocket import WebSocketRelay
from tests.fuzz.mutations import mutated
from tests.fuzz.target import Target, stateless
from tests.support.stores import credentials

PORT = 8888
PREVIEW = "abcdefghijklmnop"
OWNER = "the owner token of the fuzzer"
BY_PATH = PreviewTarget("s", PREVIEW, b"/x?y=1", f"/p/s/{PREVIEW}", None, "gateway.test:8080")
BY_HOST = PreviewTarget("s", PREVIEW, b"/x", "", PORT, f"8888-s-{PREVIEW}.localhost:8080")
VALUES = (
    *(
        b"",
        b"x",
        b"close",
        b"keep-alive, host, content-length",
        b"null",
        b"a=b; c=d",
        b"p-abcdefgh-a=1; b=2",
        b"\xff\xe9",
    ),
    *(
        b"http://localhost:8888/a",
        b"http://localhost:" + b"1" * 5000,
        b"//evil.test/",
        b"/\\evil.test",
        b"/a",
        b"?q",
        b"",
    ),
    *(b"http://127.0.0.1", b"https://gateway.test:8080/p/s/abcdefghijklmnop/x", b"http://gateway.test:8080", b"*"),
    *(
        b"Bearer " + OWNER.encode(),
        b"bearer x",
        b"sid=1; Domain=.test; Path=/; Secure",
        b"=; path=../..; PATH=/b",
        b";;",
    ),
    *(
        b"__Host-x=1; Path=/",
        b"a\tb",
        b"a\x00b",
        b"websocket",
        b"Upgrade",
        b"13",
        b"dGhlIHNhbXBsZSBub25jZQ==",
        b"9" * 30,
    ),
)
NAMES = (
    *(
        b"host",
        b"origin",
        b"referer",
        b"cookie",
        b"authorization",
        b"connection",
        b"upgrade",
        b"x-forwarded-for",
        b"te",
    ),
    *(b"x_forwarded_for", b"X-Forwarded-Host", b"forwarded", b"x-real-ip", b"expect", b"transfer-encoding", b"accept"),
    *(b"content-length", b"x-forwarded_proto", b"sec-websocket-key", b"sec-websocket-protocol", b"trailer", b"x"),
)
ANSWER_NAMES = (
    *(
        b"location",
        b"Content-Location",
        b"set-cookie",
        b"Set-Cookie",
        b"content-security-policy",
        b"date",
        b"connection",
    ),
    *(b"access-control-allow-origin", b"referrer-policy", b"clear-site-data", b"service-worker-allowed", b"trailer"),
    *(b"strict-transport-security", b"content-length", b"transfer-encoding", b"upgrade", b"sec-websocket-accept", b"x"),
)
STARTS = (
    *(b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 x", b"HTTP/1.1 302 Found"),
    *(b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 Early Hints", b"HTTP/1.1 101 Switching Protocols", b"HTTP/1.1 999 x"),
    *(b"HTTP/2 200", b"HTTP/1.1 099 x", b"HTTP/1.1 200 \xff\x01", b"HTTP/1.1 600 x", b"HTTP/1.1 -1 x", b"ICY 200 OK"),
)
FRAMES = (
    *(b"\x81\x01x", b"\x81\x02\xff\xfe", b"\x82\x00", b"\x01\x01a", b"\x80\x01b", b"\x88\x00", b"\x88\x02\x03\xe8"),
    *(b"\x88\x02\x03\xed", b"\x88\x02\x0f\xff", b"\x88\x04\x03\xe8\xff\xfe", b"\x89\x00", b"\x8a\x00", b"\x83\x00"),
    *(
        b"\xc1\x01x",
        b"\x81\xff",
        b"\x82\x7f" + b"\xff" * 8,
        b"\x81\x81abcdx",
        b"\x89\x7e\x00\xff" + b"x" * 255,
        b"\x00\x00",
    ),
)
TOKENS = (
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\x00",
    b":",
    b" ",
    b"0\r\n\r\n",
    b"ffffffffffffffffff\r\n",
    b"5;x=y\r\nabcde\r\n",
    *FRAMES,
)
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9a-zA-Z-]+")
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
NEVER = {
    *(b"connection", b"keep-alive", b"transfer-encoding", b"upgrade", b"trailer", b"date", b"clear-site-data"),
    *(b"strict-transport-security",),
}


def make(rng: random.Random) -> bytes:
    socket = rng.random() < 0.3
    headers = [[rng.choice(NAMES).lower(), rng.choice(VALUES)] for _ in range(rng.randint(0, 8))]
    answer = _socket_answer(rng) if socket else _answer(rng)
    given = {
        "by_path": rng.random() < 0.5,
        "socket": socket,
        "method": rng.choice(("GET", "HEAD", "POST", "OPTIONS", "CONNECT", "G T", "")),
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers],
        "body": rng.choice(("", "x", "x" * 1000)),
        "answer": mutated(rng, answer, TOKENS).decode("latin-1"),
        "piece": rng.choice((1, 7, 100, 100_000)),
    }
    return json.dumps(given).encode()


def _lines(rng: random.Random, most: int) -> bytes:
    return b"".join(b"%b: %b\r\n" % (rng.choice(ANSWER_NAMES), rng.choice(VALUES)) for _ in range(rng.randint(0, most)))


def _answer(rng: random.Random) -> bytes:
    head = rng.choice(STARTS) + b"\r\n" + _lines(rng, 6)
    match rng.randrange(4):
        case 0:
            return head + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: y\r\n\r\n"
        case 1:
            return head + b"content-length: 5\r\n\r\nhello"
        case 2:
            return (head + b"\r\n") * rng.choice((1, 3, 40))
        case _:
            return head + b"\r\n" + rng.randbytes(rng.randint(0, 2000))


def _socket_answer(rng: random.Random) -> bytes:
    if rng.random() < 0.2:
        return _answer(rng)
    frames = b"".join(rng.choice(FRAMES) for _ in range(rng.randint(0, 8)))
    # ACCEPT is replaced with the value for the request's key, so that the upgrade succeeds.
    head = b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n"
    return head + _lines(rng, rng.choice((0, 0, 2))) + b"\r\n" + frames


# ---- running cases


class Tunnel:
    """An in-memory `PortTunnel`: the program sends the bytes of the case and closes."""

    port = PORT

    def __init__(self, answer: bytes, piece: int) -> None:
        self._answer = answer
        self._piece = piece
        self._sent = 0  # bytes of the answer
        self._accepts = b"ACCEPT" in answer
        self.written = b""

    async def write(self, *parts: bytes) -> None:
        self.written += b"".join(parts)

    async def keep_pace(self) -> None:
        pass

    def end(self) -> None:
        pass

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        if self._accepts and (key := re.search(rb"(?i)sec-websocket-key: *(\S+)", self.written)):
            from websockets.utils import accept_key

            accepted = accept_key(key[1].decode("latin-1")).encode()
            rest = self._answer[self._sent :]
            self._answer = self._answer[: self._sent] + rest.replace(b"ACCEPT", accepted)
            self._accepts = False
        piece = self._answer[self._sent : self._sent + self._piece]
        self._sent += len(piece)
        return piece


def run(case: bytes) -> None:
    """Run one case. Raises `AssertionError`, or the product's exception."""
    asyncio.run(_run(json.loads(case)))


async def _run(given: dict[str, Any]) -> None:
    target = BY_PATH if given["by_path"] else BY_HOST
    tunnel = Tunnel(given["answer"].encode("latin-1"), given["piece"])
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given["headers"]]
    scope: dict[str, Any] = {"type": "http", "method": given["method"], "headers": headers, "scheme": "http"}
    sent: list[dict[str, Any]] = []
    requests = [{"type": "http.request", "body": given["body"].encode(), "more_body": False}]
    if given["socket"]:
        scope |= {"type": "websocket", "scheme": "ws", "subprotocols": ["a", "b"]}
        requests = []

    async def receive() -> dict[str, Any]:
        if requests:
            return requests.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    public, policy = PublicAddress(PORT, "http", "10.0.0.1"), AccessPolicy(credentials(OWNER), Tickets(lambda: 0.0))
    try:
        if given["socket"]:
            await WebSocketRelay(scope, receive, send, tunnel, target, public, policy).run()  # type: ignore[arg-type]
        else:
            await forward(scope, receive, send, tunnel, target, public, policy)  # type: ignore[arg-type]
    except HawseError:
        assert not sent, "an error after the response has begun"
    check_request(tunnel.written, given["by_path"])
    check_response(sent, by_path=given["by_path"])


def check_request(request: bytes, by_path: bool) -> None:
    """Assert that the program receives one valid head, with one Host and none of the gateway's secrets."""
    if not request:
        return
    lines = request.split(b"\r\n\r\n")[0].split(b"\r\n")
    names = [line.partition(b":")[0].lower().replace(b"_", b"-") for line in lines[1:]]
    assert all(TOKEN.fullmatch(name) for name in names)
    assert not any(CONTROL.search(line) for line in lines)
    assert (
        lines[1:].count(b"host: localhost:8888") + lines[1:].count(b"Host: localhost:8888") == names.count(b"host") == 1
    )
    assert not any(line.lower().startswith(b"authorization") and OWNER.encode() in line for line in lines)
    for name in (b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-for"):
        assert names.count(name) == 1
    assert not {b"forwarded", b"x-real-ip", b"te", b"trailer"} & set(names)
    cookies = b"".join(line for line in lines if line.lower().startswith(b"cookie"))
    assert not by_path or b"p-abcdefgh-" not in cookies


def check_response(sent: list[dict[str, Any]], *, by_path: bool) -> None:
    """Assert that the messages conform to ASGI, and that their headers are valid and allowed in a preview."""
    kinds = [message["type"].rpartition("websocket.")[2].removeprefix("http.") for message in sent]
    assert re.fullmatch(r"(response.start( response.body)*|(accept( send)*( close)?)|close)?", " ".join(kinds)), kinds
    for message in sent:
        for name, value in message.get("headers", ()):
            assert TOKEN.fullmatch(name), name
            assert name == name.lower()
            assert not CONTROL.search(value), (name, value)
            assert name not in NEVER
            if name == b"set-cookie" and by_path:
                assert value.startswith(b"p-abcdefgh-")
                paths = [part for part in value.split(b";") if part.strip().lower().startswith(b"path")]
                assert len(paths) == 1
                assert paths[0].startswith(f" Path=/p/s/{PREVIEW}/".encode())
            assert b"domain=" not in value.lower() or name != b"set-cookie"
        if "status" in message:
            assert 200 <= message["status"] <= 599
            names = [name for name, _ in message["headers"]]
            assert names.count(b"content-security-policy") >= by_path
            assert names.count(b"referrer-policy") == 1
            assert names.count(b"content-length") <= 1
        if message["type"] == "websocket.close":
            assert message["code"] == 1000 or 1001 <= message["code"] <= 1003 or 1007 <= message["code"] <= 4999
            assert len(message.get("reason", "").encode()) <= 123


TARGET = Target("previews", make, stateless(run), cases=200)
