"""The types of the synchronous client, which `make generate` derives from `hawse.client`."""

# ruff: noqa

import builtins
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, Unpack, overload

from hawse.api import files as api
from hawse.api.access import AuditEntry
from hawse.api.access import AuditList
from hawse.api.access import AuditListResult
from hawse.api.access import ShareCreateResult
from hawse.api.access import ShareInfo
from hawse.api.access import TokenCreateResult
from hawse.api.access import TokenInfo
from hawse.api.backups import BackupInfo
from hawse.api.backups import BackupRestoreResult
from hawse.api.backups import BackupUsageResult
from hawse.api.backups import RestoreMode
from hawse.api.code import CodeCompleteResult
from hawse.api.code import CodeContextInfo
from hawse.api.code import CodeInspectResult
from hawse.api.code import CodeLanguage
from hawse.api.code import CodeWatched
from hawse.api.desktops import DesktopInfo
from hawse.api.desktops import DesktopOpened
from hawse.api.desktops import DesktopSize
from hawse.api.desktops import DesktopStartResult
from hawse.api.desktops import DesktopWindow
from hawse.api.desktops import ImageFormat
from hawse.api.desktops import MouseButton
from hawse.api.egress import EgressInfo
from hawse.api.egress import EgressLost
from hawse.api.egress import EgressRequest
from hawse.api.files import FileEditResult
from hawse.api.files import FileExtractProgress
from hawse.api.files import FileExtractResult
from hawse.api.files import FileOpened
from hawse.api.files import FileTransferResult
from hawse.api.files import TextEdit
from hawse.api.git import GitAuthor
from hawse.api.git import GitBranchResult
from hawse.api.git import GitCredentials
from hawse.api.git import GitDiffResult
from hawse.api.git import GitHead
from hawse.api.git import GitLogResult
from hawse.api.git import GitProgress
from hawse.api.git import GitPushResult
from hawse.api.git import GitStatusResult
from hawse.api.images import ImageInfo
from hawse.api.images import ImageProgress
from hawse.api.mounts import MountCredentials
from hawse.api.mounts import MountInfo
from hawse.api.people import LeaseAction
from hawse.api.people import Participant
from hawse.api.people import Question
from hawse.api.people import QuestionKind
from hawse.api.people import ViewerProfile
from hawse.api.people import WriterLease
from hawse.api.ports import OpenPort
from hawse.api.ports import PortIncoming
from hawse.api.processes import LogMatch
from hawse.api.processes import ProcessInfo
from hawse.api.recordings import RecordingInfo
from hawse.api.recordings import RecordingPart
from hawse.api.rights import Role
from hawse.api.runtime import RuntimeInfoResult
from hawse.api.runtime import RuntimeMetricsResult
from hawse.api.sandboxes import SandboxInfo
from hawse.api.sandboxes import TemplateInfo
from hawse.api.sessions import SessionInfo
from hawse.api.terminals import RecordOptions
from hawse.api.terminals import TerminalHistoryResult
from hawse.api.terminals import TerminalInfo
from hawse.api.terminals import TerminalScreenResult
from hawse.api.terminals import TerminalSendResult
from hawse.api.terminals import TerminalViewersResult
from hawse.api.terminals import TerminalWaitResult
from hawse.api.terminals import TerminalWaiting
from hawse.api.tunnels import TunnelKind
from hawse.api.tunnels import TunnelProvider
from hawse.api.types import Exit
from hawse.api.types import OutputMatch
from hawse.api.types import Signal
from hawse.api.types import StreamName
from hawse.api.watches import WatchChangesResult
from hawse.api.watches import WatchRescan
from hawse.api.watches import WatchedChange
from hawse.client.backups import BackupOptions
from hawse.client.backups import OnProgress
from hawse.client.base.environment import Directory
from hawse.client.base.environment import Env
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.base.results import ConnectionState
from hawse.client.base.results import TerminalEvent
from hawse.client.calls.input_stream import BytesLike
from hawse.client.code.context import Callbacks
from hawse.client.code.results import CodeEvent
from hawse.client.code.results import CodeInput
from hawse.client.code.results import CodeResult
from hawse.client.connection.dial import Authorities
from hawse.client.connection.reconnect import Token
from hawse.client.desktop import Screenshot
from hawse.client.files.changes import PathLike
from hawse.client.files.local_files import Progress
from hawse.client.files.tree import OnFailure
from hawse.client.files.tree_transfer import TreeResult
from hawse.client.ports import Preview
from hawse.client.process.program import Command
from hawse.client.process.program import ExecOptions
from hawse.client.process.program import StartFields
from hawse.client.process.program import StartOptions
from hawse.client.process.session import SessionResult
from hawse.client.sandbox.creation import SandboxOptions
from hawse.client.sandbox.sandboxes import SandboxChange
from hawse.client.terminal.automation import RunResult
from hawse.client.terminal.command import TerminalExecOptions
from hawse.client.terminal.terminals import ViewerOptions
from hawse.client.tunnels import Tunnel
from hawse.wire import Welcome

__all__ = ['AuditTrail', 'Backups', 'Client', 'Code', 'CodeContext', 'CodeRunStream', 'CreatedSandbox', 'Desktop', 'DesktopConnection', 'Egress', 'EgressRequests', 'FileReader', 'FileWriter', 'Files', 'Git', 'Images', 'Mounts', 'OpenedSandbox', 'OutputStream', 'PortConnection', 'PortListener', 'Ports', 'Process', 'Processes', 'Questions', 'Recording', 'Recordings', 'Sandbox', 'SandboxBackups', 'SandboxChanges', 'Sandboxes', 'Session', 'Sessions', 'ShareLinks', 'StateStream', 'Terminal', 'TerminalCommand', 'Terminals', 'Tokens', 'Tunnels', 'Watch', 'Watches', 'connect', 'timeout']

T = TypeVar("T")

class ShareLinks:
    """The share links that this client may revoke."""
    def create(self, sandbox: str='local', *, terminal: str | None=None, role: Role='viewer', name: str='', expires_in: float | None=None, max_uses: int | None=None) -> ShareCreateResult:
        """Create a link and return it with its secret, which cannot be retrieved later.

        Args:
            sandbox: The sandbox it gives access to.
            terminal: The only terminal it gives access to. None means the whole sandbox.
            role: `viewer` or `writer`.
            name: The guest's name.
            expires_in: Seconds until it expires. None means that it expires with this client's token.
            max_uses: Maximum number of browsers that can open it; None means no limit. If set, the link's secret can't
                be used as a token; it can only be exchanged for a session.

        Raises:
            HawseError: `forbidden` if this client may not give access to the sandbox, `limit_exceeded`.
        """

    def list(self) -> list[ShareInfo]:
        """Return the links, each with the clients currently using it."""

    def revoke(self, id: str) -> None:
        """Revoke a link. Raises `HawseError` (`not_found`)."""

class Tokens:
    """The tokens that this client may revoke: its own, or all if it has every right in all sandboxes."""
    def create(self, name: str='', *, role: Role='operator', sandboxes: Sequence[str] | None=None, own: bool=False, user: str | None=None, expires_in: float | None=None) -> TokenCreateResult:
        """Create a token and return it with its secret, which cannot be retrieved later.

        Args:
            name: Its purpose.
            role: Its rights.
            sandboxes: The sandboxes it is limited to. None means all sandboxes that this client may give access to.
            own: Whether it is limited to sandboxes created by its user.
            user: The user that it identifies. None means this client's user.
            expires_in: Seconds until it expires. None means that it expires with this client's token.

        Raises:
            HawseError: `forbidden` if this client doesn't have the rights of `role` itself, `limit_exceeded`.
        """

    def list(self) -> list[TokenInfo]:
        """Return the tokens."""

    def revoke(self, id: str) -> None:
        """Revoke a token and all tokens and links created with it. Raises `HawseError` (`not_found`)."""

class AuditTrail:
    """The audit log entries that this client may read: all, or only entries for sandboxes it may give access to."""
    def page(self, params: AuditList) -> AuditListResult:
        """Return one page. Raises `HawseError` (`forbidden`, `io_error`)."""

    def list(self, *, since: float | None=None, until: float | None=None, user: str | None=None, method: str | None=None, sandbox: str | None=None, outcome: str | None=None, after: str | None=None, limit: int=100) -> list[AuditEntry]:
        """Return the latest matching entries, newest first.

        Args:
            since: Only entries from this time on, in seconds since 1970.
            until: Only entries before this time.
            user: Only entries for this user.
            method: Only entries for this action, or for all actions with this prefix if it ends with a dot, such as
                `token.`.
            sandbox: Only entries for this sandbox.
            outcome: Only entries with this outcome, such as `ok` or `forbidden`.
            after: Only entries newer than the one at this `position`.
            limit: Maximum number of entries.

        Raises:
            HawseError: `forbidden`, `io_error`.
        """

class Backups:
    """A gateway's backups. The handle doesn't have to be closed.

    Methods raise `HawseError`: `not_found` if the backup does not exist or the caller may not use it.
    """
    def create(self, sandbox: str, path: PathLike='.', **options: Unpack[BackupOptions]) -> BackupInfo:
        """Back up a directory. If this fails or is cancelled, the incomplete backup is removed.

        Args:
            sandbox: The id of the sandbox.
            path: The directory; a relative path is resolved against the workspace.
            options: See `BackupOptions`.

        Raises:
            HawseError: `not_found`, `not_directory`, `permission_denied` for a file that cannot be read
                (`details["entry"]`), `no_space`, `limit_exceeded`.
        """

    def restore(self, backup: str, *, sandbox: str | None=None, path: PathLike | None=None, mode: RestoreMode='copy', on_progress: OnProgress | None=None) -> BackupRestoreResult:
        """Restore a directory. If this fails or is cancelled, the directory is unchanged.

        The mode `overlay` copies nothing. The directory must be empty or missing; it then shows the backup's content,
        and changes to it are kept in the sandbox. The result contains the id of the mount, which `box.mounts.delete`
        removes.

        Args:
            backup: The id of the backup.
            sandbox: The id of a different sandbox; None means the one that was backed up.
            path: A different directory, which doesn't have to exist; None means the one that was backed up.
            mode: `copy` copies the files, `overlay` reads them from the backup on demand.
            on_progress: Called from the event loop with progress reports; must return quickly.

        Raises:
            HawseError: `no_space`, `io_error` if the archive is damaged, `conflict` if files are created in the
                directory during the call or, for an overlay, if the directory is not empty; `unavailable` if the
                sandbox cannot mount anything.
        """

    def usage(self) -> BackupUsageResult:
        """Return the caller's backup store usage and limits."""

    def get(self, backup: str) -> BackupInfo:
        """Return the backup with the id `backup`."""

    def list(self, *, sandbox: str | None=None) -> builtins.list[BackupInfo]:
        """Return the backups that the caller may use, newest first; with `sandbox`, only that sandbox's backups."""

    def delete(self, backup: str) -> None:
        """Delete the backup with the id `backup`."""

class SandboxBackups:
    """The backups of a single sandbox: `box.backups`. The handle doesn't have to be closed.

    `create`, `get`, `list` and `delete` are limited to backups of this sandbox; `restore` accepts backups from any
    sandbox.
    """
    def create(self, path: PathLike='.', **options: Unpack[BackupOptions]) -> BackupInfo:
        """Back up a directory. If this fails or is cancelled, the incomplete backup is removed.

        Args:
            path: The directory; a relative path is resolved against the workspace.
            options: See `BackupOptions`.

        Raises:
            HawseError: `not_found`, `not_directory`, `permission_denied` for a file that cannot be read
                (`details["entry"]`), `no_space`, `limit_exceeded`.
        """

    def restore(self, backup: str, *, path: PathLike | None=None, mode: RestoreMode='copy', on_progress: OnProgress | None=None) -> BackupRestoreResult:
        """Restore a directory in this sandbox, from a backup of this or another sandbox.

        If this fails or is cancelled, the directory is unchanged.

        The mode `overlay` copies nothing. The directory must be empty or missing; it then shows the backup's content,
        and changes to it are kept in the sandbox. The result contains the id of the mount, which `box.mounts.delete`
        removes.

        Args:
            backup: The id of the backup.
            path: A different directory, which doesn't have to exist; None means the one that was backed up.
            mode: `copy` copies the files, `overlay` reads them from the backup on demand.
            on_progress: Called from the event loop with progress reports; must return quickly.

        Raises:
            HawseError: `not_found`, `no_space`, `io_error` if the archive is damaged, `conflict` if files are created
                in the directory during the call or, for an overlay, if the directory is not empty; `unavailable` if the
                sandbox cannot mount anything.
        """

    def get(self, backup: str) -> BackupInfo:
        """Return the backup with the id `backup`. Raises `not_found` if it does not exist or belongs to another
        sandbox.
        """

    def list(self) -> builtins.list[BackupInfo]:
        """Return the backups of this sandbox, newest first."""

    def delete(self, backup: str) -> None:
        """Delete the backup with the id `backup`. Raises `not_found` if it does not exist or belongs to another
        sandbox.
        """

