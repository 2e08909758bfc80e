"""The synchronous Python client: `with hawse.sync.connect(url) as hw: hw.sandbox().exec("uname -a")`.

The same classes and methods as in `hawse.client`, without `async` and `await`. They may be used from any thread; all
clients of a process share one event loop in a thread of its own. Callbacks (`on_state`, `progress`) are called in that
thread and must not wait for the client.
"""

from types import TracebackType
from typing import Any

import hawse.client as asynchronous
from hawse.client.access import ShareLinks as AsyncShareLinks, Tokens as AsyncTokens
from hawse.client.audit import AuditTrail as AsyncAuditTrail
from hawse.client.backups import Backups as AsyncBackups
from hawse.client.code.context import CodeContext as AsyncCodeContext
from hawse.client.code.contexts import Code as AsyncCode
from hawse.client.code.run import CodeRunStream as AsyncCodeRunStream
from hawse.client.files.transfer_streams import FileReader as AsyncFileReader, FileWriter as AsyncFileWriter
from hawse.client.git import Git as AsyncGit
from hawse.client.images import Images as AsyncImages
from hawse.client.ports import PortConnection as AsyncPortConnection, Ports as AsyncPorts
from hawse.client.process.output import OutputStream as AsyncOutputStream
from hawse.client.process.processes import Processes as AsyncProcesses
from hawse.client.process.sessions import Sessions as AsyncSessions
from hawse.client.sandboxes import (
    SandboxChanges as AsyncSandboxChanges,
    SandboxCreation as AsyncSandboxCreation,
    Sandboxes as AsyncSandboxes,
)
from hawse.client.terminal.recordings import Recordings as AsyncRecordings
from hawse.client.terminal.terminals import Terminals as AsyncTerminals
from hawse.client.watch import Watches as AsyncWatches
from hawse.sync.background import DEFAULT
from hawse.sync.wrapping import creates, synchronous
from hawse.wire import HawseError

AuditTrail = synchronous(AsyncAuditTrail)
Backups = synchronous(AsyncBackups)
Sandbox = synchronous(asynchronous.Sandbox)
Code = synchronous(AsyncCode)
CodeContext = synchronous(AsyncCodeContext)
CodeRunStream = synchronous(AsyncCodeRunStream)
Files = synchronous(asynchronous.Files)
FileReader = synchronous(AsyncFileReader)
FileWriter = synchronous(AsyncFileWriter)
Git = synchronous(AsyncGit)
Ports = synchronous(AsyncPorts)
PortConnection = synchronous(AsyncPortConnection)
Images = synchronous(AsyncImages)
OutputStream = synchronous(AsyncOutputStream)
Process = synchronous(asynchronous.Process)
Processes = synchronous(AsyncProcesses)
Recording = synchronous(asynchronous.Recording)
Recordings = synchronous(AsyncRecordings)
Session = synchronous(asynchronous.Session)
Sessions = synchronous(AsyncSessions)
SandboxChanges = synchronous(AsyncSandboxChanges)
Sandboxes = synchronous(AsyncSandboxes)
ShareLinks = synchronous(AsyncShareLinks)
StateStream = synchronous(asynchronous.StateStream)
Terminal = synchronous(asynchronous.Terminal)
Terminals = synchronous(AsyncTerminals)
Tokens = synchronous(AsyncTokens)
Watch = synchronous(asynchronous.Watch)
Watches = synchronous(AsyncWatches)


class CreatedSandbox(Sandbox):
    """A sandbox that `hw.sandboxes.create` has created. It stays, unless it is used in `with`, which deletes it."""

    def __enter__(self) -> "CreatedSandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.delete()
        except HawseError as failure:
            if failure.code not in ("not_found", "cleanup_pending"):  # the gateway finishes the deletion
                raise


creates(AsyncSandboxCreation, CreatedSandbox)


class Client(synchronous(asynchronous.Client)):
    """One WebSocket, which is re-established when it is lost, and the calls on it. `connect` makes it."""

    def __enter__(self) -> "Client":
        return self  # `connect` has connected it

    def close(self) -> None:
        """End all calls and close the connection. Does nothing the second time."""
        self.__exit__(None, None, None)


def connect(url: str | None = None, **options: Any) -> Client:
    """Connect to the gateway at `url` and return the client: use it in `with`, or call `close`.

    Args:
        url: `http(s)://` or `ws(s)://host[:port]`, also as `hawse serve` prints it (`…/#token=…`). None: the gateway of
            HAWSE_URL, HAWSE_TOKEN and HAWSE_CA, or what `hawse login` has saved, or the gateway of this machine.
        options: `token`, `ca`, `options` and `on_state`, as for `hawse.connect`.

    Raises:
        ValueError: `url` is not the URL of a gateway.
        RefusedError: The gateway refused the connection.
        GaveUpError: There was no connection within the connect timeout.
    """
    client = Client(DEFAULT.get(), asynchronous.connect(url, **options))
    super(Client, client).__enter__()
    return client
