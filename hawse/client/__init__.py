"""The Python client: `async with connect(url, token=…) as hw: await hw.sandbox().exec("uname -a")`."""

from hawse.api.automation import CommandInfo, History, Match, ScreenView, Sent, Waited
from hawse.api.files import FileDone, FileEntry, FileStat
from hawse.api.git import Author, Credentials
from hawse.api.ports import OpenPort
from hawse.api.processes import LogMatch, ProcessInfo
from hawse.api.recordings import Recording as RecordingInfo
from hawse.api.types import Exit
from hawse.api.watches import Change, Rescan, WatchState
from hawse.client.base.errors import (
    BusyError,
    ClientClosedError,
    CommandError,
    GaveUpError,
    RefusedError,
    TruncatedError,
)
from hawse.client.base.options import Options
from hawse.client.base.results import (
    Answers,
    Attached,
    ExecResult,
    FileInfo,
    Joined,
    Lease,
    LeaseChanged,
    Left,
    Live,
    Output,
    PresenceChanged,
    Repaint,
    Resized,
    Snapshot,
    State,
    TerminalEvent,
    Viewer,
)
from hawse.client.client import Client, connect
from hawse.client.files.files import Files
from hawse.client.ports import Preview
from hawse.client.process.process import Process
from hawse.client.process.session import Session, SessionResult
from hawse.client.sandbox import Sandbox
from hawse.client.terminal.automation import Ran
from hawse.client.terminal.recording import Recording
from hawse.client.terminal.terminal import Terminal
from hawse.client.watch import Watch
from hawse.wire import HawseError

__all__ = [
    "Answers",
    "Attached",
    "Author",
    "BusyError",
    "Change",
    "Client",
    "ClientClosedError",
    "CommandError",
    "CommandInfo",
    "Credentials",
    "ExecResult",
    "Exit",
    "FileDone",
    "FileEntry",
    "FileInfo",
    "FileStat",
    "Files",
    "GaveUpError",
    "HawseError",
    "History",
    "Joined",
    "Lease",
    "LeaseChanged",
    "Left",
    "Live",
    "LogMatch",
    "Match",
    "OpenPort",
    "Options",
    "Output",
    "PresenceChanged",
    "Preview",
    "Process",
    "ProcessInfo",
    "Ran",
    "Recording",
    "RecordingInfo",
    "RefusedError",
    "Repaint",
    "Rescan",
    "Resized",
    "Sandbox",
    "ScreenView",
    "Sent",
    "Session",
    "SessionResult",
    "Snapshot",
    "State",
    "Terminal",
    "TerminalEvent",
    "TruncatedError",
    "Viewer",
    "Waited",
    "Watch",
    "WatchState",
    "connect",
]