class StateStream(Generic[T]):
    """`with … as states: for state in states: …`

    Yields the current state, and the new state after each change. A slow reader skips intermediate states.
    """
    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[T]:
        ...

class Client:
    """`with connect(url, token=…) as hw:` connects. Leaving the block ends all calls and closes the connection.

    `hw = connect(url, token=…)` connects until `close`, which must be called in the same task.
    """
    def close(self) -> None:
        """End all calls and close the connection. Does nothing if the client is closed or was never connected."""

    def __enter__(self) -> Client:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def sandbox(self, id: str='local') -> Sandbox:
        """Return a handle to a sandbox. Nothing is sent."""

    @property
    def sandboxes(self) -> Sandboxes:
        """The gateway's sandboxes: `create`, `get`, `list`, `watch`."""

    @property
    def backups(self) -> Backups:
        """The gateway's backups: `create`, `restore`, `list`, `get`, `usage`, `delete`."""

    @property
    def images(self) -> Images:
        """The gateway provider's images: `list`, `pull`, `remove`."""

    @property
    def tokens(self) -> Tokens:
        """The gateway's tokens."""

    @property
    def links(self) -> ShareLinks:
        """The gateway's share links."""

    @property
    def audit(self) -> AuditTrail:
        """The gateway's audit log."""

    def preview_host(self) -> str | None:
        """Return the parent domain of all preview host names; None if previews only have paths."""

    def call(self, method: str, params: dict[str, Any] | None=None, *, sandbox: str | None=None, key: str | None=None, timeout: float | None=None) -> Any:
        """Call any method by its name and return its result as JSON values. Events are ignored.

        If there is no connection, the call waits for one, up to the connect timeout.

        Args:
            method: The method's name, such as `file.stat`.
            params: The parameters as JSON values.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            key: With a key, the call is repeated if the connection is lost, but runs only once. Without a key, it
                raises `interrupted` in that case.
            timeout: Time limit in seconds.

        Raises:
            HawseError: The call failed or the client closed.
        """

    @property
    def state(self) -> ConnectionState:
        """The state of the connection."""

    @property
    def rtt(self) -> float | None:
        """The last round-trip time in seconds; None until one has been measured."""

    @property
    def welcome(self) -> Welcome | None:
        """The server's `welcome`: `identity`, `role`, `limits`, `abilities`."""

    @property
    def connections(self) -> int:
        """The number of connections so far: 1 if none has been lost."""

    @property
    def problem(self) -> str | None:
        """Why the last attempt to connect failed, or why the connection was lost; None if neither has happened."""

    def states(self) -> Iterator[ConnectionState]:
        """Iterate over the current and all later states, up to `CLOSED`. A slow reader skips intermediate states."""

class CodeContext:
    """`with box.code.create("python") as ctx: done = ctx.run("1 + 1")`

    Leaving the block deletes the created context, along with all processes started by its code, unless `detach` was
    called. Runs in the same context are executed one at a time, in the order they were requested, across all clients.
    Different contexts run in parallel.
    """
    def run(self, source: str, *, timeout: float | None=None, store_history: bool=True, key: str | None=None, max_output: int=..., **callbacks: Unpack[Callbacks]) -> CodeResult:
        """Run code after all earlier runs, and return its result along with its output. An error in the code does not
        raise an exception.

        If the caller is cancelled and the call has no `key`, the run is interrupted. If the run still doesn't end, its
        executor is killed.

        Args:
            source: The code.
            timeout: Time limit in seconds, from the start of the run; None means the context's default.
            store_history: Whether to count the run and keep it in the executor's history.
            key: Calls with the same key, from any client, join the same run.
            max_output: Number of bytes to keep from the start of stdout and stderr.
            callbacks: `on_stdout`, `on_stderr`, `on_result`, `on_error`, `on_input`; see `Callbacks`.

        Raises:
            HawseError: `exited` if the context has no executor, `not_found`, `stale_handle`, `limit_exceeded`, and the
                error that closed the client.
        """

    def stream(self, source: str, *, timeout: float | None=None, store_history: bool=True, key: str | None=None, stdin: bool=False) -> CodeRunStream:
        """Return a run's events as they arrive: `for event in ctx.stream(source)`. See `CodeEvent`.

        Args:
            source: The code.
            timeout: Time limit in seconds, from the start of the run; None means the context's default.
            store_history: Whether to count the run and keep it in the executor's history.
            key: Calls with the same key, from any client, join the same run.
            stdin: Whether the code can ask for input, with `CodeInput` events.
        """

    def attach(self, run: str | None=None) -> CodeRunStream:
        """Return a run's events from its start, even if another client started it.

        Args:
            run: The id of the run; None means the run in progress or, if there is none, the last run.
        """

    def watch(self) -> StateStream[CodeWatched]:
        """Return a context manager and iterator over the state of the context and its runs, now and after each change.

        The iteration ends when the context is deleted.
        """

    def complete(self, source: str, cursor: int | None=None) -> CodeCompleteResult:
        """Return completions for code at `cursor`, a position in characters; None means its end. Raises `exited`."""

    def inspect(self, source: str, cursor: int | None=None, *, detail: int=0) -> CodeInspectResult:
        """Return the documentation for an object in the code.

        Args:
            source: The code.
            cursor: A position in the code, in characters; None means its end.
            detail: 0 for signature and documentation, 1 to include the source.

        Raises:
            HawseError: `exited`.
        """

    def info(self) -> CodeContextInfo:
        """Return the current state of the context. Raises `not_found`."""

    def interrupt(self) -> None:
        """Interrupt the run in progress, as Ctrl-C does. Raises `exited`."""

    def restart(self) -> CodeContextInfo:
        """Replace the executor with a new one. The code's state is lost, and the run in progress ends as `stopped`."""

    def delete(self) -> None:
        """End the executor and all processes started by its code.

        It is not an error if the context no longer exists.
        """

    @property
    def id(self) -> str:
        """The object's id; empty until it is created."""

    def __enter__(self) -> Self:
        """Create or find the object. Does nothing if this handle has already been awaited.

        Raises:
            HawseError: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`, `language_unavailable` for a
                code context; `not_found` if the object to find does not exist.
        """

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def detach(self) -> None:
        """Keep the object when leaving the `with` block."""

class Code:
    """Runs code in a sandbox. The handle doesn't have to be closed."""
    def create(self, language: str | None=None, *, id: str | None=None, kernel: str | None=None, cwd: Directory | None=None, env: Env | None=None, timeout: float | None=None) -> CodeContext:
        """Create a code context. Await the result, or use it with `with`; leaving the block deletes the context.

        Args:
            language: The language; None means the kernel's language, or python.
            id: The id of the context; None means a random id.
            kernel: The name of an installed Jupyter kernel; None means the default kernel of `language`.
            cwd: The context's initial working directory.
            env: Variables to add to the context's environment; None unsets a variable.
            timeout: Default time limit for runs, in seconds; None means no limit.

        Raises:
            HawseError: When awaited: `conflict` if the id is taken, `language_unavailable`, `spawn_failed`,
                `limit_exceeded`.
        """

    def attach(self, id: str) -> CodeContext:
        """Return the context with this id.

        Await it, or use it with `with`; leaving the block does not delete the context.

        Raises:
            HawseError: When awaited: `not_found`.
        """

    def run(self, source: str, language: str | None=None, *, timeout: float | None=None, key: str | None=None, max_output: int=..., **callbacks: Unpack[Callbacks]) -> CodeResult:
        """Run code in a new executor, which ends after the run. See `CodeContext.run`.

        Args:
            source: The code.
            language: The language; None means python.
            timeout: Time limit in seconds; None means no limit.
            key: Calls with the same key, from any client, join the same run.
            max_output: Number of bytes to keep from the start of stdout and stderr.
            callbacks: `on_stdout`, `on_stderr`, `on_result`, `on_error`, `on_input`; see `Callbacks`.

        Raises:
            HawseError: `language_unavailable`, `spawn_failed`, and the error that closed the client.
        """

    def get(self, id: str) -> CodeContextInfo:
        """Return a context's current state. Raises `not_found`."""

    def list(self) -> builtins.list[CodeContextInfo]:
        """Return all contexts."""

    def languages(self) -> builtins.list[CodeLanguage]:
        """Return the languages that are installed or can be installed."""

class CodeRunStream:
    """The events of a run, in order, ending with a `CodeEnd`: `for event in ctx.stream(source)`.

    Leaving the loop early interrupts the run, unless the caller set a key or attached to the run.
    """
    @property
    def run(self) -> str | None:
        """The id of the run; None before it has started."""

    def answer(self, request: CodeInput, value: str) -> None:
        """Send a line to code that waits for input. Raises `conflict` if the code is no longer waiting."""

    def __iter__(self) -> Iterator[CodeEvent]:
        ...

    def events(self) -> Generator[CodeEvent, None]:
        """Yield the events, once. Wrap the generator in `contextlib.aclosing` to end it promptly when leaving early."""

class Desktop:
    """A desktop in a sandbox. The handle doesn't have to be closed.

    The methods that send input raise `not_found` if the desktop does not exist, `lease_held` if a viewer holds the
    writer lease, and `io_error` if the desktop does not respond.
    """
    id: str

    def named(self, id: str) -> Desktop:
        """Return a handle to another desktop in the same sandbox."""

    def start(self, *, width: int=1280, height: int=800, dpi: int=96) -> DesktopStartResult:
        """Start the desktop. If it is already running, it is returned unchanged and `created` is false.

        Args:
            width: Width, in pixels.
            height: Height, in pixels.
            dpi: Resolution, in pixels per inch.

        Raises:
            HawseError: `unavailable` if programs are missing, with instructions for installing them; `limit_exceeded`,
                `invalid_params`.
        """

    def stop(self) -> None:
        """End the desktop and all programs started on it. Raises `not_found`."""

    def list(self) -> builtins.list[DesktopInfo]:
        """Return the sandbox's running desktops."""

    def unavailable(self) -> str | None:
        """Return the reason why the sandbox cannot start a desktop, and how to install missing programs; None if it
        can.
        """

    def record(self, *, title: str | None=None) -> Recording:
        """Start recording the desktop's screen, about five times per second, for up to 4 hours.

        Args:
            title: The title of the recording.

        Raises:
            HawseError: `not_found` if the desktop does not exist, `limit_exceeded`, `no_space`.
        """

    def launch(self, command: Command, *, cwd: str | None=None, env: Env | None=None) -> ProcessInfo:
        """Start a program on the desktop; its process ends with the desktop.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            cwd: The working directory.
            env: Variables to add to the environment; None unsets a variable.

        Raises:
            HawseError: `not_found`, `spawn_failed`, `limit_exceeded`.
        """

    def resize(self, width: int, height: int) -> DesktopSize:
        """Change the desktop's size, in pixels."""

    def screenshot(self, *, format: ImageFormat='png', quality: int=80, region: tuple[int, int, int, int] | None=None) -> Screenshot:
        """Take a screenshot of the desktop, including the mouse pointer.

        Args:
            format: `png`, `jpeg` or `webp`.
            quality: Quality for `jpeg` and `webp`, from 1 to 100.
            region: The part to capture (x, y, width, height), in pixels; None means the whole desktop.

        Raises:
            HawseError: `not_found`; `unavailable` for `jpeg` and `webp` if the runtime lacks Pillow; `interrupted` if
                the connection is lost.
        """

    def windows(self) -> builtins.list[DesktopWindow]:
        """Return the program windows, in stacking order from bottom to top."""

    def move(self, x: int, y: int) -> None:
        """Move the mouse pointer."""

    def click(self, x: int, y: int, *, button: MouseButton='left', count: int=1, hold: str='') -> None:
        """Click at a pixel.

        Args:
            x: Pixels from the left edge.
            y: Pixels from the top edge.
            button: `left`, `middle` or `right`.
            count: Number of clicks; 2 is a double click.
            hold: Keys to hold down during the click, such as `ctrl+shift`.
        """

    def drag(self, path: Iterable[tuple[int, int]], *, button: MouseButton='left') -> None:
        """Drag with the mouse: press a button at the first point (x, y), move through the others, and release it at the
        last.
        """

    def scroll(self, x: int, y: int, *, dx: int=0, dy: int=0) -> None:
        """Turn the wheel at a pixel: `dy` steps down and `dx` steps to the right; negative steps go up and to the
        left.
        """

    def type(self, text: str) -> None:
        """Type text into the active window. Raises `invalid_params` for control characters other than tab and line
        feed.
        """

    def key(self, keys: str, *, count: int=1) -> None:
        """Press a key, or several at once, such as `ctrl+shift+t`. Raises `invalid_params` for an unknown name."""

    def clipboard(self, text: str | None=None) -> str:
        """Set the clipboard's text unless `text` is None, and return its current text."""

    def lease(self, action: LeaseAction, *, viewer: str | None=None, to: str | None=None, epoch: int | None=None) -> WriterLease:
        """Change which viewers may send input, as described for `desktop.lease` in docs/methods.md."""

    def connect(self, *, viewer: ViewerProfile | None=None, read_only: bool=False) -> DesktopConnection:
        """Return an RFB connection for a viewer. See `DesktopConnection`.

        Args:
            viewer: The viewer's identity.
            read_only: Whether the viewer's input is dropped.
        """

