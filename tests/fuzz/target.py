"""The definition of a fuzzer, for `make fuzz` (tests/fuzz/__main__.py) and the test suite.

A case is bytes, generated from its number alone, so that it is reproducible. Cases that once failed are files in
tests/fuzz/corpus/NAME/, and always run before the numbered cases.
"""

import random
import signal
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CASE_SECONDS = 30  # of CPU time, after which a case fails: it normally takes a few milliseconds
WAIT_SECONDS = 120  # the limit for a waiting case: other programs may keep the machine busy

Run = Callable[[bytes], None]


class CaseTimeoutError(Exception):
    """A case took too long. Not a `TimeoutError`, which the product would handle as an `OSError`."""


@dataclass(frozen=True)
class Target:
    """One fuzzer.

    Attributes:
        name: The name of its corpus folder.
        make: Generates a case with a seeded generator.
        opened: Prepares shared resources, such as a server. Its value runs one case and raises if the case fails.
        cases: The number of numbered cases that `make test` runs, in a few seconds.
    """

    name: str
    make: Callable[[random.Random], bytes]
    opened: Callable[[], AbstractContextManager[Run]]
    cases: int

    def __str__(self) -> str:
        return self.name

    def case(self, number: int) -> bytes:
        """Return the case with this number, always the same."""
        return self.make(random.Random(number))

    def corpus(self) -> list[Path]:
        return sorted(path for path in (CORPUS / self.name).glob("*") if path.is_file())


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise `CaseTimeoutError` in the main thread if a case takes too long, even in a pure Python loop."""

    def stop(number: int, frame: types.FrameType | None) -> None:
        raise CaseTimeoutError(f"the case took more than {CASE_SECONDS} s of processor time, or {WAIT_SECONDS} s")

    limits = (
        (signal.ITIMER_PROF, signal.SIGPROF, CASE_SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, WAIT_SECONDS),
    )
    before = [signal.signal(signum, stop) for _, signum, _ in limits]
    try:
        for timer, _, seconds in limits:
            signal.setitimer(timer, seconds)
        yield
    finally:
        for timer, _, _ in limits:
            signal.setitimer(timer, 0)
        for (_, signum, _), handler in zip(limits, before, strict=True):
            signal.signal(signum, handler)


def stateless(run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """Return the `opened` of a target without shared resources."""

    @contextmanager
    def opened() -> Iterator[Run]:
        yield run

    return opened
