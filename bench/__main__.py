"""Measure hawse, the naive server and the machine's limits in alternating rounds. Prints a table and writes a file.

`make bench` runs this and writes build/bench.json; `make bench ARGS="echo output --rounds 3"` measures only two
figures. Absolute numbers depend on the machine: compare ratios, and only from runs on an otherwise idle machine.
"""

import argparse
import json
import os
import platform
from pathlib import Path

import uvloop

from bench.figures import FIGURES
from bench.lab import CLIENT, SERVERS, Figures, open_lab
from bench.report import summarize, table

ROUNDS = 5
RESULT = Path("build/bench.json")


async def measure(names: list[str], rounds: int) -> list[Figures]:
    found: list[Figures] = []
    async with open_lab() as lab:
        for number in range(rounds):
            figures: Figures = {}
            for name in names:
                figures |= await FIGURES[name](lab, number)
                print(".", end="", flush=True)
            found.append(figures)
    print()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("figures", nargs="*", metavar="figure", help=f"of: {', '.join(FIGURES)}; all by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args()
    if unknown := set(args.figures) - set(FIGURES):
        parser.error(f"unknown figures: {', '.join(sorted(unknown))}")
    load = os.getloadavg()[0]
    rounds = uvloop.run(measure(args.figures or list(FIGURES), args.rounds))
    summary = summarize(rounds)
    print(f"client on core {CLIENT}, servers on {SERVERS}; load before: {load:.1f}; {len(rounds)} rounds, medians")
    print(table(summary))
    RESULT.parent.mkdir(exist_ok=True)
    about = {"python": platform.python_version(), "kernel": platform.release(), "cores": os.cpu_count(), "load": load}
    RESULT.write_text(json.dumps({"about": about, "summary": summary}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
