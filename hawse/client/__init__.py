"""The Python client: `async with connect(url, token=…) as hw: await hw.sandbox().exec("uname -a")`.

Names are loaded when they are first used: a program such as `hawse shell` starts faster without what it does not use.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hawse.api.automation import (
        CommandInfo,
        TerminalHistoryResult,
        TerminalScreenResult,
        TerminalSendResult,
        TerminalWaitResult,
    )
    from hawse.api.backups import BackupInfo, BackupProgress, BackupRestoreResult
    from hawse.api.code import CodeContextInfo, CodeError, CodeLanguage
    from hawse.api.edits import FileEditResult, TextEdit
    from hawse.api.extraction import FileExtractProgress, FileExtractResult
    from hawse.api.files import FileEntry, FileOpened, FileStatResult, FileTransferResult
    from hawse.api.git import GitAuthor, GitCredentials
    from hawse.api.images import ImageInfo, ImageProgress
    from hawse.api.people import Participant, WriterLease
    from hawse.api.ports import OpenPort
    from hawse.api.processes import LogMatch, ProcessInfo
    from hawse.api.recordings import RecordingInfo
    from hawse.api.sandboxes import SandboxInfo, SandboxLimits, SandboxPort
    from hawse.api.sessions import SessionInfo
    from hawse.api.terminals import TerminalInfo
    from hawse.api.types import Exit, OutputMatch
    from hawse.api.watches import WatchChangesResult, WatchedChange, WatchRescan
    from hawse.client.backups import Backups
    from hawse.client.base.causes import (
        CallCancelledError,
        CapacityExceededError,
        CleanupPendingError,
        ConflictError,
        ConnectionLostError,
        DeadlineExceededError,
        ExitedError,
        ForbiddenError,
        InputGapError,
        InputOverflowError,
        InternalError,
        InvalidParamsError,
        IoError,
        IsDirectoryError,
        KeyConflictError,
        LanguageUnavailableError,
        LeaseHeldError,
        LimitExceededError,
        NoSpaceError,
        NotDirectoryError,
        NotFoundError,
        OriginDeniedError,
        OutcomeUnknownError,
        PermissionDeniedError,
        SpawnFailedError,
        StaleHandleError,
        StoppedError,
        TooLargeError,
        UnauthenticatedError,
        UnavailableError,
        UnknownMethodError,
    )
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
        CommandResult,
        ConnectionState,
        Joined,
        LeaseChanged,
        Left,
        Live,
        Output,
        PresenceChanged,
        Repaint,
        Resized,
        Snapshot,
        TerminalEvent,
    )
    from hawse.client.calls.state_stream import StateStream
    from hawse.client.client import Client, connect
    from hawse.client.code.context import Callbacks, CodeContext
    from hawse.client.code.results import (
        CodeCleared,
        CodeEnd,
        CodeEvent,
        CodeInput,
        CodeLost,
        CodeRaised,
        CodeResult,
        CodeStderr,
        CodeStdout,
        RichResult,
    )
    from hawse.client.code.run import CodeRunStream
    from hawse.client.files.files import Files
    from hawse.client.images import Images
    from hawse.client.ports import Preview
    from hawse.client.process.process import Process
    from hawse.client.process.program import StartOptions
    from hawse.client.process.session import Session, SessionResult
    from hawse.client.sandbox import Sandbox
    from hawse.client.sandboxes import SandboxChange, SandboxChanges, SandboxCreation, Sandboxes
    from hawse.client.terminal.automation import RunResult
    from hawse.client.terminal.recording import Recording
    from hawse.client.terminal.terminal import Terminal
    from hawse.client.terminal.terminals import ViewerOptions
    from hawse.client.watch import Watch
    from hawse.wire import HawseError

# The modules of the names above. tests/client/test_client.py compares both.
_PLACES: Final = {
    "hawse.api.automation": (
        "CommandInfo TerminalHistoryResult TerminalScreenResult TerminalSendResult TerminalWaitResult"
    ),
    "hawse.api.backups": "BackupInfo BackupProgress BackupRestoreResult",
    "hawse.api.code": "CodeContextInfo CodeError CodeLanguage",
    "hawse.api.edits": "FileEditResult TextEdit",
    "hawse.api.extraction": "FileExtractProgress FileExtractResult",
    "hawse.api.files": "FileEntry FileOpened FileStatResult FileTransferResult",
    "hawse.api.git": "GitAuthor GitCredentials",
    "hawse.api.images": "ImageInfo ImageProgress",
    "hawse.api.people": "Participant WriterLease",
    "hawse.api.ports": "OpenPort",
    "hawse.api.processes": "LogMatch ProcessInfo",
    "hawse.api.recordings": "RecordingInfo",
    "hawse.api.sandboxes": "SandboxInfo SandboxLimits SandboxPort",
    "hawse.api.sessions": "SessionInfo",
    "hawse.api.terminals": "TerminalInfo",
    "hawse.api.types": "Exit OutputMatch",
    "hawse.api.watches": "WatchChangesResult WatchedChange WatchRescan",
    "hawse.client.backups": "Backups",
    "hawse.client.base.causes": (
        "CallCancelledError CapacityExceededError CleanupPendingError ConflictError ConnectionLostError "
        "DeadlineExceededError ExitedError ForbiddenError InputGapError InputOverflowError InternalError "
        "InvalidParamsError IoError IsDirectoryError KeyConflictError LanguageUnavailableError LeaseHeldError "
        "LimitExceededError NoSpaceError NotDirectoryError NotFoundError OriginDeniedError "
        "OutcomeUnknownError PermissionDeniedError SpawnFailedError StaleHandleError StoppedError "
        "TooLargeError UnauthenticatedError UnavailableError UnknownMethodError"
    ),
    "hawse.client.base.errors": "BusyError ClientClosedError CommandError GaveUpError RefusedError TruncatedError",
    "hawse.client.base.options": "Options",
    "hawse.client.base.results": (
        "Answers Attached CommandResult ConnectionState Joined LeaseChanged Left Live Output PresenceChanged "
        "Repaint Resized Snapshot TerminalEvent"
    ),
    "hawse.client.calls.state_stream": "StateStream",
    "hawse.client.client": "Client connect",
    "hawse.client.code.context": "Callbacks CodeContext",
    "hawse.client.code.results": (
        "CodeCleared CodeEnd CodeEvent CodeInput CodeLost CodeRaised CodeResult CodeStderr CodeStdout RichResult"
    ),
    "hawse.client.code.run": "CodeRunStream",
    "hawse.client.files.files": "Files",
    "hawse.client.images": "Images",
    "hawse.client.ports": "Preview",
    "hawse.client.process.process": "Process",
    "hawse.client.process.program": "StartOptions",
    "hawse.client.process.session": "Session SessionResult",
    "hawse.client.sandbox": "Sandbox",
    "hawse.client.sandboxes": "SandboxChange SandboxChanges SandboxCreation Sandboxes",
    "hawse.client.terminal.automation": "RunResult",
    "hawse.client.terminal.recording": "Recording",
    "hawse.client.terminal.terminal": "Terminal",
    "hawse.client.terminal.terminals": "ViewerOptions",
    "hawse.client.watch": "Watch",
    "hawse.wire": "HawseError",
}

__all__ = [
    "Answers",
    "Attached",
    "BackupInfo",
    "BackupProgress",
    "BackupRestoreResult",
    "Backups",
    "BusyError",
    "CallCancelledError",
    "Callbacks",
    "CapacityExceededError",
    "CleanupPendingError",
    "Client",
    "ClientClosedError",
    "CodeCleared",
    "CodeContext",
    "CodeContextInfo",
    "CodeEnd",
    "CodeError",
    "CodeEvent",
    "CodeInput",
    "CodeLanguage",
    "CodeLost",
    "CodeRaised",
    "CodeResult",
    "CodeRunStream",
    "CodeStderr",
    "CodeStdout",
    "CommandError",
    "CommandInfo",
    "CommandResult",
    "ConflictError",
    "ConnectionLostError",
    "ConnectionState",
    "DeadlineExceededError",
    "Exit",
    "ExitedError",
    "FileEditResult",
    "FileEntry",
    "FileExtractProgress",
    "FileExtractResult",
    "FileOpened",
    "FileStatResult",
    "FileTransferResult",
    "Files",
    "ForbiddenError",
    "GaveUpError",
    "GitAuthor",
    "GitCredentials",
    "HawseError",
    "ImageInfo",
    "ImageProgress",
    "Images",
    "InputGapError",
    "InputOverflowError",
    "InternalError",
    "InvalidParamsError",
    "IoError",
    "IsDirectoryError",
    "Joined",
    "KeyConflictError",
    "LanguageUnavailableError",
    "LeaseChanged",
    "LeaseHeldError",
    "Left",
    "LimitExceededError",
    "Live",
    "LogMatch",
    "NoSpaceError",
    "NotDirectoryError",
    "NotFoundError",
    "OpenPort",
    "Options",
    "OriginDeniedError",
    "OutcomeUnknownError",
    "Output",
    "OutputMatch",
    "Participant",
    "PermissionDeniedError",
    "PresenceChanged",
    "Preview",
    "Process",
    "ProcessInfo",
    "Recording",
    "RecordingInfo",
    "RefusedError",
    "Repaint",
    "Resized",
    "RichResult",
    "RunResult",
    "Sandbox",
    "SandboxChange",
    "SandboxChanges",
    "SandboxCreation",
    "SandboxInfo",
    "SandboxLimits",
    "SandboxPort",
    "Sandboxes",
    "Session",
    "SessionInfo",
    "SessionResult",
    "Snapshot",
    "SpawnFailedError",
    "StaleHandleError",
    "StartOptions",
    "StateStream",
    "StoppedError",
    "Terminal",
    "TerminalEvent",
    "TerminalHistoryResult",
    "TerminalInfo",
    "TerminalScreenResult",
    "TerminalSendResult",
    "TerminalWaitResult",
    "TextEdit",
    "TooLargeError",
    "TruncatedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnknownMethodError",
    "ViewerOptions",
    "Watch",
    "WatchChangesResult",
    "WatchRescan",
    "WatchedChange",
    "WriterLease",
    "connect",
]

_MODULES: Final = {name: module for module, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hawse.client' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_MODULES[name]), name)
    return value