class DesktopConnection:
    """`with box.desktop.connect() as stream:` — the bytes of an RFB connection (RFC 6143), for VNC viewers.

    Entering raises `not_found` if the desktop does not exist. Iterating and writing raise `interrupted` if the client's
    connection is lost, and `protocol_error` after a message that viewers may not send.
    """
    @property
    def info(self) -> DesktopOpened:
        """The desktop and its viewers at the start of the connection."""

    def read(self) -> bytes:
        """Wait for the next bytes and return them; at the end of the stream, return an empty value."""

    def write(self, data: BytesLike) -> None:
        """Send bytes. Waits while the other end isn't reading."""

    def lines(self, *, encoding: str='utf-8', errors: str='replace') -> Iterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """

    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[bytes]:
        ...

class Egress:
    """A sandbox's egress rules. The handle doesn't have to be closed.

    Methods raise `HawseError`: `not_found` if the sandbox does not exist.
    """
    def get(self) -> EgressInfo:
        """Return the rules, the proxy's statistics since startup, and the latest refusals."""

    def set(self, allow: Sequence[str], deny: Sequence[str]=..., *, secrets: Sequence[str] | None=None) -> EgressInfo:
        """Replace the rules. When this returns, they apply to new connections, and open connections they don't allow
        have been closed.

        Args:
            allow: Rules `[METHODS ]HOST[:PORT]` for allowed connections.
            deny: Rules in the same format, which take precedence over `allow`.
            secrets: Names of the gateway's secrets that the proxy adds to requests. None keeps the current secrets.

        Raises:
            HawseError: `invalid_params` for an invalid rule, a secret that the caller may not use, or a sandbox that
                uses a different network; `unavailable` if the rules are stored, but the proxy has not applied them yet.
        """

    def watch(self, *, allowed: bool=False) -> EgressRequests:
        """Return a context manager and iterator over refusals.

        Args:
            allowed: Whether to report allowed requests as well.
        """

class EgressRequests:
    """`with box.egress.watch() as requests: for request in requests: …`

    Yields the latest refusals, then each new refusal. `EgressLost` reports how many refusals a slow client has missed.
    """
    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[EgressRequest | EgressLost]:
        ...

class Files:
    """The files in a sandbox. Relative paths are resolved against its workspace, or against `root` if this handle has
    one.

    The methods raise `HawseError`: `not_found`, `is_directory`, `not_directory`, `permission_denied` (also if a path
    leaves the root), `conflict` (if the target exists or the file has changed), `no_space`, `too_large`,
    `invalid_params`, `io_error`, and the error that closed the client.
    """
    def within(self, root: PathLike) -> Files:
        """Return a handle whose paths cannot leave the directory `root`, whether through `..` or a symlink."""

    def in_session(self, session: str) -> Files:
        """Return a handle whose relative paths are resolved against a session's current directory at the time of each
        call.

        Args:
            session: The id of the session. If it has ended, calls raise `exited`.
        """

    def open_read(self, path: PathLike, *, offset: int=0, length: int | None=None, version: str | None=None) -> FileReader:
        """Stream a file's bytes.

        Args:
            path: The file.
            offset: The offset of the first byte.
            length: The number of bytes; None reads to the end.
            version: The required version; any other version raises `conflict`.
        """

    def open_write(self, path: PathLike, *, mode: int | None=None, parents: bool=True, if_version: str | None=None, offset: int | None=None, mtime_ns: int | None=None, sparse: bool=False) -> FileWriter:
        """Stream into a file. The file is replaced when the `with` block ends; after an error, the old file
        remains.

        Args:
            path: The file.
            mode: Permission bits; None keeps the existing file's.
            parents: Whether to create missing directories.
            if_version: The version that the file must have at the end, or "" if it must not exist; otherwise `conflict`
                is raised.
            offset: Offset where writing in place starts; None replaces the file. If the file is shorter, `conflict` is
                raised. Bytes already written remain after an error. With 0, the file doesn't have to exist.
            mtime_ns: Its modification time, in nanoseconds since 1970; None means the current time.
            sparse: Whether to turn blocks of zeros into holes.
        """

    def read(self, path: PathLike, *, max_size: int=...) -> bytes:
        """Return a file's complete content, all from the same version. Raises `too_large` if it exceeds `max_size`
        bytes.
        """

    def write(self, path: PathLike, data: BytesLike | Iterable[BytesLike], *, mode: int | None=None, parents: bool=True, if_version: str | None=None) -> api.FileTransferResult:
        """Replace a file atomically; return its size and version.

        Args:
            path: The file.
            data: The content, as bytes or as an async iterable of bytes.
            mode: Permission bits; None keeps the existing file's.
            parents: Whether to create missing directories.
            if_version: The version that the file must have, as returned by `stat` and `write`, or "" if it must not
                exist.

        Raises:
            HawseError: `conflict` if the file's version is not `if_version`.
            TypeError: `data` is not bytes. For a str, use `write_text`. Nothing has been changed.
        """

    def read_text(self, path: PathLike, *, encoding: str='utf-8', errors: str='strict') -> str:
        """Return a file's text. Raises `UnicodeDecodeError` if the file is not valid in `encoding`, unless `errors`
        allows it.
        """

    def write_text(self, path: PathLike, text: str, *, encoding: str='utf-8', mode: int | None=None, parents: bool=True, if_version: str | None=None) -> api.FileTransferResult:
        """Replace a file with text. See `write`."""

    def upload(self, local: PathLike, remote: PathLike, *, mode: int | None=None, preserve: bool=False, resume: bool=False, progress: Progress | None=None) -> api.FileTransferResult:
        """Send a local file. If the connection is lost, the upload later continues with the bytes that haven't arrived.

        With `resume`, the received bytes are kept beside the remote file as `.hawse-….part` if the connection is lost
        permanently or the program exits. The next upload of the same, unchanged local file to the same path picks up
        from there. Each upload removes other `.part` files for this path that are more than a day old. A new file
        belongs to the user that the sandbox's programs run as. `resume` has no effect if `remote` is a symlink or a
        special file.

        Args:
            local: The file to send.
            remote: The file in the sandbox, which is replaced once all bytes have arrived.
            mode: Permission bits; None keeps the existing file's.
            preserve: Whether to preserve the local file's mode, modification time and holes.
            resume: Whether another call can resume this one.
            progress: See `Progress`.

        Raises:
            OSError: The local file cannot be read.
            HawseError: `conflict` if the local file changes during an upload with `resume`.
        """

    def download(self, remote: PathLike, local: PathLike, *, preserve: bool=False, progress: Progress | None=None) -> int:
        """Download a file and return its size. The local file appears once the download is complete.

        If the download fails, the received bytes are kept beside the local file as `.hawse-….part`, and the next
        download of the same version picks up from there.

        Args:
            remote: The file in the sandbox.
            local: The local file.
            preserve: Whether to preserve the remote file's mode, modification time and holes. The set-user-ID,
                set-group-ID and sticky bits are never set.
            progress: See `Progress`.
        """

    def upload_tree(self, local: PathLike, remote: PathLike, *, progress: Progress | None=None, on_error: OnFailure | None=None) -> TreeResult:
        """Send a file, or a directory and everything in it.

        Modes, modification times, holes and symlinks are preserved. FIFOs, sockets and devices are skipped. Existing
        files and symlinks are replaced; other files in an existing directory are kept. To resume an interrupted call,
        repeat it.

        Args:
            local: The directory to send.
            remote: The directory in the sandbox, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with each path below `local` that cannot be copied, and the exception. The other paths are
                still copied. If None, the exception is raised.

        Raises:
            OSError: A local file cannot be read.
            HawseError: A file in the sandbox cannot be written.
        """

    def download_tree(self, remote: PathLike, local: PathLike, *, progress: Progress | None=None, on_error: OnFailure | None=None) -> TreeResult:
        """Download a file, or a directory and everything in it. See `upload_tree`.

        Nothing is written through a symlink below `local`.

        Args:
            remote: The directory in the sandbox.
            local: The local directory, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with each path below `remote` that cannot be copied, and the exception. The other paths are
                still copied. If None, the exception is raised.

        Raises:
            OSError: A local file cannot be written.
            HawseError: A file in the sandbox cannot be read.
        """

    def archive(self, path: PathLike='.', *, format: api.ArchiveFormat='tar.gz', include: Sequence[str] | None=None, exclude: Sequence[str] | None=None) -> Iterator[bytes]:
        """Iterate over the bytes of an archive that is created on the fly. Symlinks are preserved.

        The iteration cannot be resumed: if the connection is lost, `interrupted` is raised.

        Args:
            path: A directory or a file.
            format: `tar`, `tar.gz` or `zip`.
            include: Globs for files to include, as in `list`.
            exclude: Globs for files to exclude.
        """

    def stat(self, path: PathLike, *, follow: bool=True, detect: bool=False) -> api.FileStatResult:
        """Describe the file at `path`.

        Args:
            path: The file or directory.
            follow: Whether to follow a symlink instead of describing the symlink itself.
            detect: Whether to read the start of a file to fill in `mime` and `binary` in the result.
        """

    def exists(self, path: PathLike, *, follow: bool=True) -> bool:
        """Return whether `path` exists. A dangling symlink only counts as existing if `follow` is false."""

    def list(self, path: PathLike='.', *, recursive: bool=False, depth: int | None=None, hidden: bool=True, include: Sequence[str] | None=None, exclude: Sequence[str] | None=None, on_error: Callable[[api.FileFailure], object] | None=None) -> Iterator[api.FileEntry]:
        """List a directory, in no particular order.

        `for entry in files.list()` uses a constant amount of memory, however large the directory is; `await
        files.list()` returns a list.

        Args:
            path: The directory. The paths of entries are relative to it.
            recursive: Whether to descend into subdirectories. Symlinks are not followed.
            depth: Maximum number of levels to descend.
            hidden: Whether to include names that start with a dot.
            include: Globs for files to include: `*.py` matches names at any depth, `src/**/*.py` matches paths.
            exclude: Globs for files to exclude.
            on_error: Called for entries that cannot be read; the iteration continues. If None, the error is raised.
        """

    def search(self, pattern: str | None=None, path: PathLike='.', *, literal: bool=False, ignore_case: bool=False, words: Sequence[str] | None=None, hidden: bool=True, include: Sequence[str] | None=None, exclude: Sequence[str] | None=None, limit: int=1000, on_error: Callable[[api.FileFailure], object] | None=None) -> Iterator[api.SearchMatch]:
        """Iterate over the lines that match `pattern` or, without a pattern, over the files selected by the globs.

        Paths are relative to `path`. Binary files are skipped.

        Args:
            pattern: A regular expression in RE2 syntax.
            path: The directory to search.
            literal: Whether `pattern` is plain text rather than a regular expression.
            ignore_case: Whether to ignore case.
            words: Strings that a file's path must all contain, in any order and ignoring case. None accepts any path.
            hidden: Whether to include names that start with a dot.
            include: Globs for files to include, as in `list`.
            exclude: Globs for files to exclude.
            limit: Maximum number of matches.
            on_error: As in `list`.

        Raises:
            HawseError: `too_large` if there are more than `limit` matches.
        """

    def edit(self, path: PathLike, old: str | None=None, new: str | None=None, *, all: bool=False, edits: Sequence[TextEdit] | None=None, patch: str | None=None, if_version: str | None=None) -> FileEditResult:
        """Change a file atomically, with `old` and `new`, several `edits`, or a `patch`. Either all changes are
        applied, or none are.

        Args:
            path: The file.
            old: The text to replace. It must occur exactly once, unless `all` is true.
            new: The replacement.
            all: Whether to replace every occurrence of `old`.
            edits: Replacements, applied in order, instead of `old` and `new`.
            patch: A unified diff of this file, instead of `old` and `new`.
            if_version: The version that the file must have, as returned by `stat` and `write`.

        Returns:
            The file's size and version, and the number of strings or hunks `replaced`.

        Raises:
            ValueError: Not exactly one of `old` with `new`, `edits` and `patch` was passed.
            HawseError: `conflict` if a string to replace does not occur, or occurs more than once and `all` is not set
                (`details` has `edit` and `found`); `conflict` if a hunk does not match exactly one position (`hunk` and
                `found`), or if the file has changed; `too_large` if the file exceeds 16 MiB.
        """

    def extract(self, archive: PathLike, to: PathLike='.', *, overwrite: bool=False, strip: int=0, max_entries: int=100000, max_bytes: int=..., on_progress: Callable[[FileExtractProgress], object] | None=None) -> FileExtractResult:
        """Extract an archive file in the sandbox: zip, or tar, optionally compressed with gzip, bzip2, xz or zstd.

        Nothing is written outside `to`. If the caller is cancelled, the extraction stops, and files already extracted
        are kept.

        Args:
            archive: The file.
            to: The directory, which is created if it is missing.
            overwrite: Whether to replace existing files. If false and a file already exists, `conflict` is raised.
            strip: Number of leading components to remove from each name.
            max_entries: Maximum number of entries; if there are more, `too_large` is raised.
            max_bytes: Maximum total size of the extracted files, in bytes; if it is exceeded, `too_large` is raised.
            on_progress: Called a few times per second.

        Raises:
            HawseError: `permission_denied` if an entry leaves `to` (`details`: `entry`), `invalid_params` if the
                archive is damaged or encrypted, `interrupted` if the connection is lost, `unavailable` if the sandbox
                lacks zstd, `too_large`, `no_space`.
        """

    def mkdir(self, path: PathLike, *, parents: bool=False, mode: int | None=None) -> bool:
        """Create a directory; return whether this call created it.

        Args:
            path: The directory.
            parents: Whether to create missing parent directories, and to accept an existing directory.
            mode: Its permission bits.
        """

    def chmod(self, path: PathLike, mode: int) -> None:
        """Set the permission bits of a file or directory."""

    def utime(self, path: PathLike, mtime_ns: int, *, follow: bool=True) -> None:
        """Set the modification time of a file, directory or symlink.

        Args:
            path: A file, a directory or a symlink.
            mtime_ns: Nanoseconds since 1970.
            follow: Whether to follow a symlink instead of changing the symlink's own time.
        """

    def symlink(self, path: PathLike, target: PathLike, *, overwrite: bool=False) -> None:
        """Create a symlink.

        Args:
            path: The path of the symlink.
            target: The path that the symlink points to. It is stored unchanged.
            overwrite: Whether to replace an existing file or symlink. If false and `path` exists, `conflict` is raised.
        """

    def delete(self, path: PathLike, *, recursive: bool=False) -> int:
        """Delete a file, symlink or directory; return the number of files and directories deleted. Raises
        `is_directory` if the path is a directory and `recursive` is not set.
        """

    def rename(self, path: PathLike, to: PathLike, *, overwrite: bool=False) -> None:
        """Rename a file or directory within its file system, atomically. Raises `conflict` if `to` exists, unless
        `overwrite` is set.
        """

    def move(self, path: PathLike, to: PathLike, *, overwrite: bool=False) -> None:
        """Rename a file or directory, or copy and delete it across file systems. Raises `conflict` if `to` exists,
        unless `overwrite` is set.
        """

    def copy(self, path: PathLike, to: PathLike, *, recursive: bool=False, overwrite: bool=False) -> api.FileCopyResult:
        """Copy a file or directory, and return statistics. The copy appears at `to` once it is complete.

        Modes, timestamps and symlinks are kept.

        Args:
            path: The file or directory.
            to: The path of the copy.
            recursive: Whether to copy a directory and everything in it. If false and `path` is a directory,
                `is_directory` is raised.
            overwrite: Whether to replace an existing file.
        """

