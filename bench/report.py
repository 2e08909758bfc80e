"""The report: a table of medians with their spread, the ratio of hawse to the naive server, and the targets."""

import statistics
from typing import NamedTuple

from bench.lab import Figures


class Target(NamedTuple):
    """The limits of a figure. If `of_naive` is set, they are multiples of the naive server's value in the same run."""

    most: float | None = None
    least: float | None = None
    of_naive: bool = False

    def met(self, hawse: float, naive: float | None) -> bool:
        value = hawse / naive if self.of_naive and naive else hawse
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def __str__(self) -> str:
        text = f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}"
        return f"{text} × naive" if self.of_naive else text


TARGETS = {
    "echo, p50 ms": Target(most=1.6, of_naive=True),  # this figure and the next two are for the compiled build
    "echo, p99 ms": Target(most=2, of_naive=True),
    "echo, CPU µs a key": Target(most=1.8, of_naive=True),
    "echo beside a flood, p50 ms": Target(most=1),
    "echo beside a flood, p99 ms": Target(most=3),
    "echo beside a flood, own socket, p50 ms": Target(most=1),
    "echo beside a flood, own socket, p99 ms": Target(most=3),
    "echo beside displays, p99 ms": Target(most=20),  # the kernel and the servers share a core
    "output raw, MB/s": Target(least=1, of_naive=True),
    "output cooked, MB/s": Target(least=1, of_naive=True),
    "CPU raw, s / 100 MB": Target(most=1.6, of_naive=True),
    "CPU cooked, s / 100 MB": Target(most=1.6, of_naive=True),
    "output log, MB/s": Target(least=0.8, of_naive=True),
    "CPU log, s / 100 MB": Target(most=1.5, of_naive=True),
    "Ctrl-C in a flood, ms": Target(most=5),
    "Ctrl-C in a flood, 1 MB/s reader, ms": Target(most=150),
    "stale output, 1 MB/s reader, KiB": Target(most=256),
    "growth, 1 MB/s reader, MiB": Target(most=8),
    "reattach, ms": Target(most=15),
    "reattach, bytes lost or doubled": Target(most=0),
    "20 viewers, MB/s": Target(least=500),
    "20 viewers beside a stalled one, of alone": Target(least=0.95),
    "500 terminals, KiB each": Target(most=64),
    "500 idle terminals, % of a core": Target(most=0.2),
    "50 typists, p50 ms": Target(most=1.7, of_naive=True),
    "50 typists, p99 ms": Target(most=2, of_naive=True),
    "50 typists, % of a core": Target(most=2, of_naive=True),
    "connect to prompt, ms": Target(most=2.5, of_naive=True),
    "exec true, p50 ms": Target(most=4),
    "calls, /s": Target(least=3000),
    "code 1 + 1, p50 ms": Target(most=1.5, of_naive=True),
    "code, added ms": Target(most=5),
    "new context, ms": Target(most=20),
}


def summarize(rounds: list[Figures]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the median, minimum and maximum by figure and server."""
    summary: dict[str, dict[str, dict[str, float]]] = {}
    for key in dict.fromkeys(key for figures in rounds for key in figures):
        values = [figures[key] for figures in rounds if key in figures]
        entry = {"median": statistics.median(values), "min": min(values), "max": max(values)}
        summary.setdefault(key[0], {})[key[1]] = entry
    return summary


def table(summary: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = [f"{'figure':42}{'limit':>10}{'naive':>10}{'hawse':>10}{'spread':>20}{'ratio':>8}  target"]
    for name, entries in summary.items():
        hawse, naive = entries.get("hawse"), entries.get("naive")
        cells = [
            f"{entries[server]['median']:10.3g}" if server in entries else f"{'':10}"
            for server in ("limit", "naive", "hawse")
        ]
        spread = f"{hawse['min']:.3g} … {hawse['max']:.3g}" if hawse else ""
        ratio = f"{hawse['median'] / naive['median']:.2f}" if hawse and naive and naive["median"] else ""
        target = TARGETS.get(name)
        verdict = ""
        if target is not None and hawse is not None:
            met = target.met(hawse["median"], naive["median"] if naive else None)
            verdict = f"{target} {'met' if met else 'NOT MET'}"
        lines.append(f"{name:42}{''.join(cells)}{spread:>20}{ratio:>8}  {verdict}")
    return "\n".join(lines)
