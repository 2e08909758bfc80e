"""Runs the fuzzers: `python -m tests.fuzz --seconds 600`, or some of them: `python -m tests.fuzz wire osc`.

Each gets the same share of the time. A case that fails is written to build/fuzz/NAME-NUMBER; when its cause is fixed,
it belongs into tests/fuzz/corpus/NAME/. `--first 123 --cases 1` runs a case by its number again, and a file as an
argument runs that file: `python -m tests.fuzz wire build/fuzz/wire-123`. Cases of `contexts` have no numbers.
"""

import argparse
import faulthandler
import logging
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz import contexts, screens
from tests.fuzz.target import Run, Target, time_limit
from tests.fuzz.targets import TARGETS

FOUND = Path("build/fuzz")
NAMES = (*TARGETS, "screens", "contexts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="NAME|FILE", help=f"any of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--seconds", type=float, default=600, help="how long to run (default: 600)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument("--cases", type=int, help="how many cases to run (default: as many as the time allows)")
    options = parser.parse_args()
    faulthandler.enable()
    logging.disable(logging.WARNING)  # the product's own remarks about bad input
    names = [name for name in options.what if name in NAMES] or list(NAMES)
    files = [Path(name) for name in options.what if name not in NAMES]
    failed = 0
    for name in names:
        seconds = options.seconds / len(names)
        if name == "screens":
            failed += len(screens.run_in_children(options.first, options.cases, seconds).failures)
        elif name == "contexts":
            failed += contexts.run(seconds)
        elif files:
            failed += run_files(TARGETS[name], files)
        else:
            failed += run_numbers(TARGETS[name], options.first, options.cases, seconds)
    sys.exit(1 if failed else 0)


def run_numbers(target: Target, first: int, cases: int | None, seconds: float) -> int:
    """Run the corpus and then cases until the time is up or `cases` are done. Returns the number of failures."""
    FOUND.mkdir(parents=True, exist_ok=True)
    end, number, failed = time.monotonic() + seconds, first, 0
    running = FOUND / f"{target.name}-running"  # what is left here has crashed the process
    with target.opened() as run:
        for path in target.corpus():
            failed += not passes(run, path.read_bytes(), str(path))
        while time.monotonic() < end and (cases is None or number < first + cases):
            case = target.case(number)
            running.write_bytes(case)
            if not passes(run, case, f"{target.name} {number}"):
                failed += 1
                (FOUND / f"{target.name}-{number}").write_bytes(case)
            number += 1
    running.unlink(missing_ok=True)
    print(f"{target.name}: {number - first} cases, {failed} failures", flush=True)
    return failed


def run_files(target: Target, files: list[Path]) -> int:
    with target.opened() as run:
        return sum(not passes(run, path.read_bytes(), str(path)) for path in files)


def passes(run: Run, case: bytes, name: str) -> bool:
    try:
        with time_limit():
            run(case)
    except Exception:  # the point of a fuzzer
        print(f"! {name}\n{traceback.format_exc(limit=-6)}", flush=True)
        return False
    return True


if __name__ == "__main__":
    main()