class FileReader:
    """`with box.files.open_read(path) as file:` — `file.info`, then `for chunk in file`, or `file.lines()`.

    Entering raises `not_found`, `is_directory`, `permission_denied`, or `conflict` if the file's version is different.
    If the connection is lost, iterating raises `conflict` if the file has changed.
    """
    @property
    def info(self) -> FileOpened:
        """The file as it was when opened."""

    def lines(self, *, encoding: str='utf-8', errors: str='replace') -> Iterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """

    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[bytes]:
        ...

class FileWriter:
    """`with box.files.open_write(path) as file:` — the file is replaced when the block ends without an error."""
    def __enter__(self) -> FileWriter:
        ...

    @property
    def result(self) -> FileTransferResult:
        """The file's size and version, available after the block."""

    def write(self, data: BytesLike) -> None:
        """Append bytes. Waits if the disk is slow. Raises the server's error: `no_space`, `not_found`, …"""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

class Git:
    """`box.git`: git in a sandbox. `path` is a directory in the repository, by default the workspace.

    If git fails, `HawseError` is raised. `details["reason"]` is the reason (`not_a_repository`, `authentication`,
    `network`, `revision`, `local_changes`, `merge`, `rejected`, …), and `details["stderr"]` is git's message without
    secrets.
    """
    def clone(self, url: str, path: PathLike | None=None, *, depth: int | None=None, branch: str | None=None, filter: str | None=None, credentials: GitCredentials | None=None, timeout: float | None=None, on_progress: Callable[[GitProgress], object] | None=None) -> GitHead:
        """Clone a repository. If the clone fails or the caller is cancelled, `path` is left unchanged.

        Args:
            url: The repository.
            path: The directory to create; None means the name of the repository.
            depth: Number of commits to fetch; None means all.
            branch: The branch to check out; None means the remote's default branch.
            filter: Objects to omit, such as `blob:none`.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.
            on_progress: Called from the event loop with progress reports.

        Raises:
            HawseError: `conflict` if `path` is not empty, `not_found`, `permission_denied`, `deadline_exceeded`,
                `io_error` with the reason `network`.
        """

    def status(self, path: PathLike='.', *, ignored: bool=False) -> GitStatusResult:
        """Return the changes since the last commit, the branch, and how far it is ahead of and behind its upstream."""

    def diff(self, path: PathLike='.', *, staged: bool=False, base: str | None=None, target: str | None=None, paths: Sequence[PathLike] | None=None, limit: int | None=None) -> GitDiffResult:
        """Return a patch; by default, it compares the working tree with the index.

        Args:
            path: A directory in the repository.
            staged: Whether to compare the last commit with the index instead.
            base: A revision to compare with the working tree, or with `target`, instead.
            target: A revision to compare `base` with.
            paths: Paths to compare; None means all.
            limit: Maximum size of the patch, in bytes; by default 256 KiB.
        """

    def log(self, path: PathLike='.', *, ref: str | None=None, limit: int=50, skip: int=0, paths: Sequence[PathLike] | None=None) -> GitLogResult:
        """Return the latest commits.

        Args:
            path: A directory in the repository.
            ref: The revision to start at; None means the current one.
            limit: Maximum number of commits.
            skip: Number of commits to skip first.
            paths: Only commits that changed these paths.
        """

    def add(self, paths: Sequence[PathLike] | None=None, *, path: PathLike='.', all: bool=False) -> None:
        """Stage `paths`, which are taken literally, or `all` changes, including deletions."""

    def commit(self, message: str, *, path: PathLike='.', author: GitAuthor | None=None, all: bool=False, allow_empty: bool=False) -> GitHead:
        """Commit the staged changes.

        Args:
            message: The commit message.
            path: A directory in the repository.
            author: The author and committer; None means those configured in git.
            all: Whether to commit all changes to tracked files as well.
            allow_empty: Whether to allow a commit without changes.
        """

    def branches(self, path: PathLike='.') -> GitBranchResult:
        """Return the branches, including remote-tracking branches, and the current branch."""

    def create_branch(self, name: str, *, path: PathLike='.', start: str | None=None, force: bool=False) -> GitBranchResult:
        """Create a branch without switching to it. `checkout` can switch as well.

        Args:
            name: The name of the branch.
            path: A directory in the repository.
            start: The revision to start at; None means the current one.
            force: Whether to move the branch if it already exists.
        """

    def delete_branch(self, name: str, *, path: PathLike='.', force: bool=False) -> GitBranchResult:
        """Delete a branch. With `force`, even an unmerged branch is deleted."""

    def checkout(self, ref: str | None=None, *, path: PathLike='.', create: bool=False, start: str | None=None, paths: Sequence[PathLike] | None=None) -> GitHead:
        """Switch to a branch or commit, or restore paths.

        Args:
            ref: The branch or commit.
            path: A directory in the repository.
            create: Whether to create the branch `ref`.
            start: The revision to start the new branch at.
            paths: Paths to restore from `ref` or the index, without switching.
        """

    def pull(self, *, path: PathLike='.', remote: str | None=None, branch: str | None=None, rebase: bool=False, ff_only: bool=False, credentials: GitCredentials | None=None, timeout: float | None=None) -> GitHead:
        """Fetch from a remote and integrate its branch.

        Args:
            path: A directory in the repository.
            remote: The remote; None means the current branch's remote.
            branch: The remote branch; None means the current branch's upstream.
            rebase: Whether to rebase instead of merging.
            ff_only: Whether to fail if a merge or rebase is required.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.

        Raises:
            HawseError: `conflict` with the reason `merge`, and the same errors as `clone`.
        """

    def push(self, *, path: PathLike='.', remote: str='origin', branch: str | None=None, force: bool=False, set_upstream: bool=False, credentials: GitCredentials | None=None, timeout: float | None=None) -> GitPushResult:
        """Push a branch.

        Args:
            path: A directory in the repository.
            remote: The remote.
            branch: The branch; None means the current one.
            force: Whether to overwrite the remote branch, provided it hasn't changed since it was last fetched.
            set_upstream: Whether to set the remote branch as the upstream.
            credentials: Credentials for http and https, which are not stored.
            timeout: Time limit in seconds; 600 by default.

        Raises:
            HawseError: `conflict` with the reason `rejected` if the remote has other commits, and the same errors as
                `clone`.
        """

class Images:
    """A provider's images. The handle doesn't have to be closed.

    Methods raise `HawseError`: `invalid_params` if the provider does not use images, `unavailable` if it does not
    respond.
    """
    def list(self, *, provider: str | None=None) -> list[ImageInfo]:
        """Return the local images of the provider with this name; None means the gateway's default provider."""

    def pull(self, image: str, *, provider: str | None=None, on_progress: Callable[[ImageProgress], object] | None=None) -> ImageInfo:
        """Pull an image, or a newer version of a local image, and return it.

        Args:
            image: Its name, with a tag or digest; the default tag is `latest`.
            provider: The name of the provider; None means the gateway's default.
            on_progress: Called with progress reports; must return quickly.

        Raises:
            HawseError: `invalid_params` if the image does not exist or must not be pulled; `capacity_exceeded`.
        """

    def remove(self, image: str, *, provider: str | None=None) -> None:
        """Remove one of an image's names. Removing the last one deletes the image's files.

        Args:
            image: Its name.
            provider: The name of the provider; None means the gateway's default.

        Raises:
            HawseError: `not_found`; `conflict` if a sandbox uses the image.
        """

