"""A page with server-sent events and an upload. Run it with a port; it uses Python's standard library alone."""

import hashlib
import json
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"""<!doctype html><title>web</title>
<ul id="events"></ul><input type="file" id="file"><p id="digest"></p><p id="proto"></p>
<script>
new EventSource("events").onmessage = ({ data }) => {
  const item = document.createElement("li");
  item.textContent = data;
  document.querySelector("#events").append(item);
};
document.querySelector("#file").onchange = async ({ target }) => {
  const response = await fetch("upload", { method: "PUT", body: target.files[0] });
  document.querySelector("#digest").textContent = await response.text();
};
</script>
"""
listeners: list[queue.Queue[str]] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/events":
            self._events()
        elif self.path == "/headers":
            self._answer(
                "application/json", json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
            )
        else:
            self._answer("text/html", PAGE)

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        for listener in list(listeners):
            listener.put(text)
        self._answer("text/plain", b"published")

    def do_PUT(self) -> None:
        digest = hashlib.sha256()
        for part in self._body():
            digest.update(part)
        self._answer("text/plain", digest.hexdigest().encode())

    def _body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return
        left = int(self.headers["Content-Length"])
        while left and (part := self.rfile.read(min(left, 1 << 20))):
            left -= len(part)
            yield part

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _events(self) -> None:
        mine: queue.Queue[str] = queue.Queue()
        listeners.append(mine)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"data: connected\n\n")
        while True:
            self.wfile.write(f"data: {mine.get()}\n\n".encode())


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
