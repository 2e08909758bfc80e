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
CASE_SECONDS = 30  # after which a case has failed: one takes some milliseconds

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
def time_limit(seconds: float = CASE_SECONDS) -> Iterator[None]:
    """Raise `CaseTimeoutError` in the main thread, also out of a loop of pure Python, after `seconds`."""

    def stop(number: int, frame: types.FrameType | None) -> None:
        raise CaseTimeoutError(f"the case took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stateless(run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """The `opened` of a target whose cases need nothing prepared."""

    @contextmanager
    def opened() -> Iterator[Run]:
        yield run

    return opened
