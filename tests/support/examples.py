"""Complete values of server messages, for fake servers. Tests change relevant fields with `|`."""

from typing import Any

WAITING: dict[str, Any] = {
    "kind": "no",
    "idle_shell": False,
    "guess": False,
    "since": None,
    "command": None,
    "prompt": None,
}
TERMINAL: dict[str, Any] = {
    "id": "t",
    "instance": "i",
    "pid": 42,
    "cols": 80,
    "rows": 24,
    "argv": ["/bin/bash"],
    "cwd": "/workspace",
    "title": None,
    "started": 1.5,
    "state": "running",
    "exit": None,
    "ended": None,
    "start": 0,
    "offset": 0,
    "viewers": 1,
    "waiting": WAITING,
}
PERSON: dict[str, Any] = {
    "id": "v1",
    "name": "guest-1",
    "color": "#5ad1c8",
    "kind": "person",
    "read_only": False,
    "typing": False,
    "focus": False,
    "at": None,
    "guest": False,
    "asks": False,
    "unanswered": False,
    "scroll": 0,
    "view": "",
}
LEASE: dict[str, Any] = {"mode": "free", "holder": None, "epoch": 0}
OPENED: dict[str, Any] = TERMINAL | {
    "start_at": "start",
    "from": 0,
    "screen": 0,
    "input_offset": 0,
    "answers": False,
    "read_only": False,
    "viewer": "v1",
    "presence": [],
    "lease": LEASE,
}
RECORDING: dict[str, Any] = {
    "id": "r-1",
    "terminal": "t",
    "desktop": None,
    "instance": "i",
    "title": None,
    "input": False,
    "cols": 80,
    "rows": 24,
    "started": 1.5,
    "state": "recording",
    "reason": None,
    "message": "",
    "duration": 0.5,
    "size": 0,
    "screens": 0,
    "index": 0,
    "markers": 0,
    "lost": 0,
    "truncated": False,
}
