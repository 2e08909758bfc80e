"""The Python client: `async with connect(url, token=…) as hw: await hw.sandbox().exec("uname -a")`."""

from hawse.client.client import Client, connect
from hawse.client.errors import (
    BusyError,
    ClientClosedError,
    CommandError,
    GaveUpError,
    RefusedError,
    TruncatedError,
)
from hawse.client.options import Options
from hawse.client.process import Process
from hawse.client.recording import Recording
from hawse.client.replies import FileDone, FileStat, RecordingInfo
from hawse.client.results import (
    Answers,
    Attached,
    ExecResult,
    Exit,
    FileInfo,
    Live,
    Joined,
    Lease,
    LeaseChanged,
    Left,
    Output,
    Repaint,
    PresenceChanged,
    Resized,
    Snapshot,
    State,
    TerminalEvent,
)
    Viewer,
from hawse.client.sandbox import Sandbox
from hawse.client.terminal import Terminal
from hawse.wire import HawseError

__all__ = [
    "Answers",
    "Attached",
    "BusyError",
    "Client",
    "ClientClosedError",
    "CommandError",
    "ExecResult",
    "Exit",
    "FileDone",
    "FileInfo",
    "FileStat",
    "GaveUpError",
    "HawseError",
    "Live",
    "Joined",
    "Lease",
    "LeaseChanged",
    "Left",
    "Options",
    "Output",
    "Process",
    "Recording",
    "RecordingInfo",
    "PresenceChanged",
    "RefusedError",
    "Repaint",
    "Resized",
    "Sandbox",
    "Snapshot",
    "State",
    "Terminal",
    "TerminalEvent",
    "TruncatedError",
    "connect",
]
    "Viewer",
