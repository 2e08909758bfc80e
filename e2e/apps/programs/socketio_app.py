"""A Flask-SocketIO server that answers an event. Run it with a port and the path of socket.io's client for browsers."""

import sys

from flask import Flask, send_file
from flask_socketio import SocketIO

PAGE = """<!doctype html><title>socket.io</title><p id="transport"></p><p id="answer"></p>
<script src="socket.io.js"></script>
<script>
const socket = io({ path: new URL("socket.io", location.href).pathname });
socket.on("answer", (text) => {
  document.querySelector("#answer").textContent = text;
  document.querySelector("#transport").textContent = socket.io.engine.transport.name;
});
socket.io.on("open", () => socket.io.engine.on("upgrade", () => socket.emit("question", "six times seven")));
</script>
"""
app = Flask(__name__)
server = SocketIO(app, async_mode="threading")


@app.get("/")
def page():
    return PAGE


@app.get("/socket.io.js")
def client():
    return send_file(sys.argv[2])


@server.on("question")
def question(text):
    server.emit("answer", f"{text} is 42")


server.run(app, host="127.0.0.1", port=int(sys.argv[1]), allow_unsafe_werkzeug=True)