class Mounts:
    """A sandbox's mounts. The handle doesn't have to be closed.

    Methods raise `HawseError`: `unavailable` if the gateway or the sandbox does not support mounts.
    """
    def create(self, bucket: str, path: PathLike, *, prefix: str='', read_only: bool=False, credentials: MountCredentials | None=None) -> MountInfo:
        """Mount a bucket or a directory from the gateway's machine. The mount is restored whenever the sandbox starts.

        Args:
            bucket: A name in the gateway's settings; with `credentials`, the name of any bucket.
            path: An empty or new directory below the workspace.
            prefix: The root of the mount; only files below it are visible.
            read_only: Whether the mount is read-only.
            credentials: Credentials for a bucket in another store. Only users with every right may pass them.

        Raises:
            HawseError: `not_found` if the caller may not mount the bucket, `conflict` if the directory is not empty,
                `io_error` if the store refuses the credentials or does not respond, `limit_exceeded`.
        """

    def list(self) -> builtins.list[MountInfo]:
        """Return the mounts, sorted by path."""

    def delete(self, mount: str, *, force: bool=False, discard: bool=False, timeout: float=60.0) -> None:
        """Wait until all changes have been uploaded, and remove a mount. The bucket's content is kept.

        Args:
            mount: The id of the mount.
            force: Whether to remove the mount even if programs are using its files.
            discard: Whether to discard changes that haven't been uploaded yet.
            timeout: Maximum number of seconds to wait for the uploads.

        Raises:
            HawseError: `conflict` if programs are using its files; `unavailable` if the uploads take longer than
                `timeout`. `details["pending"]` files are then still uploaded before the mount is deleted.
        """

class PortListener:
    """`with box.ports.listen(8080) as listener: for incoming in listener: …`

    Yields each connection that a program in the sandbox opens. Accept each one within 30 seconds, with
    `box.ports.accept(incoming)`. Entering raises `conflict` if the port is in use. While the client is not connected,
    connections are refused.
    """
    def __enter__(self) -> Self:
        """Start listening. Raises `conflict`, `limit_exceeded`, `invalid_params`."""

    @property
    def port(self) -> int:
        """The port number."""

    @property
    def address(self) -> str:
        """The address that programs in the sandbox can connect to."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[PortIncoming]:
        ...

class PortConnection:
    """`with box.ports.connect(5432) as stream:` — a TCP connection. Leaving the block resets the connection,
    unless it has already ended.

    Entering raises `unavailable` if no program is listening, `forbidden` if the port does not belong to the sandbox,
    and `not_found`. Iterating and writing raise `interrupted` if the client's connection is lost, and `io_error` if the
    TCP connection breaks.
    """
    def flush(self) -> None:
        """Wait until the sandbox has written all bytes to the TCP connection."""

    def end(self) -> None:
        """Close this half of the connection. The other end reads EOF and can still send."""

    def close(self) -> None:
        """Close this half of the connection and wait until the other end has closed its half. Data that arrives in the
        meantime is discarded.
        """

    def read(self) -> bytes:
        """Wait for the next bytes and return them; at the end of the stream, return an empty value."""

    def write(self, data: BytesLike) -> None:
        """Send bytes. Waits while the other end isn't reading."""

    def lines(self, *, encoding: str='utf-8', errors: str='replace') -> Iterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """

    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[bytes]:
        ...

class Ports:
    """A sandbox's ports. The handle doesn't have to be closed."""
    def list(self) -> builtins.list[OpenPort]:
        """Return the ports that programs in the sandbox are listening on, sorted by number."""

    def watch(self) -> StateStream[builtins.list[OpenPort]]:
        """Return a context manager and iterator over the open ports, now and after every change."""

    def expose(self, port: int, *, name: str | None=None, token: str | None=None) -> Preview:
        """Create a preview of a port, or return the existing preview. Its URL only gives access to this port.

        No program needs to be listening yet. The preview lasts until `unexpose`, or until the sandbox is deleted.

        Args:
            port: The port.
            name: A display name.
            token: The token in the address, 8 to 40 lower-case letters and digits; None generates an unguessable token.

        Raises:
            HawseError: `forbidden` if the port does not belong to the sandbox, `limit_exceeded`; `conflict` if the port
                has another token, or the token belongs to another port.
        """

    def unexpose(self, port: int) -> None:
        """Remove a preview, and close the connections through it. It is not an error if the port has no preview."""

    def exposed(self) -> builtins.list[Preview]:
        """Return all previews."""

    def connect(self, port: int | None=None, *, token: str | None=None) -> PortConnection:
        """Return a TCP connection to a port, specified by its number or by a preview's token. See `PortConnection`."""

    def listen(self, port: int=0) -> PortListener:
        """Return a listener on a port in the sandbox, which forwards connections to this client. See `PortListener`.

        Args:
            port: The port, 1024 or above; 0 means a free port.
        """

    def accept(self, incoming: PortIncoming) -> PortConnection:
        """Return a connection reported by a listener. See `PortConnection`. Entering raises `not_found`."""

class OutputStream:
    """The bytes of stdout or stderr as they arrive. `lines` yields lines instead."""
    def __iter__(self) -> OutputStream:
        ...

    def __next__(self) -> bytes:
        ...

    def lines(self, *, encoding: str='utf-8', errors: str='replace') -> Iterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """

class Process:
    """A process this client is attached to. The process keeps running after `close`.

    Leaving `with` closes the handle. It also kills the process if it was started by this handle, unless `detach`
    was called.
    """
    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    @property
    def id(self) -> str:
        """The id of the process."""

    @property
    def instance(self) -> str:
        """Distinguishes processes with the same id: each newly started process is a new instance."""

    @property
    def pid(self) -> int:
        """The process id inside the sandbox."""

    def write(self, data: BytesLike) -> None:
        """Write to stdin and return once the bytes are buffered. Waits if the program reads slowly.

        Raises:
            HawseError: The call failed; `exited` if the process has ended. If the process was started without `stdin`,
                `forbidden` if this client started it, otherwise `protocol_error`.
        """

    def flush(self) -> None:
        """Wait until the sandbox has received all bytes written."""

    def end(self) -> None:
        """Send EOF on stdin after all bytes written so far."""

    def wait(self, *, timeout: float | None=None) -> Exit:
        """Wait until the process has ended and its output has arrived. Returns its exit status.

        Unread output can still be read afterwards, as long as the sandbox keeps it.

        Args:
            timeout: Time limit for the wait, in seconds; None means no limit. The process itself continues.

        Raises:
            TruncatedError: The last bytes of its output are no longer kept.
            ClientClosedError: After `close`.
            HawseError: The call failed; `deadline_exceeded` if the time limit is reached.
        """

    def info(self) -> ProcessInfo:
        """Return the process's current state. Raises `not_found`."""

    def wait_for_log(self, text: str | None=None, *, pattern: str | None=None, stream: StreamName | None=None, since: Mapping[StreamName, int] | None=None, timeout: float=30.0) -> LogMatch:
        """Wait until the process has printed `text`, or a match for `pattern`.

        Args:
            text: Literal text to search for.
            pattern: A regular expression in RE2 syntax.
            stream: The stream to search; None means both.
            since: The offset in each stream where the search starts; None means all output that is still kept.
            timeout: Time limit in seconds.

        Raises:
            HawseError: `exited` if the process ends without a match (`details["exit"]` is the `Exit`),
                `deadline_exceeded`, `invalid_params`, `not_found`, `stale_handle`, and the error that closed the
                client.
        """

    def wait_for_port(self, port: int, *, path: str | None=None, status: tuple[int, int]=..., timeout: float=30.0) -> int | None:
        """Wait until a program is listening on `port` in the sandbox or, with `path`, until it responds to an HTTP GET.

        Args:
            port: The TCP port.
            path: The path to request.
            status: The lowest and highest HTTP status that count as a response.
            timeout: Time limit in seconds.

        Returns:
            The status of the response; None if `path` is not set.

        Raises:
            HawseError: `exited` if the process ends first, and the same errors as `wait_for_log`.
        """

    def signal(self, signal: str | int) -> None:
        """Send a signal to the process group: "INT", "SIGINT" or a number.

        Raises:
            HawseError: `exited`, `not_found`, `stale_handle`.
        """

    def kill(self, *, signal: str | None=None, grace: float | None=None) -> Exit:
        """End the process tree: SIGTERM (or `signal`), then SIGKILL after `grace` seconds (by default 5).

        Returns the process's exit status.
        """

    def detach(self) -> None:
        """Keep the process running when leaving the `with` block."""

    def close(self) -> None:
        """Stop reading and writing. The process keeps running."""

    @property
    def offset(self) -> Mapping[StreamName, int]:
        """The offset in each stream after the last byte read. Pass it to `attach` as `since` to continue there."""

    @property
    def stdout(self) -> OutputStream:
        """Iterate over stdout only. Both streams share a window, so read stderr as well if it could be long."""

    @property
    def stderr(self) -> OutputStream:
        """Iterate over stderr only."""

    def output(self) -> Iterator[tuple[StreamName, bytes]]:
        """Iterate over `(stream, bytes)` in order of arrival, to the end of both streams."""

    def lines(self, *, encoding: str='utf-8', errors: str='replace') -> Iterator[tuple[StreamName, str]]:
        """Iterate over `(stream, line)` from both streams in order of arrival. See `OutputStream.lines`."""

class Processes:
    """A sandbox's processes. The handle doesn't have to be closed."""
    def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Start a process, exactly once, and attach to it.

        `process = box.processes.start(…)` starts a process that outlives the client. `with
        box.processes.start(…) as process:` kills it at the end, unless `detach` was called.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`, `unattended`; see `StartOptions`.

        Raises:
            HawseError: When awaited: `conflict` if a process with this `id` is running, `spawn_failed`,
                `limit_exceeded`, and the error that closed the client.
        """

    def attach(self, id: str, *, instance: str | None=None, since: Mapping[StreamName, int] | None=None) -> Process:
        """Attach to a running or ended process.

        Args:
            id: The id of the process.
            instance: The expected instance; None accepts any.
            since: The offset in each stream to start at; None means all output that is still kept.

        Raises:
            HawseError: `not_found`, `stale_handle` if the process is a different instance, and the error that closed
                the client.
        """

    def get(self, id: str) -> ProcessInfo:
        """Return the state of a running or ended process. Raises `not_found`, and the error that closed the client."""

    def kill_all(self, *, session: str | None=None, signal: Signal | None=None, grace: float | None=None) -> int:
        """End all running processes along with all their descendants; return their number once all have exited.

        Args:
            session: The id of a session, to end only its processes. None means all processes, including `exec`
                commands.
            signal: The first signal; None means SIGTERM.
            grace: Seconds to wait after the first signal before sending SIGKILL; None means 5.

        Raises:
            HawseError: `permission_denied` if a process survives SIGKILL, and the error that closed the client.
        """

    def remove(self, id: str | None=None, *, instance: str | None=None, session: str | None=None) -> int:
        """Remove an ended process along with its output, or all ended processes. Returns the number removed.

        Args:
            id: The id of the process; None means all ended processes.
            instance: The expected instance; None accepts any.
            session: Without `id`: the id of a session, to remove only its processes. None means all.

        Raises:
            HawseError: `not_found`, `stale_handle`, `conflict` if the process is still running, and the error that
                closed the client.
        """

    def list(self, *, session: str | None=None) -> list[ProcessInfo]:
        """Return the running processes and those that ended most recently, in the order they were started.

        `argv` is truncated to 256 characters.

        Args:
            session: The id of a session, to list only its processes. None means all.
        """

    def begin(self, fields: StartFields) -> Process:
        """Start a process and attach to it. Awaiting the result of `start` calls this."""

class Session:
    """`with box.sessions.create() as session: session.exec("cd /tmp"); …`

    Leaving the block deletes the created session and ends all processes it started, unless `detach` was called.
    Commands in the same session run one at a time, in the order they were requested, across all clients. Different
    sessions run in parallel.
    """
    def exec(self, command: str, **options: Unpack[ExecOptions]) -> SessionResult:
        """Run a command in the session's shell after all earlier commands, and return its exit status and output.

        The command's effects on the shell persist. If the caller is cancelled and the call has no `key`, the command is
        removed if it is queued, or ended if it is running. The session continues.

        Args:
            command: A shell command.
            options: See `ExecOptions`. `cwd` and `env` are for this command only. `timeout` starts when the command
                does; the default is the session's `command_timeout`. If it is exceeded, the command's processes are
                killed, the shell skips the rest of the command, the exit code is 124, and the session continues.

        Raises:
            CommandError: The command failed and `check` is true. After `timeout`, it is a `CommandTimeoutError`, which
                is also a `TimeoutError`.
            TruncatedError: Output was lost.
            HawseError: `exited` if the shell has ended (`details["exit"]` is the `Exit`) or the session was deleted;
                `spawn_failed` if `cwd` does not exist; `limit_exceeded`, `not_found`, `stale_handle`; the error that
                closed the client.
        """

    def cancel(self, key: str | None=None, *, grace: float | None=None) -> None:
        """End a command, but not the session: SIGTERM, then SIGKILL after `grace` seconds (by default 5).

        A queued command is removed and its `exec` raises `cancelled`. The result of a running command has the signal
        `SIGTERM`. This returns once the command has ended. It is not an error if the command does not exist.

        Args:
            key: The key that was passed to `exec`; None means the running command, no matter which client started it.
            grace: Seconds to wait after SIGTERM before sending SIGKILL.

        Raises:
            HawseError: `not_found`, `stale_handle`; the error that closed the client.
        """

    def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Start a process with a copy of the session's state, after any queued commands, and attach to it. See
        `Processes.start`.

        The process gets the session's directory and exported environment and, if `command` is a string, its aliases
        and, in bash, its functions and options. The process does not change the session, and outlives it.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`, `unattended`; see `StartOptions`.

        Raises:
            HawseError: `exited` as in `exec`, and the same errors as `Processes.start`.
        """

    def info(self) -> SessionInfo:
        """Return the session's current state, including how it ended. Raises `not_found`."""

    def wait(self) -> Exit:
        """Wait until the session's shell has ended, and return its exit status. Raises `not_found`, `stale_handle`."""

    def delete(self, *, grace: float | None=None) -> None:
        """End the shell and all processes it started: SIGTERM, then SIGKILL after `grace` seconds (by default 5).

        It is not an error if the session no longer exists.
        """

    @property
    def id(self) -> str:
        """The object's id; empty until it is created."""

    def __enter__(self) -> Self:
        """Create or find the object. Does nothing if this handle has already been awaited.

        Raises:
            HawseError: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`, `language_unavailable` for a
                code context; `not_found` if the object to find does not exist.
        """

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def detach(self) -> None:
        """Keep the object when leaving the `with` block."""

