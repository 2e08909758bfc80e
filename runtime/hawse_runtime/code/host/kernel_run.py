"""The host's state of one run of code in a kernel."""

import time
from collections import deque
from typing import Any, Final

from hawse_runtime.code.host.deno_fence import Fence

QUESTIONS: Final = 100  # prompts that wait for their mark: code can send prompts directly


class KernelRun:
    """A run in progress."""

    def __init__(self, number: int, *, silent: bool = False) -> None:
        self.number = number
        self.silent = silent  # not a run of a client: nothing is sent
        self.started = time.monotonic()
        self.reply: dict[str, Any] | None = None  # of the shell channel
        self.idle = False  # all its output has been received
        self.fence: Fence | None = None  # finds the end of its output; set with the reply
        self.seen = self.started  # when the last output was received
        self.bundles = 0  # bytes of large values that were sent
        self.questions: deque[dict[str, Any]] = deque(maxlen=QUESTIONS)  # of `input`, not sent yet
        self.marks = 0  # marks in the output whose prompt has not arrived

    def next_question(self, *, marked: bool) -> dict[str, Any] | None:
        """Take the next prompt that can be sent: if prompts are `marked`, only after the output before its mark."""
        if not self.questions or (marked and not self.marks):
            return None
        self.marks = max(self.marks - 1, 0)
        return self.questions.popleft()
