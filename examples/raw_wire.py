"""The wire protocol without hawse's client: python raw_wire.py 'http://127.0.0.1:8080/#token=…'

docs/wire.md describes the messages. Text messages are control (JSON), binary messages are data frames.
"""

import asyncio
import json
import struct
import sys

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

HEADER = struct.Struct(">BIQ")  # kind, channel, offset; the payload follows


async def main(address: str) -> None:
    base, _, token = address.partition("/#token=")
    uri = base.replace("http", "ws", 1) + "/v1/connect"
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(uri, subprotocols=[Subprotocol("hawse.v1")], additional_headers=headers) as socket:
        await socket.send(json.dumps({"type": "hello", "protocol": 1, "client": "raw", "window": 65536}))
        print("welcome, role:", json.loads(await socket.recv())["role"])

        params = {"command": "echo $((6 * 7)); echo oh >&2"}
        await socket.send(json.dumps({"type": "call", "ch": 1, "method": "exec", "sandbox": "local", "params": params}))
        async for message in socket:
            if isinstance(message, bytes):
                kind, ch, offset = HEADER.unpack_from(message)
                payload = message[HEADER.size :]
                print(f"frame: kind {kind}, offset {offset}, {payload!r}")
                await socket.send(json.dumps({"type": "credit", "ch": ch, "bytes": len(payload)}))
            elif (control := json.loads(message))["type"] in ("result", "error"):
                print(control["type"] + ":", control.get("value", control))
                return


asyncio.run(main(sys.argv[1]))
