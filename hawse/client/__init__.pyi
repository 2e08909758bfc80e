"""The public names, which `make generate` derives from `hawse.EXPORTS`."""

# ruff: noqa

from hawse.api.backups import (
    BackupInfo as BackupInfo,
    BackupProgress as BackupProgress,
    BackupRestoreResult as BackupRestoreResult,
    BackupUsageResult as BackupUsageResult,
)
from hawse.api.code import (
    CodeContextInfo as CodeContextInfo,
    CodeError as CodeError,
    CodeLanguage as CodeLanguage,
)
from hawse.api.egress import (
    EgressInfo as EgressInfo,
    EgressLost as EgressLost,
    EgressPolicy as EgressPolicy,
    EgressRefusal as EgressRefusal,
    EgressRequest as EgressRequest,
)
from hawse.api.files import (
    FileEditResult as FileEditResult,
    FileEntry as FileEntry,
    FileExtractProgress as FileExtractProgress,
    FileExtractResult as FileExtractResult,
    FileOpened as FileOpened,
    FileStatResult as FileStatResult,
    FileTransferResult as FileTransferResult,
    TextEdit as TextEdit,
)
from hawse.api.git import (
    GitAuthor as GitAuthor,
    GitCredentials as GitCredentials,
)
from hawse.api.images import (
    ImageInfo as ImageInfo,
    ImageProgress as ImageProgress,
)
from hawse.api.mounts import (
    MountCredentials as MountCredentials,
    MountInfo as MountInfo,
)
from hawse.api.people import (
    Participant as Participant,
    Question as Question,
    WriterLease as WriterLease,
)
from hawse.api.ports import (
    OpenPort as OpenPort,
)
from hawse.api.processes import (
    LogMatch as LogMatch,
    ProcessInfo as ProcessInfo,
)
from hawse.api.recordings import (
    RecordingInfo as RecordingInfo,
)
from hawse.api.sandboxes import (
    SandboxInfo as SandboxInfo,
    SandboxLimits as SandboxLimits,
    SandboxPort as SandboxPort,
)
from hawse.api.sessions import (
    SessionInfo as SessionInfo,
)
from hawse.api.terminals import (
    CommandInfo as CommandInfo,
    RecordOptions as RecordOptions,
    TerminalHistoryResult as TerminalHistoryResult,
    TerminalInfo as TerminalInfo,
    TerminalScreenResult as TerminalScreenResult,
    TerminalSendResult as TerminalSendResult,
    TerminalWaitResult as TerminalWaitResult,
    TerminalWaiting as TerminalWaiting,
)
from hawse.api.types import (
    Exit as Exit,
    OutputMatch as OutputMatch,
)
from hawse.api.watches import (
    WatchChangesResult as WatchChangesResult,
    WatchRescan as WatchRescan,
    WatchedChange as WatchedChange,
)
from hawse.client.access import (
    ShareLinks as ShareLinks,
    Tokens as Tokens,
)
from hawse.client.audit import (
    AuditTrail as AuditTrail,
)
from hawse.client.backups import (
    Backups as Backups,
    SandboxBackups as SandboxBackups,
)
from hawse.client.base.call_errors import (
    CallCancelledError as CallCancelledError,
    CapacityExceededError as CapacityExceededError,
    CleanupPendingError as CleanupPendingError,
    ConflictError as ConflictError,
    ConnectionLostError as ConnectionLostError,
    DeadlineExceededError as DeadlineExceededError,
    ExitedError as ExitedError,
    ForbiddenError as ForbiddenError,
    InputGapError as InputGapError,
    InputOverflowError as InputOverflowError,
    InternalError as InternalError,
    InvalidParamsError as InvalidParamsError,
    IoError as IoError,
    IsDirectoryError as IsDirectoryError,
    KeyConflictError as KeyConflictError,
    LanguageUnavailableError as LanguageUnavailableError,
    LeaseHeldError as LeaseHeldError,
    LimitExceededError as LimitExceededError,
    NoSpaceError as NoSpaceError,
    NotDirectoryError as NotDirectoryError,
    NotFoundError as NotFoundError,
    OriginDeniedError as OriginDeniedError,
    OutcomeUnknownError as OutcomeUnknownError,
    PermissionDeniedError as PermissionDeniedError,
    SpawnFailedError as SpawnFailedError,
    StaleHandleError as StaleHandleError,
    StoppedError as StoppedError,
    TooLargeError as TooLargeError,
    UnauthenticatedError as UnauthenticatedError,
    UnavailableError as UnavailableError,
    UnknownMethodError as UnknownMethodError,
)
from hawse.client.base.errors import (
    BusyError as BusyError,
    ClientClosedError as ClientClosedError,
    CommandError as CommandError,
    CommandTimeoutError as CommandTimeoutError,
    GaveUpError as GaveUpError,
    RefusedError as RefusedError,
    TruncatedError as TruncatedError,
)
from hawse.client.base.options import (
    Options as Options,
)
from hawse.client.base.results import (
    Answers as Answers,
    Attached as Attached,
    CommandResult as CommandResult,
    ConnectionState as ConnectionState,
    Joined as Joined,
    LeaseChanged as LeaseChanged,
    Left as Left,
    Live as Live,
    Output as Output,
    PresenceChanged as PresenceChanged,
    Repaint as Repaint,
    Resized as Resized,
    Snapshot as Snapshot,
    TerminalEvent as TerminalEvent,
    WaitingChanged as WaitingChanged,
)
from hawse.client.calls.state_stream import (
    StateStream as StateStream,
)
from hawse.client.client import (
    Client as Client,
    connect as connect,
)
from hawse.client.code.context import (
    Callbacks as Callbacks,
    CodeContext as CodeContext,
)
from hawse.client.code.contexts import (
    Code as Code,
)
from hawse.client.code.results import (
    CodeCleared as CodeCleared,
    CodeEnd as CodeEnd,
    CodeEvent as CodeEvent,
    CodeInput as CodeInput,
    CodeLost as CodeLost,
    CodeRaised as CodeRaised,
    CodeResult as CodeResult,
    CodeStderr as CodeStderr,
    CodeStdout as CodeStdout,
    RichResult as RichResult,
)
from hawse.client.code.run import (
    CodeRunStream as CodeRunStream,
)
from hawse.client.desktop import (
    Desktop as Desktop,
    DesktopConnection as DesktopConnection,
    Screenshot as Screenshot,
)
from hawse.client.egress import (
    Egress as Egress,
    EgressRequests as EgressRequests,
)
from hawse.client.files.files import (
    Files as Files,
)
from hawse.client.files.queries import (
    FileListing as FileListing,
)
from hawse.client.files.transfer_streams import (
    FileReader as FileReader,
    FileWriter as FileWriter,
)
from hawse.client.files.tree_transfer import (
    TreeResult as TreeResult,
)
from hawse.client.git import (
    Git as Git,
)
from hawse.client.images import (
    Images as Images,
)
from hawse.client.mounts import (
    Mounts as Mounts,
)
from hawse.client.port_listener import (
    PortListener as PortListener,
)
from hawse.client.ports import (
    PortConnection as PortConnection,
    Ports as Ports,
    Preview as Preview,
)
from hawse.client.process.output import (
    OutputStream as OutputStream,
)
from hawse.client.process.process import (
    Process as Process,
)
from hawse.client.process.processes import (
    Processes as Processes,
)
from hawse.client.process.program import (
    StartOptions as StartOptions,
)
from hawse.client.process.session import (
    Session as Session,
    SessionResult as SessionResult,
)
from hawse.client.process.sessions import (
    Sessions as Sessions,
)
from hawse.client.sandbox.creation import (
    SandboxCreation as SandboxCreation,
    SandboxOpening as SandboxOpening,
    SandboxOptions as SandboxOptions,
)
from hawse.client.sandbox.sandbox import (
    Sandbox as Sandbox,
)
from hawse.client.sandbox.sandboxes import (
    SandboxChange as SandboxChange,
    SandboxChanges as SandboxChanges,
    Sandboxes as Sandboxes,
)
from hawse.client.signals import (
    SignalExit as SignalExit,
    run as run,
)
from hawse.client.terminal.automation import (
    RunResult as RunResult,
)
from hawse.client.terminal.command import (
    TerminalCommand as TerminalCommand,
)
from hawse.client.terminal.questions import (
    Questions as Questions,
)
from hawse.client.terminal.recording import (
    Recording as Recording,
)
from hawse.client.terminal.recordings import (
    Recordings as Recordings,
)
from hawse.client.terminal.terminal import (
    Terminal as Terminal,
)
from hawse.client.terminal.terminals import (
    Terminals as Terminals,
    ViewerOptions as ViewerOptions,
)
from hawse.client.tunnels import (
    Tunnel as Tunnel,
    Tunnels as Tunnels,
)
from hawse.client.watch import (
    Watch as Watch,
    Watches as Watches,
)
from hawse.wire import (
    HawseError as HawseError,
)

