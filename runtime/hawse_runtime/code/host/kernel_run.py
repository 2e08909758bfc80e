"""What a host knows of one run of code in a kernel."""

import time
from collections import deque
from typing import Any, Final

from hawse_runtime.code.host.deno_fence import Fence

QUESTIONS: Final = 100  # at most so many wait for their mark: code may send requests of its own


class KernelRun:
    """A run in progress."""

    def __init__(self, number: int, *, silent: bool = False) -> None:
        self.number = number
        self.silent = silent  # not a run of a client: nothing is sent
        self.started = time.monotonic()
        self.reply: dict[str, Any] | None = None  # of the shell channel
        self.idle = False  # all its output was received
        self.fence: Fence | None = None  # finds the end of its output, since its reply
        self.seen = self.started  # when the last output was received
        self.bundles = 0  # bytes of large values that were sent
        self.questions: deque[dict[str, Any]] = deque(maxlen=QUESTIONS)  # of `input`, not sent yet
        self.marks = 0  # marks among the output whose question has not come

    def next_question(self, *, marked: bool) -> dict[str, Any] | None:
        """Take the next question that may be sent: if they are `marked`, after all output before its mark."""
        if not self.questions or (marked and not self.marks):
            return None
        self.marks = max(self.marks - 1, 0)
        return self.questions.popleft()
