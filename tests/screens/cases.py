"""Cuts recordings at random offsets, and compares xterm.js after a snapshot with xterm.js after all output.

To print the table of docs/screens.md: `python -m tests.screens.cases [OFFSETS [NAME…]]`.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from hawse_runtime.screen.deferred_output import unfinished
from hawse_runtime.screen.emulator.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.raw"))
SEED = "hawse"
# Invisible differences: the number of the same colour, the style of a blank, an empty cell instead of a space.
UNSEEN = ("16 as 256", "blank's style", "hole")

# The differences that remain, by program: docs/screens.md has the reasons.
KNOWN = {
    "test-card": ("tabs", "modes", "text", "style", "foreground", "background", "cursor"),
    "tmux": ("modes",),
}


class Resize(NamedTuple):
    """The output from offset `at` on is for this size."""

    at: int
    cols: int
    rows: int


class Cut(NamedTuple):
    """Where a snapshot is taken: at an offset of the output, after so many resizes."""

    at: int
    resized: int = 0


def write_case(recording: Path, offsets: int, into: Path) -> dict[str, Any]:
    """Write snapshots at `offsets` offsets of one recording into one file; return the description for `replay.ts`."""
    cols, rows = size_of(recording)
    data = recording.read_bytes()
    choice = random.Random(f"{SEED} {recording.name}")
    cuts = [Cut(at) for at in sorted(choice.randint(0, len(data)) for _ in range(offsets))]
    case = {"name": recording.stem, "cols": cols, "rows": rows, "recording": str(recording)}
    return case | write_cuts(Screen(cols, rows), data, [], cuts, into / f"{recording.stem}.snapshots")


def write_cuts(screen: Screen, data: bytes, resizes: list[Resize], cuts: list[Cut], file: Path) -> dict[str, Any]:
    """Write a snapshot at each of `cuts` to `file`, and close `screen`; return their part of the description."""
    fed = resized = 0
    described = []
    with file.open("wb") as out:
        for cut in cuts:
            while resized < cut.resized:
                at, *size = resizes[resized]
                fed = _feed(screen, data, fed, at)
                screen.resize(*size)
                resized += 1
            fed = _feed(screen, data, fed, cut.at)
            snapshot = screen.snapshot()
            described.append({"at": fed, "size": len(snapshot), "resized": resized})
            out.write(snapshot)
    screen.close()
    return {"snapshots": file.name, "resizes": [each._asdict() for each in resizes], "cuts": described}


def _feed(screen: Screen, data: bytes, fed: int, to: int) -> int:
    """Feed whole characters up to offset `to`; return the offset after them."""
    whole = to - unfinished(data[max(0, to - 3) : to])
    screen.feed(data[fed:whole])
    return max(fed, whole)


def size_of(recording: Path) -> tuple[int, int]:
    found = re.search(r"-(\d+)x(\d+)$", recording.stem)
    assert found, recording
    return int(found[1]), int(found[2])


def program_of(recording: Path) -> str:
    return recording.stem.rsplit("-", 1)[0]


def outcomes(recordings: Iterable[Path], offsets: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as directory:
        cases = [write_case(recording, offsets, Path(directory)) for recording in recordings]
        return replayed(cases, Path(directory))


def replayed(cases: list[dict[str, Any]], directory: Path) -> list[dict[str, Any]]:
    """Replay cases that were written into `directory` in Node; return the outcome of each (see `replay.ts`)."""
    (directory / "cases.json").write_text(json.dumps(cases))
    node = ["node", "test/screens/main.mjs", str(directory)]
    ran = subprocess.run(node, cwd=ROOT / "web", capture_output=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr.decode())
    found: list[dict[str, Any]] = json.loads((directory / "outcomes.json").read_text())
    return found


def seen(differences: dict[str, Any]) -> dict[str, Any]:
    return {kind: what for kind, what in differences.items() if not kind.endswith(UNSEEN)}


def main(offsets: int, names: list[str]) -> None:
    chosen = [path for path in RECORDINGS if not names or any(name in path.name for name in names)]
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    total: Counter[str] = Counter()
    for outcome in outcomes(chosen, offsets):
        here: Counter[str] = Counter()
        for cut in outcome["cuts"]:
            both = {**cut["end"], **cut["there"]}
            verdict = "different" if seen(both) else "unseen" if both else "equal"
            here[verdict] += 1
            for kind, what in both.items():
                kinds[kind] += 1
                here[kind] += kind not in UNSEEN
                place = "there" if kind in cut["there"] else "end"
                examples.setdefault(
                    kind, f"{outcome['name']} at {cut['at']} {place}, {what['count']}: {what['example']}"
                )
        total.update({verdict: here[verdict] for verdict in ("equal", "unseen", "different")})
        rest = {kind: n for kind, n in here.items() if kind not in ("equal", "unseen", "different") and n}
        print(f"| {outcome['name']} | {here['equal']} | {here['unseen']} | {here['different']} | {rest or ''} |")
    print(dict(total))
    for kind, n in kinds.most_common():
        print(f"{n:6} {kind}: {examples[kind][:900]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, sys.argv[2:])