__all__ = [
    "Answers",
    "Attached",
    "AuditTrail",
    "BackupInfo",
    "BackupProgress",
    "BackupRestoreResult",
    "BackupUsageResult",
    "Backups",
    "BusyError",
    "CallCancelledError",
    "Callbacks",
    "CapacityExceededError",
    "CleanupPendingError",
    "Client",
    "ClientClosedError",
    "Code",
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
    "CommandTimeoutError",
    "ConflictError",
    "ConnectionLostError",
    "ConnectionState",
    "DeadlineExceededError",
    "Desktop",
    "DesktopConnection",
    "Egress",
    "EgressInfo",
    "EgressLost",
    "EgressPolicy",
    "EgressRefusal",
    "EgressRequest",
    "EgressRequests",
    "Exit",
    "ExitedError",
    "FileEditResult",
    "FileEntry",
    "FileExtractProgress",
    "FileExtractResult",
    "FileListing",
    "FileOpened",
    "FileReader",
    "FileStatResult",
    "FileTransferResult",
    "FileWriter",
    "Files",
    "ForbiddenError",
    "GaveUpError",
    "Git",
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
    "MountCredentials",
    "MountInfo",
    "Mounts",
    "NoSpaceError",
    "NotDirectoryError",
    "NotFoundError",
    "OpenPort",
    "Options",
    "OriginDeniedError",
    "OutcomeUnknownError",
    "Output",
    "OutputMatch",
    "OutputStream",
    "Participant",
    "PermissionDeniedError",
    "PortConnection",
    "PortListener",
    "Ports",
    "PresenceChanged",
    "Preview",
    "Process",
    "ProcessInfo",
    "Processes",
    "Question",
    "Questions",
    "RecordOptions",
    "Recording",
    "RecordingInfo",
    "Recordings",
    "RefusedError",
    "Repaint",
    "Resized",
    "RichResult",
    "RunResult",
    "Sandbox",
    "SandboxBackups",
    "SandboxChange",
    "SandboxChanges",
    "SandboxCreation",
    "SandboxInfo",
    "SandboxLimits",
    "SandboxOpening",
    "SandboxOptions",
    "SandboxPort",
    "Sandboxes",
    "Screenshot",
    "Session",
    "SessionInfo",
    "SessionResult",
    "Sessions",
    "ShareLinks",
    "SignalExit",
    "Snapshot",
    "SpawnFailedError",
    "StaleHandleError",
    "StartOptions",
    "StateStream",
    "StoppedError",
    "Terminal",
    "TerminalCommand",
    "TerminalEvent",
    "TerminalHistoryResult",
    "TerminalInfo",
    "TerminalScreenResult",
    "TerminalSendResult",
    "TerminalWaitResult",
    "TerminalWaiting",
    "Terminals",
    "TextEdit",
    "Tokens",
    "TooLargeError",
    "TreeResult",
    "TruncatedError",
    "Tunnel",
    "Tunnels",
    "UnauthenticatedError",
    "UnavailableError",
    "UnknownMethodError",
    "ViewerOptions",
    "WaitingChanged",
    "Watch",
    "WatchChangesResult",
    "WatchRescan",
    "WatchedChange",
    "Watches",
    "WriterLease",
    "connect",
    "run",
]
