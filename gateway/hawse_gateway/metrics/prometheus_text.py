"""Writes Prometheus's text format, version 0.0.4: a sequence of metric families.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


class Family(NamedTuple):
    """A metric's name, type and help text. A counter's name ends with `_total`."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str


class Histogram(NamedTuple):
    """The number of observations in each bucket. The last bucket is for values above the last bound."""

    bounds: Sequence[float]
    counts: Sequence[int]
    total: float  # the sum of all values observed


class Exposition:
    """The text of a metrics response. Add each family once, with all of its samples."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, family: Family, samples: Iterable[tuple[Labels, float | Histogram]]) -> None:
        """Add a family with its samples. A family without samples is left out."""
        head = [f"# HELP {family.name} {_escape(family.help)}", f"# TYPE {family.name} {family.kind}"]
        for labels, value in samples:
            self._lines += head
            head = []
            if isinstance(value, Histogram):
                self._histogram(family.name, labels, value)
            else:
                self._sample(family.name, labels, value)

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def _histogram(self, name: str, labels: Labels, histogram: Histogram) -> None:
        below = 0
        for bound, count in zip((*histogram.bounds, "+Inf"), histogram.counts, strict=True):
            below += count
            self._sample(f"{name}_bucket", {**labels, "le": str(bound)}, below)
        self._sample(f"{name}_sum", labels, histogram.total)
        self._sample(f"{name}_count", labels, below)

    def _sample(self, name: str, labels: Labels, value: float) -> None:
        pairs = ",".join(f'{label}="{_escape(text, quotes=True)}"' for label, text in labels.items())
        self._lines.append(f"{name}{{{pairs}}} {value!r}" if pairs else f"{name} {value!r}")


def _escape(text: str, *, quotes: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text