class Sessions:
    """A sandbox's sessions. The handle doesn't have to be closed."""
    def create(self, id: str | None=None, *, cwd: Directory | None=None, env: Env | None=None, shell: str | None=None, command_timeout: float | None=None) -> Session:
        """Create a persistent shell. Await the result, or use it with `with`; leaving the block deletes the
        session.

        Args:
            id: The id of the session; None means a random id.
            cwd: The shell's initial working directory.
            env: Variables to add to the shell's environment; None unsets a variable.
            shell: The path of the shell; None means bash.
            command_timeout: Default time limit for commands, in seconds; None means no limit.

        Raises:
            HawseError: When awaited: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`.
        """

    def attach(self, id: str) -> Session:
        """Return the session with this id.

        Await it, or use it with `with`; leaving the block does not delete the session.

        Raises:
            HawseError: When awaited: `not_found`.
        """

    def get(self, id: str) -> SessionInfo:
        """Return a session's current state, including how it ended. Raises `not_found`."""

    def list(self) -> list[SessionInfo]:
        """Return the running sessions and those that ended most recently."""

class Sandbox:
    """A handle to a sandbox. It uses an existing client's connection, as with `hw.sandbox()`, or has its own.

    `create`, `get` and `list` are for programs that only need one sandbox. Without `client`, they connect to the
    gateway found by `connect()`.

    Attributes:
        id: The id of the sandbox.
        connection: The client connected by this handle, which `close` closes; None if it uses another client.
    """
    @classmethod
    def create(cls, id: str | None=None, *, client: Client | None=None, **options: Unpack[SandboxOptions]) -> CreatedSandbox:
        """Create a sandbox and start it.

        `box = Sandbox.create()` creates a permanent sandbox. `with Sandbox.create() as box:` deletes it at
        the end and closes the connection.

        Args:
            id: The id; None means a random id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.
            options: The same as in `hw.sandboxes.create`. See `SandboxOptions`.

        Raises:
            HawseError: When awaited: the same errors as `connect()` and `hw.sandboxes.create`.
        """

    @classmethod
    def get(cls, id: str, *, client: Client | None=None) -> OpenedSandbox:
        """Find an existing sandbox, without starting it.

        `box = Sandbox.get("build")` returns its handle. `with Sandbox.get("build") as box:` closes the
        connection at the end, but keeps the sandbox.

        Args:
            id: The id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.

        Raises:
            HawseError: When awaited: `not_found`; the same errors as `connect()`.
        """

    @classmethod
    def list(cls, *, labels: Mapping[str, str] | None=None, client: Client | None=None) -> builtins.list[SandboxInfo]:
        """Return the sandboxes that have all of these labels, like `hw.sandboxes.list`, without starting them.

        Args:
            labels: Labels that a sandbox must have.
            client: The client to use. If None, a connection is opened, and closed before returning.
        """

    def close(self) -> None:
        """Close the connection opened by `create` or `get`. Must be called in the task that opened it. The sandbox is
        kept.

        Does nothing if the sandbox uses a client's connection, or if called more than once.
        """

    def runtime(self) -> RuntimeInfoResult:
        """Return the version and state of the sandbox's runtime."""

    def metrics(self) -> RuntimeMetricsResult:
        """Return the counters of the sandbox's runtime."""

    @property
    def processes(self) -> Processes:
        """Processes, which outlive the client: `start`, `attach`, `get`, `list`."""

    @property
    def sessions(self) -> Sessions:
        """Persistent shells: `create`, `attach`, `get`, `list`."""

    @property
    def code(self) -> Code:
        """Code in Python, JavaScript, TypeScript, bash and others: `run`, `create`, `attach`, `get`, `list`."""

    @property
    def questions(self) -> Questions:
        """Questions for users about programs that are waiting for input: `ask`, `answer`, `watch`, `list`."""

    @property
    def terminals(self) -> Terminals:
        """Terminals, for users and programs: `open`, `attach`, `get`, `list`."""

    @property
    def recordings(self) -> Recordings:
        """Recordings: `attach`, `get`, `list`, `watch`. `Terminal.record` and `Desktop.record` start one."""

    @property
    def files(self) -> Files:
        """Files: `read`, `write`, `edit`, `upload`, `list`, `search`, `copy`, `archive` and more."""

    @property
    def backups(self) -> SandboxBackups:
        """This sandbox's backups: `create`, `restore`, `list`, `get`, `delete`. For all sandboxes, use `hw.backups`."""

    @property
    def mounts(self) -> Mounts:
        """Buckets and directories mounted from the gateway's machine: `create`, `list`, `delete`."""

    @property
    def egress(self) -> Egress:
        """The sandbox's egress rules, if its network is `filtered`: `get`, `set`, `watch`."""

    @property
    def git(self) -> Git:
        """Git: `clone`, `status`, `commit` and more."""

    @property
    def watches(self) -> Watches:
        """Changes in directories: `start` streams them, `changes` returns them on request."""

    @property
    def ports(self) -> Ports:
        """Open ports: `list` and `watch` them, create previews with `expose`, connect with `connect`."""

    @property
    def tunnels(self) -> Tunnels:
        """Durable public addresses for ports: `create`, `list`, `delete`."""

    @property
    def desktop(self) -> Desktop:
        """A graphical desktop: `start`, `screenshot`, `click`, `type`, `launch`, `connect`."""

    def info(self) -> SandboxInfo:
        """Return the gateway's description of the sandbox, without starting it. Raises `not_found`."""

    def wake(self) -> SandboxInfo:
        """Start the sandbox, even if it was stopped. A sleeping sandbox does not need this, because any call starts it.

        Raises:
            HawseError: `not_found`, `capacity_exceeded`, `cleanup_pending`, `unavailable`.
        """

    def stop(self) -> SandboxInfo:
        """End all programs in the sandbox, and refuse calls until `wake`. Its files are kept.

        Raises:
            HawseError: `cleanup_pending` if a program hasn't exited yet; the gateway keeps trying.
        """

    def pause(self) -> SandboxInfo:
        """Suspend all programs in the sandbox, and refuse calls until `resume`.

        Raises:
            HawseError: `invalid_params` if its provider does not support it, `stopped` if the sandbox is not running.
        """

    def resume(self) -> SandboxInfo:
        """Resume a paused sandbox."""

    def update(self, *, env: Mapping[str, str | None] | None=None, labels: Mapping[str, str | None] | None=None, timeout: float | None=None, idle_timeout: float | None=None, keep_alive: bool | None=None) -> SandboxInfo:
        """Change the sandbox. Settings that are omitted stay the same.

        Args:
            env: Variables to set for programs started after the call; None removes a variable.
            labels: Labels to set; None removes a label.
            timeout: Seconds until the sandbox is deleted, counted from now. This can only extend its lifetime.
            idle_timeout: Seconds of inactivity until the sandbox sleeps.
            keep_alive: Whether it never sleeps; False restores its previous `idle_timeout`.
        """

    def snapshot(self, *, name: str | None=None, ttl: float | None=None) -> BackupInfo:
        """Back up the workspace. `hw.sandboxes.create(snapshot=…)` creates other sandboxes from it.

        Args:
            name: A display name.
            ttl: Seconds until the backup is deleted; None means never.

        Raises:
            HawseError: The same errors as `hw.backups.create`.
        """

    def delete(self) -> None:
        """End all programs in the sandbox, and remove its files.

        Raises:
            HawseError: `not_found`; `cleanup_pending` if a program hasn't exited yet; the gateway keeps trying.
        """

    id: str

    def call(self, method: str, params: dict[str, Any] | None=None, *, key: str | None=None, timeout: float | None=None) -> Any:
        """Call any method of this sandbox by name. See `Client.call`."""

    @overload
    def exec(self, command: Command, *, terminal: Literal[True], **options: Unpack[TerminalExecOptions]) -> TerminalCommand:
        ...

    @overload
    def exec(self, command: Command, *, terminal: Literal[False]=False, **options: Unpack[ExecOptions]) -> CommandResult:
        """Run a command to completion, and return its exit status and output.

        With `terminal=True`, the command runs in a terminal, and the call also returns when a program waits for input.
        The result contains the question and the output so far; use its methods to answer, continue reading, or end the
        command.

        If the caller is cancelled, the command is ended, unless the call has a `key`.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            terminal: Whether to run the command in a terminal.
            options: See `ExecOptions`, or `TerminalExecOptions` with `terminal=True`. After `timeout`, all of the
                command's processes are killed.

        Raises:
            CommandError: The command failed and `check` is true. If `timeout` has expired, this is a
                `CommandTimeoutError`, which is also a `TimeoutError`.
            TruncatedError: Output was lost.
            HawseError: `spawn_failed`, `unavailable`; `deadline_exceeded` if the call took longer than `timeout` plus
                the client's `request_timeout`; the error that closed the client.
        """

class SandboxChanges:
    """`with hw.sandboxes.watch() as changes: for change in changes: …`

    Yields each existing sandbox, and then each change.
    """
    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[SandboxChange]:
        ...

class Sandboxes:
    """All of the gateway's sandboxes. The handle doesn't have to be closed."""
    def create(self, id: str | None=None, **options: Unpack[SandboxOptions]) -> CreatedSandbox:
        """Create and start a sandbox. Await the result, or use it with `with`; leaving the block deletes the
        sandbox.

        Args:
            id: The id; None means a random id. If a sandbox with this id and the same arguments exists, it is returned.
                Users whose rights are limited to their own sandboxes must choose ids that start with their name and a
                dot.
            options: `provider`, `template`, `image`, `image_command`, `env`, `snapshot`, `labels`, `limits`, `network`,
                `egress`, `ports`, `timeout`, `idle_timeout`, `keep_alive`: see `SandboxOptions`.

        Raises:
            HawseError: When awaited: `conflict` if the id exists but with other arguments, `capacity_exceeded`,
                `cleanup_pending`, `invalid_params`, `unavailable`, `forbidden` if the caller may not create sandboxes,
                `limit_exceeded` if the caller has reached its limit. `details["sandbox"]` is the id. If the call fails
                or is cancelled, a sandbox created with a random id is deleted.
        """

    def get(self, id: str) -> SandboxInfo:
        """Return the gateway's description of a sandbox, without starting it. Raises `not_found`."""

    def list(self, *, labels: Mapping[str, str] | None=None) -> list[SandboxInfo]:
        """Return the sandboxes that have all of these labels, without starting them.

        A long list takes several calls, so a sandbox created or deleted between them may or may not be included.
        """

    def templates(self) -> builtins.list[TemplateInfo]:
        """Return the gateway's templates. Their names can be passed to `create`."""

    def watch(self, *, labels: Mapping[str, str] | None=None) -> SandboxChanges:
        """Return a context manager and iterator over the sandboxes that have all of the labels, and their changes."""

