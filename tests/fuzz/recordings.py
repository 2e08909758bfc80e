"""Fuzzes recording files, which the runtime reads when it starts and which programs in the sandbox can damage.

A case is JSON: the files in the recordings folder, by name. Whatever they contain, the runtime starts, lists the intact
recordings with the sizes of their files, and finds the same recordings after a restart.
"""

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from hawse.api.recordings import RecordingInfo
from hawse_runtime.core.folder import Folder
from hawse_runtime.recording.asciicast import event, header
from hawse_runtime.recording.cast_writer import PARTS
from hawse_runtime.recording.storage import RecordingStore
from tests.fuzz.mutations import ODD_TEXTS, mutated, odd_value
from tests.fuzz.target import Target, stateless

TOKENS = (
    b"\n",
    b"[]\n",
    b"[",
    b'{"at":-1}\n',
    b"[1e308,\n",
    b"null\n",
    b'{"t":"x","at":1}\n',
    b"[" * 3000,
    b"5\n",
    b"\xff",
)
KINDS = ("file", "file", "file", "fifo", "directory", "link", "dangling")

Files = dict[str, dict[str, str]]


def make(rng: random.Random) -> bytes:
    files: Files = {}
    for number in range(rng.randint(1, 3)):
        files |= _recording(rng, f"r-{number}")
    for name in list(files):
        if rng.random() < 0.1:
            files[name] = {"kind": rng.choice(KINDS), "data": ""}
        elif rng.random() < 0.05:
            del files[name]
    return json.dumps(files).encode()


def _recording(rng: random.Random, name: str) -> Files:
    """Return the files of an unfinished or finished recording, some of them damaged."""
    cast = header(80, 24, timestamp=1.0, term="xterm", title=None, env={})
    index = b""
    screens = b"\x1bcscreen" * 3
    time = 0.0
    for number in range(rng.randint(0, 20)):
        cast += event(number, rng.choice("oirmx"), "text")
        time += number / 1000
        if rng.random() < 0.3:
            index += (
                msgspec.json.encode({"t": time, "at": len(cast), "screen": 0, "size": 8, "cols": 80, "rows": 24})
                + b"\n"
            )
        if rng.random() < 0.2:
            index += msgspec.json.encode({"t": time, "label": "x"}) + b"\n"
    info: dict[str, Any] = {
        **{"id": name, "terminal": "t", "instance": "i", "input": False, "cols": 80, "rows": 24, "started": 1.0},
        **{"state": rng.choice(("recording", "finished")), "message": "", "duration": time, "size": len(cast)},
        **{"screens": len(screens), "index": len(index), "markers": 0, "lost": 0, "truncated": False},
    }
    if rng.random() < 0.4:
        info[rng.choice([*info, "reason", "title"])] = odd_value(rng)
    described = json.dumps(info).encode()
    contents = {"json": described, "cast": cast, "index": index, "screens": screens}
    contents = {part: mutated(rng, data, TOKENS) if rng.random() < 0.3 else data for part, data in contents.items()}
    if rng.random() < 0.1:
        line = json.dumps(rng.choice(([odd_value(rng), "o", "x"], odd_value(rng)))).encode() + b"\n"
        contents[rng.choice(("cast", "index"))] += line
    stem = rng.choice(ODD_TEXTS[:6]) if rng.random() < 0.05 else name
    stem = stem.replace("/", "_")
    return {f"{stem}.{part}": {"kind": "file", "data": data.decode("latin-1")} for part, data in contents.items()}


def run(case: bytes) -> None:
    """Run one case. Raises `AssertionError`, or the product's exception."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "recordings")
        folder.mkdir()
        for name, file in json.loads(case).items():
            _plant(folder / name, file["kind"], file["data"].encode("latin-1"))
        first = loaded(folder)
        assert loaded(folder) == first, "a second start finds other recordings"


def _plant(path: Path, kind: str, data: bytes) -> None:
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "link":
            path.symlink_to("/dev/zero")  # endless
        case "dangling":
            path.symlink_to("nowhere")
        case _:
            path.write_bytes(data)


def loaded(folder: Path) -> list[RecordingInfo]:
    infos = list(RecordingStore(Folder(folder)).load())
    for info in infos:
        assert info.state == "finished"
        msgspec.json.encode(info)
        assert info.duration >= 0
        for part, size in zip(PARTS, (info.size, info.screens, info.index), strict=True):
            path = folder / f"{info.id}.{part}"
            most = path.stat().st_size if path.is_file() and not path.is_symlink() else 0
            assert 0 <= size <= most, f"{part}: {size}, but the file has {most}"
    return infos


TARGET = Target("recordings", make, stateless(run), cases=150)
