"""Fuzzes the reading of operating system commands (OSC): titles, directories, command marks, links, the clipboard.

A case is the output of a program. However it is split, the same commands are found at the same offsets, and the
reported state is the same, bounded, and valid to send.
"""

import json
import random
import re

import msgspec

from hawse_runtime.journal.journal import Journal
from hawse_runtime.terminal.command_history import ANSWER_BYTES, KEPT, LINE_LIMIT
from hawse_runtime.terminal.osc_scanner import LIMIT, Osc, OscScanner
from hawse_runtime.terminal.shell_state import PATH_LIMIT, TITLE_LIMIT, ShellStateTracker
from tests.fuzz.mutations import mutated
from tests.fuzz.target import Target, stateless

ENDS = (b"\x07", b"\x1b\\", b"\x9c", b"\x18", b"\x1a", b"\x1b", b"", b"\x1b[0m", b"\xc2\x9c")
BODIES = (
    *(b"0;title", b"2;\xff\xfe", b"2;" + "汉".encode() * 500, b"0;a\x00b\x7f", b"1;icon", b"", b";", b"2", b"x" * 9000),
    *(b"7;file:///tmp", b"7;file://localhost/a%20b%00", b"7;file://other/x", b"7;kitty-shell-cwd://x/y", b"7;file://"),
    *(b"7;file:///%ff%fe%zz%", b"7;file:///" + b"a" * 5000, b"7;", b"9;9;C:\\x", b"8;;http://a/", b"8;;"),
    *(b"133;A", b"133;B", b"133;C", b"133;D;0", b"133;D;-99999999999", b"133;D;" + b"9" * 5000, b"133;D;x", b"133"),
    *(b"133;", b"133;C;x", b"133;A;cl=m;aid=1", b"633;E;ls\\x3b\\\\;nonce", b"633;E;\\xff\\x00\\xzz\\", b"633;E;"),
    *(b"633;E;" + b"\\x41" * 2000, b"52;c;eA==", b"52;c;?", b"52;" + b"A" * 9000, b"4;1;red", b"10;?", b"1337;File=:"),
)
TEXTS = (
    b"$ ",
    b"ls -l\r\n",
    b"\x1b[?2004l",
    b"\r\n",
    "汉字".encode(),
    b"\xe6\xb1",
    b"\x1b",
    b"]",
    b"\x1b\x1b]",
    b"x" * 400,
)
TOKENS = (*ENDS, b"\x1b]", b"\x1b]133;C\x07", b"\x9d", b"\xc2\x9d", b";", b"%00")
# The same grammar as one expression: an introducer, then anything except an end, then BEL or ST.
WHOLE = re.compile(rb"\x1b\]([^\x07\x18\x1a\x1b]*)(\x07|\x1b\\)")


def make(rng: random.Random) -> bytes:
    parts = []
    for _ in range(rng.randint(1, 40)):
        if rng.random() < 0.7:
            body = rng.choice(BODIES)
            parts.append(b"\x1b]" + (mutated(rng, body, most=2) if rng.random() < 0.3 else body) + rng.choice(ENDS))
        else:
            parts.append(rng.choice(TEXTS))
    return mutated(rng, b"".join(parts), TOKENS)


def run(case: bytes) -> None:
    """Run one case. Raises `AssertionError`, or the product's exception."""
    rng = random.Random(len(case))
    expected = [Osc(match.start(), match.end(), match[1]) for match in WHOLE.finditer(case) if len(match[1]) <= LIMIT]
    scanner = OscScanner()
    found = [osc for piece in _pieces(rng, case) for osc in scanner.feed(piece)]
    assert found == expected
    assert scanner.offset == len(case)
    whole, cut = _state([case]), _state(_pieces(rng, case))
    assert whole == cut


def _pieces(rng: random.Random, data: bytes) -> list[bytes]:
    pieces = []
    while data:
        size = rng.choice((1, 2, 3, 10, 1000, len(data)))
        pieces.append(data[:size])
        data = data[size:]
    return pieces


def _state(pieces: list[bytes]) -> object:
    """Return the tracker's report after these pieces, without times."""
    journal = Journal()
    tracker = ShellStateTracker(journal)
    for piece in pieces:
        journal.append(piece)
        tracker.catch_up()
    assert tracker.title is None or len(tracker.title) <= TITLE_LIMIT
    assert tracker.cwd is None or len(tracker.cwd.encode()) <= 3 * PATH_LIMIT  # each byte can become U+FFFD
    commands, _ = tracker.commands.list(KEPT, None)
    infos = [command.describe() for command in commands]
    encoded = msgspec.json.encode([tracker.title, tracker.cwd, infos])
    assert len(encoded) <= ANSWER_BYTES + 64 * LINE_LIMIT
    assert [info.number for info in infos] == list(
        range(infos[0].number, infos[0].number + len(infos)) if infos else ()
    )
    assert all(info.start <= (info.end or info.start) <= (info.after or len(pieces) * 10**9) for info in infos)
    value = json.loads(encoded)
    for info in value[2]:
        del info["started"]
        info.pop("ended", None)
    return value


TARGET = Target("osc", make, stateless(run), cases=300)
