"""`session.watch`: waits for a session's shell to exit."""

from hawse.api.sessions import SessionWatchResult
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection
from hawse_runtime.session.session import Session


class SessionWatchStream(OutputOnlyStream):
    """Sends the session's description as an event and the shell's exit as the result."""

    def __init__(self, session: Session, call: ServerCall) -> None:
        super().__init__(call)
        self._session = session
        self._opened = False
        session.watchers[call.wake] = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self._opened and connection.window(ch) > 0:
            self._opened = True
            connection.send_event(ch, "opened", self._session.describe())
            return True
        if self._opened and self._session.exit is not None:
            self._call.result(SessionWatchResult(exit=self._session.exit))
        return False

    def detach(self) -> None:
        self._session.watchers.pop(self._call.wake, None)