class TerminalCommand:
    """A command in a terminal, as of the last step: it is waiting for input, has ended, or is still running.

    `send` and `read` return a new object for the next step. A command that is waiting for input keeps waiting until it
    gets an answer or is ended with `kill`.
    """
    @property
    def id(self) -> str:
        """The id of the command's terminal, which users can open as well."""

    @property
    def needs_input(self) -> TerminalWaiting | None:
        """The question that the program is asking; None if the program has ended or is still running.

        `kind` is `unknown` if nothing has been printed for 3 seconds, and the kernel doesn't show whether the program
        is waiting. `idle_shell` is true if a shell is waiting for its next command; `kind` is then `no`.
        """

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it is running."""

    @property
    def output(self) -> bytes:
        """The output of this step, including the echo of the answer and the prompt."""

    @property
    def missing(self) -> int:
        """The number of bytes omitted at the start of `output`."""

    @property
    def offset(self) -> int:
        """The offset where `output` ends."""

    @property
    def text(self) -> str:
        """The output decoded as UTF-8, without escape sequences, with LF instead of CR LF."""

    def send(self, text: str | None=None, *, paste: str | None=None, keys: list[str] | None=None, timeout: float | None=None) -> TerminalCommand:
        """Type an answer, and wait until the program asks another question or ends. To submit a line, pass
        `keys=["enter"]`.

        The answer is only typed if the program is still waiting for it.

        Args:
            text: Literal text to type first.
            paste: Text to paste next, bracketed if the program has enabled bracketed paste.
            keys: Names of the keys to press last, such as `["enter"]` or `["ctrl+c"]`.
            timeout: Maximum number of seconds to wait. If it is exceeded, the command keeps running, and the result has
                neither `needs_input` nor `exit`. None means no limit.

        Raises:
            HawseError: `conflict` if the question has already been answered or the program is no longer waiting for
                this answer; `exited`, `not_found` or `stale_handle` if the program has ended; `lease_held` if another
                viewer holds the writer lease; `input_overflow` if the program is not reading its input.
        """

    def read(self, *, timeout: float | None=None) -> TerminalCommand:
        """Wait until the program asks a question or ends, and return the output since this step.

        Args:
            timeout: The same as in `send`.

        Raises:
            HawseError: `not_found` or `stale_handle` if the program ended so long ago that its output is no longer
                kept.
        """

    def kill(self, *, grace: float | None=None) -> Exit:
        """End all of the command's processes: SIGHUP, then SIGKILL after `grace` seconds (by default 2).

        Returns the program's exit status.

        Raises:
            HawseError: `not_found` or `stale_handle` if the program ended so long ago that its terminal is no longer
                kept.
        """

class Questions:
    """A sandbox's questions for users. The handle doesn't have to be closed."""
    def ask(self, terminal: str, reason: str, *, instance: str | None=None, kind: QuestionKind | None=None, choices: builtins.list[str] | None=None, expires: float | None=None, question: float | None=None) -> Question:
        """Ask the terminal's users to answer its program's question, or to take over the terminal.

        Returns immediately; `wait` returns how the question ends.

        Args:
            terminal: The id of the terminal.
            reason: Why an answer is needed, in one line.
            instance: The expected instance; None accepts any.
            kind: The kind of answer; None means `choice` if there are choices, or else the kind of input that the
                program waits for.
            choices: The possible answers.
            expires: Seconds until the question expires; None means that it does not expire.
            question: `since` of the `waiting` state that the question is about; None means the current state.

        Raises:
            HawseError: `conflict` if the program is not waiting for such an answer; `limit_exceeded` if too many
                questions are open; `not_found`, `stale_handle` or `exited`.
        """

    def watch(self) -> StateStream[builtins.list[Question]]:
        """Return a context manager and iterator over the questions, now and after every change.

        The list has the questions that the caller can answer and the ones that ended most recently, oldest first.
        """

    def list(self) -> builtins.list[Question]:
        """Return the questions that the caller can answer and the ones that ended most recently, oldest first."""

    def wait(self, question: Question) -> Question:
        """Wait until a question is settled, and return how it ended.

        Raises:
            HawseError: `not_found` if it ended so long ago that the runtime has forgotten it.
        """

    def answer(self, question: Question, text: str | None=None, *, keys: builtins.list[str] | None=None) -> Question:
        """Answer a question: type the answer into the terminal.

        The answer to a `secret` is sealed for the runtime, so the gateway cannot read it.

        Args:
            question: The question.
            text: A line or one of the choices, typed with Enter; for `key`, text without Enter. None ends a `takeover`.
            keys: For `key`: names of keys to press after the text.

        Raises:
            HawseError: `conflict` if it has already ended, another caller has claimed it, or the program is
                no longer waiting for this answer; `invalid_params` if the answer does not fit the question;
                `lease_held` if another viewer holds the writer lease.
        """

    def claim(self, question: Question, *, release: bool=False) -> Question:
        """Claim a question, so that others see that a person is working on it, or end the claim.

        Raises:
            HawseError: `conflict` if it has already ended.
        """

    def refuse(self, question: Question) -> Question:
        """Refuse a question. Raises `conflict` if it has already ended."""

class Recording:
    """A recording, which continues until `stop` or until the terminal or desktop ends. It doesn't have to be closed."""
    id: str

    def info(self) -> RecordingInfo:
        """Return the recording's current state and size. Raises `not_found`."""

    def stop(self) -> RecordingInfo:
        """End the recording, and return once all of it is on disk. It is not an error if the recording has already
        ended.
        """

    def mark(self, label: str='') -> None:
        """Set a marker at the current time. Raises `exited` if the recording has ended."""

    def delete(self) -> None:
        """Delete the recording's files. A recording in progress is ended first."""

    def open_read(self, *, part: RecordingPart='cast', offset: int=0, length: int | None=None) -> FileReader:
        """Stream all bytes recorded so far: `with … as file:`, then `for chunk in file`."""

    def read(self, *, part: RecordingPart='cast') -> bytes:
        """Return all bytes recorded so far."""

class Recordings:
    """A sandbox's recordings. The handle doesn't have to be closed."""
    def attach(self, id: str) -> Recording:
        """Return a handle to a running or finished recording. Nothing is sent."""

    def get(self, id: str) -> RecordingInfo:
        """Return a recording's current state. Raises `not_found`."""

    def list(self, *, terminal: str | None=None) -> builtins.list[RecordingInfo]:
        """Return all recordings, or only one terminal's, newest first."""

    def watch(self, *, terminal: str | None=None) -> StateStream[builtins.list[RecordingInfo]]:
        """Return a context manager and iterator over the running recordings, now and after every change."""

