"""`session.watch`: somebody who waits for a session's end."""

from hawse.api.sessions import SessionWatchResult
from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection, HawseError
from runtime.session.session import Session


class SessionWatchStream:
    """A `Stream`: says what the session is, and then how it ended."""

    def __init__(self, session: Session, call: RuntimeCall) -> None:
        self._session = session
        self._call = call
        self._opened = False
        session.watchers[call.wake] = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if connection.window(ch) <= 0 and not self._opened:
            return False
        if not self._opened:
            self._opened = True
            connection.send_event(ch, "opened", self._session.describe())
            return True
        if self._session.exit is not None:
            self._call.result(SessionWatchResult(exit=self._session.exit))
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "a watch takes no input")

    def receive_end(self) -> None:
        pass

    def detach(self) -> None:
        self._session.watchers.pop(self._call.wake, None)
