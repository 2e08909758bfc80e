"""The hawse wire protocol, version 1: pure, no I/O, no asyncio. Its specification is docs/wire.md.

A carrier uses `Connection` in three steps: it passes in the data it receives, handles the events, and writes the data
to send. `FairWriter` chooses which channel sends next; `StreamDecoder` splits a plain byte stream into messages.
"""

from hawse.wire.connection import Connection, Role
from hawse.wire.errors import ERRORS, Admitted, HawseError, LocalProtocolError, RemoteProtocolError
from hawse.wire.fair_writer import FairWriter, FrameSource
from hawse.wire.frames import Data, Kind
from hawse.wire.limits import Limits
from hawse.wire.messages import (
    Call,
    Cancel,
    Credit,
    End,
    Error,
    Event,
    Goaway,
    Hello,
    Message,
    Ping,
    Pong,
    Principal,
    Result,
    Welcome,
)
from hawse.wire.stream import StreamDecoder, encode_stream

__all__ = [
    "ERRORS",
    "Admitted",
    "Call",
    "Cancel",
    "Connection",
    "Credit",
    "Data",
    "End",
    "Error",
    "Event",
    "FairWriter",
    "FrameSource",
    "Goaway",
    "HawseError",
    "Hello",
    "Kind",
    "Limits",
    "LocalProtocolError",
    "Message",
    "Ping",
    "Pong",
    "Principal",
    "RemoteProtocolError",
    "Result",
    "Role",
    "StreamDecoder",
    "Welcome",
    "encode_stream",
]
