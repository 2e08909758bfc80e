"""The life cycle of a channel: a table of its states and the steps they allow, and its two credit windows.

Rules (docs/wire.md sections 2 and 4):
- the client opens a channel with `call`; the server closes it with exactly one `result` or `error`;
- only the client sends `end` and `cancel`, and after either it sends no more input;
- the server sends nothing on a closed channel; messages from the client that arrive there were in transit and are
  ignored;
- a step not in the table is a protocol error by its sender.
"""

from enum import Enum
from typing import Any, Final


class ChannelState(Enum):
    __hash__ = object.__hash__  # members are singletons; Enum.__hash__ is written in Python and too slow for frames

    IDLE = "idle"
    OPEN = "open"
    ENDED = "ended"  # the client has sent `end`: no more input
    CANCELLING = "cancelling"  # the client has sent `cancel` and is waiting for `result` or `error`
    CLOSED = "closed"


class Step(Enum):
    __hash__ = object.__hash__

    # by the client
    CALL = "call"
    INPUT = "input frame"
    END = "end"
    CANCEL = "cancel"
    CLIENT_CREDIT = "credit from the client"
    # by the server
    EVENT = "event"
    OUTPUT = "output frame"
    SERVER_CREDIT = "credit from the server"
    LAST = "result or error"


CLIENT_STEPS: Final = frozenset({Step.CALL, Step.INPUT, Step.END, Step.CANCEL, Step.CLIENT_CREDIT})
_SERVER_IN = (Step.EVENT, Step.OUTPUT, Step.SERVER_CREDIT)

TRANSITIONS: Final[dict[ChannelState, dict[Step, ChannelState]]] = {
    ChannelState.IDLE: {Step.CALL: ChannelState.OPEN},
    ChannelState.OPEN: {
        Step.INPUT: ChannelState.OPEN,
        Step.END: ChannelState.ENDED,
        Step.CANCEL: ChannelState.CANCELLING,
        Step.CLIENT_CREDIT: ChannelState.OPEN,
        **dict.fromkeys(_SERVER_IN, ChannelState.OPEN),
        Step.LAST: ChannelState.CLOSED,
    },
    ChannelState.ENDED: {
        Step.CANCEL: ChannelState.CANCELLING,
        Step.CLIENT_CREDIT: ChannelState.ENDED,
        **dict.fromkeys(_SERVER_IN, ChannelState.ENDED),
        Step.LAST: ChannelState.CLOSED,
    },
    ChannelState.CANCELLING: {
        Step.CLIENT_CREDIT: ChannelState.CANCELLING,
        **dict.fromkeys(_SERVER_IN, ChannelState.CANCELLING),
        Step.LAST: ChannelState.CLOSED,
    },
    ChannelState.CLOSED: dict.fromkeys((Step.INPUT, Step.END, Step.CANCEL, Step.CLIENT_CREDIT), ChannelState.CLOSED),
}


class Channel:
    """A channel's state on one side. It must not know about messages; `Connection` translates messages to steps."""

    __slots__ = (
        "ch",
        "input_open",
        "output_open",
        "receive_window",
        "returned",
        "send_window",
        "source",
        "spent",
        "state",
    )

    def __init__(self, ch: int, *, send_window: int, receive_window: int) -> None:
        self.ch = ch
        self.state = ChannelState.IDLE
        self.input_open = False  # whether input frames are allowed; they don't change the state
        self.output_open = False  # whether output frames are allowed; they don't change the state
        self.send_window = send_window  # number of bytes this side can still send; negative after a large event
        self.spent = 0  # total number of bytes of the send window used so far
        self.returned = 0  # number of bytes in `spent` that have been returned by credit
        self.receive_window = receive_window  # number of bytes the peer can still send
        self.source: Any = None  # the `Source` that a `FairWriter` pulls from; released with the channel

    def step(self, step: Step) -> bool:
        """Take `step` and return True if the table allows it. Otherwise, change nothing and return False."""
        state = TRANSITIONS[self.state].get(step)
        if state is None:
            return False
        if state is not self.state:
            self.state = state
            self.input_open, self.output_open = Step.INPUT in TRANSITIONS[state], Step.OUTPUT in TRANSITIONS[state]
        return True
