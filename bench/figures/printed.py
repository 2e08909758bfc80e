"""The output of programs that print more than plain lines. The table has one row per corpus of `bench.corpora`."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpora import CORPORA, corpus
from bench.drive import NaivePty
from bench.figures.bulk import GATE, measured
from bench.lab import Figures, Lab

FILE = 4_000_000  # bytes per corpus
TIMES = 8  # number of times a program prints the corpus


async def printed(lab: Lab, number: int) -> Figures:
    """Measure each corpus while it is printed in a cooked terminal."""
    figures: Figures = {}
    with TemporaryDirectory() as folder:
        for at, name in enumerate(CORPORA):
            path = Path(folder, str(at))
            total = TIMES * _write(path, name)
            figures |= await _printed(lab, f"printed-{at}-{number}", name, "cat" + f" {path}" * TIMES, total)
    return figures


def _write(path: Path, name: str) -> int:
    """Write the corpus `name` to a file. Return the number of bytes that a cooked terminal prints for it."""
    data = corpus(name, FILE)
    path.write_bytes(data)
    return len(data) + data.count(b"\n")  # each LF becomes CR LF


async def _printed(lab: Lab, terminal: str, mode: str, command: str, total: int) -> Figures:
    speed, spent = await lab.read_pty(command)
    figures = {(f"output {mode}, MB/s", "limit"): speed, (f"CPU {mode}, s / 100 MB", "limit"): spent}

    naive = await NaivePty.open(lab.naive, GATE + command)
    figures |= await measured(mode, total, "naive", naive.output, partial(naive.send, b"k"), lab.naive_pid)
    naive.close()

    hawse = await lab.hawse()
    ch = await hawse.terminal(terminal, GATE + command)
    figures |= await measured(mode, total, "hawse", hawse.outputs[ch], partial(hawse.send, ch, b"k"), *lab.hawse_pids)
    hawse.close()
    return figures
