"""What a fuzzer consists of, for `make fuzz` (tests/fuzz/__main__.py) and for the test suite.

A case is bytes. It is made from its number alone, so that it can be run again. A case that has once failed is a file in
tests/fuzz/corpus/NAME/, and is run each time before the numbered ones.
"""

import random
import signal
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CASE_SECONDS = 30  # of processor time, after which a case has failed: one takes some milliseconds
WAIT_SECONDS = 120  # the same for a case that waits: other programs may keep the machine busy

Run = Callable[[bytes], None]


class CaseTimeoutError(Exception):
    """A case took too long. Not a `TimeoutError`, which is an `OSError`: the product handles that."""


@dataclass(frozen=True)
class Target:
    """One fuzzer.

    Attributes:
        name: its folder of the corpus.
        make: makes a case with a seeded generator.
        opened: prepares what cases need, such as a server; its value runs one case and raises if that fails.
        cases: how many numbered cases `make test` runs, in some seconds.
    """

    name: str
    make: Callable[[random.Random], bytes]
    opened: Callable[[], AbstractContextManager[Run]]
    cases: int

    def __str__(self) -> str:
        return self.name

    def case(self, number: int) -> bytes:
        """The case of this number, always the same one."""
        return self.make(random.Random(number))

    def corpus(self) -> list[Path]:
        return sorted(path for path in (CORPUS / self.name).glob("*") if path.is_file())


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise `CaseTimeoutError` in the main thread, also out of a loop of pure Python, when a case takes too long."""

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
    """The `opened` of a target whose cases need nothing prepared."""

    @contextmanager
    def opened() -> Iterator[Run]:
        yield run

    return opened
