"""A web site that tests run inside a sandbox and open in a preview: `python site.py [PORT]` prints its port.

/seen           the request as received, as JSON             /redirect?to=…   302 to there
/events?n=N     N server-sent events; each waits for a POST   /cookie          sets `sid`, returns the cookies it got
  to /next                                                    /broken          ends in the middle of its answer
/bytes?n=N      N bytes                                       /size, POST      number of bytes received, their SHA-256
/duplex, POST   every chunk back as it comes                  /socket          echoes; `close CODE REASON` closes
/silent         a stream without bytes after its headers     /same-origin     echoes to pages of its own origin only
/page           a page that shows the echo of /same-origin as its title
"""

import asyncio
import hashlib
import socket
import sys
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

BLOCK = bytes(range(256)) * 256
PAGE = """<!doctype html><title>waiting</title><script>
const socket = new WebSocket(new URL("same-origin", location.href.replace(/^http/, "ws")));
socket.onopen = () => socket.send("connected");
socket.onmessage = (message) => { document.title = message.data; };
socket.onerror = () => { document.title = "refused"; };
</script>
"""
turns: asyncio.Queue[str] = asyncio.Queue()
gone: list[str] = []  # the streams that clients left early


async def seen(request: Request) -> Response:
    headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in request.headers.raw]
    target = request.scope["raw_path"].decode() + (f"?{request.url.query}" if request.url.query else "")
    body = await request.body()
    return JSONResponse({"method": request.method, "target": target, "headers": headers, "body": body.decode()})


async def events(request: Request) -> Response:
    count = int(request.query_params["n"])

    async def stream() -> AsyncIterator[str]:
        try:
            for _ in range(count):
                yield f"data: {await turns.get()}\n\n"
        except asyncio.CancelledError:
            gone.append("events")
            raise

    return StreamingResponse(stream(), media_type="text/event-stream")


async def next_(request: Request) -> Response:
    turns.put_nowait((await request.body()).decode())
    return Response(status_code=204)


async def silent(request: Request) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        try:
            yield b""
            await asyncio.Event().wait()
        finally:
            gone.append("silent")

    return StreamingResponse(stream(), media_type="text/event-stream")


async def left(request: Request) -> Response:
    return JSONResponse(gone)


async def bytes_(request: Request) -> Response:
    size = int(request.query_params["n"])

    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, size, len(BLOCK)):
            yield BLOCK[: size - start]

    return StreamingResponse(stream(), headers={"content-length": str(size)}, media_type="application/octet-stream")


async def broken(request: Request) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("as asked")

    return StreamingResponse(stream(), headers={"content-length": "8"})


async def size(request: Request) -> Response:
    digest, count = hashlib.sha256(), 0
    async for chunk in request.stream():
        digest.update(chunk)
        count += len(chunk)
    return JSONResponse([count, digest.hexdigest()])


class Duplex:
    """Avoids Starlette's response, which reads from the client while it sends and would consume the body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = [(name, value) for name, value in scope["headers"] if name == b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        more = True
        while more:
            message = await receive()
            more = message.get("more_body", False)
            await send({"type": "http.response.body", "body": message.get("body", b""), "more_body": more})


async def redirect(request: Request) -> Response:
    return RedirectResponse(request.query_params["to"], 302)


async def cookie(request: Request) -> Response:
    response = PlainTextResponse(request.headers.get("cookie", ""))
    response.set_cookie("sid", "1", domain="example.org", path="/cookie", httponly=True)
    return response


async def echo(websocket: WebSocket) -> None:
    offered = websocket.scope["subprotocols"]
    if "unknown" in offered:
        await websocket.send_denial_response(PlainTextResponse("not you", 418))
        return
    await websocket.accept("chat.2" if "chat.2" in offered else None)
    try:
        while (message := await websocket.receive())["type"] == "websocket.receive":
            text = message.get("text")
            if text is not None and text.startswith("close "):
                _, code, reason = text.split(" ", 2)
                await websocket.close(int(code), reason)
                return
            if text is not None:
                await websocket.send_text(text)
            else:
                await websocket.send_bytes(message["bytes"])
        gone.append(f"socket {message['code']} {message.get('reason') or ''}".strip())
    except WebSocketDisconnect:
        gone.append("socket")


async def same_origin(websocket: WebSocket) -> None:
    """Echo, but only if `Origin` matches `Host`, as Jupyter Server, Streamlit and Django Channels check."""
    if websocket.headers.get("origin") != f"http://{websocket.headers['host']}":
        await websocket.send_denial_response(PlainTextResponse("origin not allowed", 403))
        return
    await echo(websocket)


async def page(request: Request) -> Response:
    return HTMLResponse(PAGE)


def main() -> None:
    app = Starlette(
        routes=[
            Route("/events", events),
            Route("/next", next_, methods=["POST"]),
            Route("/silent", silent),
            Route("/left", left),
            Route("/bytes", bytes_),
            Route("/broken", broken),
            Route("/size", size, methods=["POST"]),
            Route("/duplex", Duplex(), methods=["POST"]),
            Route("/redirect", redirect),
            Route("/cookie", cookie),
            Route("/page", page),
            WebSocketRoute("/socket", echo),
            WebSocketRoute("/same-origin", same_origin),
            Route("/{rest:path}", seen, methods=["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
        ]
    )
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="critical", ws="websockets-sansio", ws_max_size=1 << 30)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
