"""A Jupyter kernel without a language, which starts much faster than ipykernel.

`add N` adds to a total and returns it; `ask` asks for input and prints it; `busy` prints `begun` and runs until it is
interrupted; `exit N` ends the process. `install` registers it as the kernel of the language `fake`.

With the variable STDIN_AFTER, the stdin socket opens that many seconds after the other sockets.
"""

import hashlib
import hmac
import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import zmq

DELIMITER = b"<IDS|MSG>"


def install(folder: Path) -> None:
    """Write the kernel specification to a directory in JUPYTER_PATH."""
    target = folder / "kernels" / "fake"
    target.mkdir(parents=True)
    spec = {"argv": [sys.executable, __file__, "{connection_file}"], "display_name": "Fake", "language": "fake"}
    (target / "kernel.json").write_text(json.dumps(spec))


class Kernel:
    """The sockets of the kernel, and its total."""

    def __init__(self, connection: dict[str, Any]) -> None:
        self.key = connection["key"].encode()
        self.total = self.count = 0
        context = zmq.Context()

        def bound(kind: int, name: str) -> zmq.Socket[bytes]:
            made = context.socket(kind)
            made.bind(f"{connection['transport']}://{connection['ip']}-{connection[f'{name}_port']}")
            return made

        self.shell, self.iopub = bound(zmq.ROUTER, "shell"), bound(zmq.PUB, "iopub")
        self.others = [bound(zmq.ROUTER, "control"), bound(zmq.REP, "hb")]
        self.stdin: zmq.Socket[bytes] | None = None
        self.bind_stdin = lambda: bound(zmq.ROUTER, "stdin")
        self.stdin_at = time.monotonic() + float(os.environ.get("STDIN_AFTER", "0"))

    def serve(self) -> None:
        while True:
            try:
                left = max(0, int(1000 * (self.stdin_at - time.monotonic())))  # milliseconds
                if self.stdin is None and not self.shell.poll(left):
                    self.stdin = self.bind_stdin()
                    continue
                parts = self.shell.recv_multipart()
            except KeyboardInterrupt:  # nothing runs
                continue
            at = parts.index(DELIMITER)
            header = json.loads(parts[at + 2])
            self.answer(parts[:at], header, json.loads(parts[at + 5]))

    def answer(self, identities: list[bytes], request: Any, content: Any) -> None:
        self.publish(request, "status", {"execution_state": "busy"})
        reply: dict[str, Any] = {"status": "ok"}
        if request["msg_type"] == "execute_request":
            self.count += 1
            try:
                self.execute(identities, request, *content["code"].split())
            except KeyboardInterrupt:
                reply = {"status": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": []}
                self.publish(request, "error", reply)
            reply["execution_count"] = self.count
        self.send(self.shell, identities, request, request["msg_type"].replace("request", "reply"), reply)
        self.publish(request, "status", {"execution_state": "idle"})

    def execute(self, to: list[bytes], request: Any, word: str, number: str = "0") -> None:
        match word:
            case "add":
                self.total += int(number)
                data = {"data": {"text/plain": str(self.total)}, "metadata": {}, "execution_count": self.count}
                self.publish(request, "execute_result", data)
            case "ask":
                assert self.stdin is not None
                self.send(self.stdin, to, request, "input_request", {"prompt": "", "password": False})
                parts = self.stdin.recv_multipart()
                answer = json.loads(parts[parts.index(DELIMITER) + 5])["value"]
                self.publish(request, "stream", {"name": "stdout", "text": answer})
            case "busy":
                self.publish(request, "stream", {"name": "stdout", "text": "begun"})
                while True:
                    time.sleep(60)  # until SIGINT
            case "exit":
                os._exit(int(number))

    def publish(self, request: Any, kind: str, content: Any) -> None:
        self.send(self.iopub, [kind.encode()], request, kind, content)

    def send(self, socket: zmq.Socket[bytes], to: list[bytes], request: Any, kind: str, content: Any) -> None:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": "",
            "username": "",
            "date": "",
            "version": "5",
        }
        parts = [json.dumps(part).encode() for part in (header, request, {}, content)]
        signature = hmac.new(self.key, b"".join(parts), hashlib.sha256).hexdigest().encode()
        socket.send_multipart([*to, DELIMITER, signature, *parts])


if __name__ == "__main__":
    Kernel(json.loads(Path(sys.argv[1]).read_text())).serve()
