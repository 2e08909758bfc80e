"""hawse: a sandbox's terminals, commands and files over one WebSocket.

Exports the public names of the Python client, which are loaded on first use. A program such as `hawse shell` therefore
loads only the modules it needs, and a runtime, which needs only `hawse.wire` and `hawse.api`, never loads the client.
"""

import importlib
from typing import Any, Final

__version__ = "0.1.0"

# Maps each public name of `hawse` and `hawse.client` to its module. For type checkers, `make generate` writes the names
# to `__init__.pyi` of both packages.
EXPORTS: Final = {
    "hawse.api.backups": "BackupInfo BackupProgress BackupRestoreResult BackupUsageResult",
    "hawse.api.mounts": "MountCredentials MountInfo",
    "hawse.api.code": "CodeContextInfo CodeError CodeLanguage",
    "hawse.api.egress": "EgressInfo EgressLost EgressPolicy EgressRefusal EgressRequest",
    "hawse.api.files": (
        "FileEditResult FileEntry FileExtractProgress FileExtractResult FileOpened FileStatResult FileTransferResult"
        " TextEdit"
    ),
    "hawse.api.git": "GitAuthor GitCredentials",
    "hawse.api.images": "ImageInfo ImageProgress",
    "hawse.api.people": "Participant Question WriterLease",
    "hawse.api.ports": "OpenPort",
    "hawse.api.processes": "LogMatch ProcessInfo",
    "hawse.api.recordings": "RecordingInfo",
    "hawse.api.sandboxes": "SandboxInfo SandboxLimits SandboxPort",
    "hawse.api.sessions": "SessionInfo",
    "hawse.api.terminals": (
        "CommandInfo RecordOptions TerminalHistoryResult TerminalInfo TerminalScreenResult TerminalSendResult"
        " TerminalWaiting TerminalWaitResult"
    ),
    "hawse.api.types": "Exit OutputMatch",
    "hawse.api.watches": "WatchChangesResult WatchedChange WatchRescan",
    "hawse.client.access": "ShareLinks Tokens",
    "hawse.client.audit": "AuditTrail",
    "hawse.client.backups": "Backups SandboxBackups",
    "hawse.client.base.call_errors": (
        "CallCancelledError CapacityExceededError CleanupPendingError ConflictError ConnectionLostError "
        "DeadlineExceededError ExitedError ForbiddenError InputGapError InputOverflowError InternalError "
        "InvalidParamsError IoError IsDirectoryError KeyConflictError LanguageUnavailableError LeaseHeldError "
        "LimitExceededError NoSpaceError NotDirectoryError NotFoundError OriginDeniedError OutcomeUnknownError "
        "PermissionDeniedError SpawnFailedError StaleHandleError StoppedError TooLargeError UnauthenticatedError "
        "UnavailableError UnknownMethodError"
    ),
    "hawse.client.base.errors": (
        "BusyError ClientClosedError CommandError CommandTimeoutError GaveUpError RefusedError TruncatedError"
    ),
    "hawse.client.base.options": "Options",
    "hawse.client.base.results": (
        "Answers Attached CommandResult ConnectionState Joined LeaseChanged Left Live Output PresenceChanged "
        "Repaint Resized Snapshot TerminalEvent WaitingChanged"
    ),
    "hawse.client.calls.state_stream": "StateStream",
    "hawse.client.client": "Client connect",
    "hawse.client.code.context": "Callbacks CodeContext",
    "hawse.client.code.contexts": "Code",
    "hawse.client.code.results": (
        "CodeCleared CodeEnd CodeEvent CodeInput CodeLost CodeRaised CodeResult CodeStderr CodeStdout RichResult"
    ),
    "hawse.client.code.run": "CodeRunStream",
    "hawse.client.desktop": "Desktop DesktopConnection Screenshot",
    "hawse.client.signals": "SignalExit run",
    "hawse.client.egress": "Egress EgressRequests",
    "hawse.client.files.files": "Files",
    "hawse.client.files.queries": "FileListing",
    "hawse.client.files.transfer_streams": "FileReader FileWriter",
    "hawse.client.files.tree_transfer": "TreeResult",
    "hawse.client.git": "Git",
    "hawse.client.images": "Images",
    "hawse.client.sandbox.creation": "SandboxCreation SandboxOpening SandboxOptions",
    "hawse.client.mounts": "Mounts",
    "hawse.client.port_listener": "PortListener",
    "hawse.client.ports": "PortConnection Ports Preview",
    "hawse.client.process.output": "OutputStream",
    "hawse.client.process.process": "Process",
    "hawse.client.process.processes": "Processes",
    "hawse.client.process.program": "StartOptions",
    "hawse.client.process.session": "Session SessionResult",
    "hawse.client.process.sessions": "Sessions",
    "hawse.client.sandbox.sandbox": "Sandbox",
    "hawse.client.sandbox.sandboxes": "SandboxChange SandboxChanges Sandboxes",
    "hawse.client.terminal.automation": "RunResult",
    "hawse.client.terminal.command": "TerminalCommand",
    "hawse.client.terminal.questions": "Questions",
    "hawse.client.terminal.recording": "Recording",
    "hawse.client.terminal.recordings": "Recordings",
    "hawse.client.terminal.terminal": "Terminal",
    "hawse.client.terminal.terminals": "Terminals ViewerOptions",
    "hawse.client.tunnels": "Tunnel Tunnels",
    "hawse.client.watch": "Watch Watches",
    "hawse.wire": "HawseError",
}

_MODULES: Final = {name: module for module, names in EXPORTS.items() for name in names.split()}

__all__ = ["__version__", *sorted(_MODULES)]  # noqa: PLE0604


def load(name: str) -> Any:
    """Return the value of a public name. Raises `KeyError` for other names."""
    return getattr(importlib.import_module(_MODULES[name]), name)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hawse' has no attribute {name!r}")
    value = globals()[name] = load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
