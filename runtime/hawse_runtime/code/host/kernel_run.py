"""The host's state for a run of code in a kernel."""

import time
from collections import deque
from typing import Any, Final

from hawse_runtime.code.host.deno_fence import Fence

QUESTIONS: Final = 100  # maximum number of prompts waiting for their marks; code can send prompts without marks


class KernelRun:
    """A run in progress."""

    def __init__(self, number: int, *, silent: bool = False) -> None:
        self.number = number
        self.silent = silent  # whether this is an internal run; nothing about it is sent to the runtime
        self.started = time.monotonic()
        self.reply: dict[str, Any] | None = None  # the reply on the shell channel
        self.idle = False  # whether all output has been received
        self.fence: Fence | None = None  # finds the end of the output; set once the reply has arrived
        self.seen = self.started  # when output was last received
        self.bundles = 0  # total size in bytes of the large values that were sent
        self.questions: deque[dict[str, Any]] = deque(maxlen=QUESTIONS)  # prompts of `input` that have not been sent
        self.marks = 0  # number of marks in the output whose prompts haven't arrived yet

    def next_question(self, *, marked: bool) -> dict[str, Any] | None:
        """Remove and return the next prompt that can be sent. If `marked`, a prompt can be sent only after its mark."""
        if not self.questions or (marked and not self.marks):
            return None
        self.marks = max(self.marks - 1, 0)
        return self.questions.popleft()