class Terminal:
    """`with box.terminals.open("main") as term:` attaches, creating the terminal first if needed. Leaving the
    block detaches.
    """
    def __enter__(self) -> Terminal:
        """Create the terminal if requested, and attach. Does nothing if this handle has already been awaited.

        Raises:
            HawseError: `not_found`, `stale_handle` (a different instance), `spawn_failed`, and the error that closed
                the client.
        """

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    @property
    def id(self) -> str:
        """The id of the terminal."""

    @property
    def instance(self) -> str:
        """Distinguishes terminals with the same id: each newly started terminal is a new instance."""

    @property
    def pid(self) -> int | None:
        """The process id of the terminal's program inside the sandbox."""

    @property
    def offset(self) -> int | None:
        """The offset after the last byte read; None before the first byte.

        To continue from there, create another handle with this `instance` and this offset as `since`.
        """

    @property
    def live(self) -> bool:
        """Whether the replay has ended. Until then, an emulator's answers to queries must not be sent."""

    @property
    def answers(self) -> bool:
        """Whether this viewer's emulator must answer queries. True only with `emulator=True`, and only while `live`."""

    @property
    def viewers(self) -> list[Participant]:
        """The viewers of the terminal, including this one. Empty if the server does not support presence."""

    @property
    def me(self) -> Participant | None:
        """This viewer; None if the server does not support presence."""

    @property
    def lease(self) -> WriterLease:
        """The writer lease. Only the viewer whose id is `holder` may type; if `holder` is None, all viewers may."""

    def take(self, *, over: bool=True) -> WriterLease:
        """Take the writer lease, so that only this viewer may type.

        Raises:
            HawseError: `forbidden` if this viewer is read-only; `conflict` if another viewer has the lease and `over`
                is false.
        """

    def release(self) -> WriterLease:
        """Let all viewers type again. Raises `conflict` if another viewer has the lease."""

    def ask(self) -> WriterLease:
        """Ask the viewer that has the lease to hand it over. Does nothing while all viewers may type.

        The reply is the item `LeaseChanged`, or `PresenceChanged` for this viewer with `asks` false, which means that
        the other viewer keeps the lease or, if `unanswered` is true, hasn't replied for 60 seconds.

        Raises:
            HawseError: `forbidden` if this viewer is read-only.
        """

    def withdraw(self) -> WriterLease:
        """Withdraw the request made with `ask`."""

    def give(self, to: str) -> WriterLease:
        """Hand the lease over to another viewer. Only that viewer may then type.

        Args:
            to: The `id` of the other viewer.

        Raises:
            HawseError: `conflict` if this viewer does not have the lease; `not_found` if `to` is not present;
                `forbidden` if `to` is read-only.
        """

    def keep(self, to: str | None=None) -> WriterLease:
        """Refuse the request from the viewer with the id `to`, or all requests for the lease.

        Raises:
            HawseError: `conflict` if this viewer does not have the lease; `not_found` if `to` is not present.
        """

    def set_presence(self, *, name: str | None=None, focus: bool | None=None, at: tuple[int, int] | None=None, scroll: int | None=None, view: str | None=None) -> None:
        """Change how this viewer appears to other viewers. None keeps the current value.

        Args:
            name: The display name.
            focus: Whether the terminal has the focus.
            at: The pointer's position: column and row, from 0.
            scroll: Number of rows the user has scrolled back.
            view: The object the user is looking at, in a notation shared by the clients, such as the web app's
                `terminal~id~main`; at most 200 characters.
        """

    def items(self) -> Iterator[TerminalEvent]:
        """Iterate over `Attached`, `Output`, `Snapshot`, `Resized`, `Answers`, `Live` and finally `Exit`, in order.

        Between them, `Joined`, `Left`, `PresenceChanged` and `LeaseChanged` report changes among the participants, and
        `WaitingChanged` reports that the program has started or stopped waiting for input.

        The server sends at most one window of bytes ahead of the reader. The iteration ends after `Exit`. It raises
        `BusyError`, `TruncatedError`, `stale_handle` if a different terminal now has the id, and the error that closed
        the client.
        """

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over the bytes to write to an emulator: output, and a `Repaint` in place of missing output."""

    def lines(self, *, escapes: bool=False, encoding: str='utf-8', errors: str='replace') -> Iterator[str]:
        """Iterate over the lines of the output without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts. If a program overwrites a line with CR, all its versions
        are yielded as one string. Output before the first snapshot of an attachment is not yielded.

        Args:
            escapes: Whether to keep escape sequences and control characters in the lines.
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.

        Raises:
            TruncatedError: Output is missing because it was read too slowly and the viewer is not `lossless`. Iterating
                again continues after the missing output.
            HawseError: For the same reasons as `items`.
        """

    def write(self, data: BytesLike) -> None:
        """Type bytes, and return once they are buffered. Waits if the program reads slowly.

        Raises:
            HawseError: `exited`, `forbidden` for a read-only viewer, or the error that ended the terminal's call.
        """

    def flush(self) -> None:
        """Wait until the sandbox has received all bytes typed."""

    def resize(self, cols: int, rows: int) -> None:
        """Set the size: 1 to 1,000 columns and rows."""

    def signal(self, signal: str | int) -> None:
        """Send a signal to the foreground process group: "INT", "SIGINT" or a number."""

    def kill(self, *, grace: float | None=None) -> Exit:
        """End all processes in the terminal: SIGHUP, then SIGKILL after `grace` seconds (by default 2).

        Returns the program's exit status.
        """

    def wait(self) -> Exit:
        """Wait until the terminal's program has ended. Unread output can still be read afterwards.

        With `lossless`, a program waits up to 30 seconds for a slow reader, so it may end later.

        Raises:
            HawseError: The error that ended the attachment or closed the client. `stale_handle` or `not_found` if the
                terminal ended so long ago that its exit status is no longer kept.
        """

    def record(self, *, input: bool=False, title: str | None=None) -> Recording:
        """Start recording the terminal, as asciicast v3.

        Args:
            input: Whether to record input as well, including passwords.
            title: The title of the recording.

        Raises:
            HawseError: `exited`, `limit_exceeded`, `no_space`.
        """

    def close(self) -> None:
        """Detach. The terminal keeps running."""

    def screen(self, *, format: Literal['text', 'ansi', 'html']='text', scrollback: int=0) -> TerminalScreenResult:
        """Return the screen, preceded by up to `scrollback` rows (at most 6,000) that have scrolled off."""

    def send(self, text: str | None=None, *, paste: str | None=None, keys: list[str] | None=None) -> TerminalSendResult:
        """Type into the terminal, either exactly once as a single uninterrupted input, or not at all.

        Args:
            text: Literal text to type first.
            paste: Text to paste next, bracketed if the program has enabled bracketed paste.
            keys: Names of the keys to press last, such as `["ctrl+c", "up"]`.

        Raises:
            HawseError: `invalid_params` for an unknown key, `lease_held`, `exited`, `forbidden` for a read-only viewer,
                `input_overflow` if the program is not reading its input.
        """

    def expect(self, pattern: str, *, literal: bool=False, on: Literal['output', 'screen']='output', echo: bool=False, since: int | None=None, timeout: float=30.0) -> OutputMatch:
        """Wait until `pattern` matches the output after the last match or `send`, excluding the echo of typed text.

        A pattern can match before all output has arrived, so include the text that follows: `(\d+) files`. Wait for a
        program's prompt before you type, because the echo of text that was typed ahead cannot always be recognized.

        Args:
            pattern: A regular expression in RE2 syntax, for the text without escape sequences; `^` and `$` match at
                every line.
            literal: Whether `pattern` is plain text rather than a regular expression.
            on: The text to match: the output, or the visible screen, which always includes the echo.
            echo: Whether to match the echo of typed text as well.
            since: The offset to search from; None means after the last match or `send`.
            timeout: Time limit in seconds.

        Raises:
            HawseError: `deadline_exceeded`, `exited` if the program ends first, `invalid_params`.
        """

    def wait_for(self, *, pattern: str | None=None, literal: bool=False, on: Literal['output', 'screen']='output', echo: bool=False, silence: float | None=None, command: bool=False, prompt: bool=False, waiting: bool=False, exit: bool=False, since: int | None=None, timeout: float=30.0) -> TerminalWaitResult:
        """Wait for the first of several conditions. The result's `event` is the condition that was met.

        Args:
            pattern: The same as in `expect`.
            literal: The same as in `expect`.
            on: The same as in `expect`.
            echo: The same as in `expect`.
            silence: Seconds without output.
            command: Whether to wait for a command to end.
            prompt: Whether to wait for the shell's prompt: no command is running, and the shell has printed a prompt
                since a line or Ctrl-C was last typed.
            waiting: Whether to wait until a program other than an idle shell is waiting for input. The result's
                `waiting` describes the program.
            exit: Whether to wait for the program to end.
            since: The offset of the first output to consider; None means after the last match or `send`.
            timeout: Time limit in seconds. If it is exceeded, the `event` is `timeout`.

        Raises:
            HawseError: `invalid_params`; `too_large` if the output at `since` is no longer kept.
        """

    def run(self, command: str, *, timeout: float=3600.0, max_output: int=...) -> RunResult:
        """Wait for the prompt, type a command line, and wait until the command has ended. Returns the command's exit
        code and output.

        The terminal needs a shell that reports its commands (bash, zsh, or any shell that prints OSC 133). If a command
        is still running, even if it was just interrupted, this waits for it first. Input that another viewer types at
        the same moment can be mistaken for the command; `take` prevents that.

        Args:
            command: One line.
            timeout: Time limit in seconds. If it is exceeded, this raises `deadline_exceeded`. The error's `admitted`
                is `yes` if the command keeps running, and `no` if nothing was typed because the shell was not at its
                prompt.
            max_output: Maximum number of bytes to keep from the end of the output.

        Raises:
            HawseError: `conflict` if the shell does not report its commands, `exited`, `deadline_exceeded`, and the
                same errors as `send`.
        """

    def history(self, *, limit: int=100, before: int | None=None) -> TerminalHistoryResult:
        """Return the last `limit` commands (at most 1,000) with a number below `before`."""

class Terminals:
    """A sandbox's terminals. The handle doesn't have to be closed."""
    def open(self, id: str | None=None, *, argv: list[str] | None=None, cwd: Directory | None=None, env: Env | None=None, cols: int=80, rows: int=24, integration: bool=True, record: RecordOptions | bool=False, **viewer: Unpack[ViewerOptions]) -> Terminal:
        """Attach to the terminal with this id, creating it unless it is running.

        Await the result and `close` it later, or use it with `with`, which closes it at the end. The terminal
        keeps running.

        Args:
            id: The id of the terminal; None means a random id.
            argv: The program for a new terminal; None means the user's shell.
            cwd: The new terminal's working directory.
            env: Variables to add to the new terminal's environment; None unsets a variable.
            cols: Number of columns for a new terminal.
            rows: Number of rows for a new terminal.
            integration: Whether a new bash or zsh reports its directory and commands, which `terminal.run` needs.
            record: Whether to record a new terminal from its first byte. `RecordOptions(input=True)` records input as
                well, including passwords.
            viewer: `read_only`, `lossless`, `emulator`, `name`, `kind`; see `ViewerOptions`.

        Raises:
            HawseError: When awaited: `spawn_failed`, `limit_exceeded`, and the error that closed the client.
        """

    def attach(self, id: str, *, instance: str | None=None, since: int | None=None, **viewer: Unpack[ViewerOptions]) -> Terminal:
        """Attach to an existing terminal. Await the result and `close` it later, or use it with `with`.

        Args:
            id: The id of the terminal.
            instance: The expected instance; None accepts any.
            since: The offset to start at; None replays all output that is still kept.
            viewer: `read_only`, `lossless`, `emulator`, `name`, `kind`; see `ViewerOptions`.

        Raises:
            HawseError: When awaited: `not_found`, `stale_handle` if the terminal is a different instance, and the error
                that closed the client.
        """

    def follow(self, id: str, *, instance: str | None=None, since: int=0, timeout: float | None=None, max_output: int | None=None) -> TerminalCommand:
        """Wait until an existing terminal's program waits for input or ends. From the result, you can continue step by
        step.

        Args:
            id: The id of the terminal.
            instance: The expected instance; None accepts any.
            since: The offset where the returned output starts, such as the `offset` of an earlier step; 0 means all
                output that is still kept.
            timeout: Maximum number of seconds to wait; None means no limit.
            max_output: How many bytes to keep from the end of each step's output; None means 8 MiB.

        Raises:
            HawseError: `not_found`, `stale_handle` if the terminal is a different instance, and the error that closed
                the client.
        """

    def get(self, id: str) -> TerminalInfo:
        """Return the current state of a running or exited terminal. Raises `not_found`."""

    def list(self) -> list[TerminalInfo]:
        """Return the running and exited terminals."""

    def watch(self) -> StateStream[builtins.list[TerminalInfo]]:
        """Return a context manager and iterator over the running and exited terminals, now and after every change.

        A change is a new, ended or removed terminal, or a changed property such as `title` or `waiting`. Output alone
        does not count as a change.
        """

    def viewers(self) -> TerminalViewersResult:
        """Return the viewers of all terminals. The caller does not become a viewer."""

class Tunnels:
    """A sandbox's tunnels. The handle doesn't have to be closed."""
    def create(self, port: int, *, name: str | None=None, kind: TunnelKind | None=None, public_port: int | None=None, expires_in: float | None=None, provider: TunnelProvider='gateway') -> Tunnel:
        """Give a port a public address. Anyone who knows the address can connect to the port without a token.

        The address stays the same when the sandbox or gateway restarts. If a tunnel with this name or `public_port`
        already leads to the same port of this sandbox, the call updates its `expires_in` and returns it.

        Args:
            port: The port. No program needs to be listening yet.
            name: The tunnel's id: 1 to 40 lower-case letters, digits and single hyphens. None means a random name that
                cannot be guessed. The gateway's `tcp` tunnels cannot have a name.
            kind: `http`, with WebSockets; `tcp`, at a port on the gateway; or `tls`, routed by the requested host name,
                with the program's certificate. None means `tcp` with `ssh`, otherwise `http`.
            public_port: The port on the gateway or the SSH server, for `tcp`. None means a free port.
            expires_in: Seconds until it ends. None means it ends with the sandbox.
            provider: The provider of its address: `gateway`; `cloudflared`, for `http`; or `ssh`, an SSH server, for
                `tcp`. The provider's program runs on the gateway's machine.

        Raises:
            HawseError: `conflict` if another tunnel has the name or port, `limit_exceeded`, `not_found`; `unavailable`
                if the operator has not enabled this kind or provider, or if the provider returns no address.
        """

    def list(self) -> builtins.list[Tunnel]:
        """Return the tunnels, sorted by id, without starting the sandbox."""

    def delete(self, tunnel: str) -> None:
        """Delete the tunnel with the id `tunnel`, and end its connections. Raises `HawseError` (`not_found`)."""

class Watch:
    """`with box.watches.start(path) as watch: for change in watch: …`

    Yields each `WatchedChange`, and a `WatchRescan` if changes may have been missed and the directory must be listed.
    Raises `not_found` if the directory is deleted. Ends when a client stops the watch.
    """
    def __enter__(self) -> Self:
        """Start the watch. Changes made from now on are reported. Raises `not_found`, `not_directory`,
        `limit_exceeded`.
        """

    @property
    def id(self) -> str:
        """The id of the watch."""

    @property
    def path(self) -> str:
        """The directory, as an absolute path."""

    def stop(self) -> None:
        """End the watch for all its clients. It is not an error if the watch has ended."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __iter__(self) -> Iterator[WatchedChange | WatchRescan]:
        ...

class Watches:
    """A sandbox's watches. The handle doesn't have to be closed."""
    def start(self, path: PathLike, *, recursive: bool=True, include: Sequence[str] | None=None, exclude: Sequence[str] | None=None, since: str | None=None) -> Watch:
        """Return a watch for a directory, to enter with `with`. See `Watch`.

        Entering the watch does not start a sleeping sandbox, but waits until another call has started it.

        Args:
            path: The directory.
            recursive: Whether to watch subdirectories as well.
            include: Globs (`*`, `?`, `[…]`, `**`) for files to report; None means all. A glob with a slash matches the
                path relative to the directory; a glob without a slash matches names at any depth.
            exclude: Globs for files to ignore; None means Git's and hawse's own files.
            since: The `version` to continue from; None means from now on.
        """

    def changes(self, path: PathLike, *, recursive: bool=True, include: Sequence[str] | None=None, exclude: Sequence[str] | None=None, since: str | None=None) -> WatchChangesResult:
        """Return the changes since a version, and the version for the next call.

        A watch ends 10 minutes after the last call; after that, the next result is `rescan`.

        Args:
            path: The directory.
            recursive: The same as in `start`.
            include: The same as in `start`.
            exclude: The same as in `start`.
            since: The version in the previous result; None starts a watch.

        Raises:
            HawseError: The same errors as `Watch`.
        """

class OpenedSandbox(Sandbox):
    """A sandbox found by `Sandbox.get`. Leaving the `with` block closes its connection but keeps the sandbox."""
    def __enter__(self) -> OpenedSandbox: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class CreatedSandbox(Sandbox):
    """A sandbox that was created. Leaving a `with` block deletes the sandbox; without `with`, it is kept."""
    def __enter__(self) -> CreatedSandbox: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def connect(url: str | None = None, *, token: Token = None, ca: Authorities = None, options: Options | None = None, on_state: Callable[[ConnectionState], None] | None = None) -> Client:
    """Connect to the gateway at `url` and return the client. Use the client with `with`, or call `close` when done.

    Args:
        url: `http(s)://` or `ws(s)://host[:port]`, or the URL that `hawse serve` prints (`…/#token=…`).
            None means the gateway specified by HAWSE_URL, HAWSE_TOKEN and HAWSE_CA or, failing that, the gateway saved
            by `hawse login` or the gateway on this machine.
        options: `token`, `ca`, `options` and `on_state`, the same as in `hawse.connect`.

    Raises:
        ValueError: `url` is not a gateway's URL.
        RefusedError: The gateway refused the connection.
        GaveUpError: No connection was established within the connect timeout.
    """

def timeout(seconds: float) -> AbstractContextManager[None]:
    """Limit the total time of the calls in a block: `with hawse.sync.timeout(10): box.files.read("f")`.

    When time is up, a waiting call is cancelled, on the server as well, and later calls fail immediately. The limit
    does not apply to other threads. Exiting an inner `with` block is also exempt: exiting a process's block, for
    example, still ends the process.

    Args:
        seconds: The time limit, from the start of the block.

    Raises:
        DeadlineExceededError: Time is up. The error is also a `TimeoutError`.
    """
