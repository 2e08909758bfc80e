"""From a `call` message to its handler: the table of methods, keyed calls, deadlines, errors."""

import asyncio
import errno
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from hawse.api import required
from hawse.api.rights import check
from hawse.wire import HawseError
from hawse.wire.messages import to_raw
from runtime.core.tasks import Tasks
from runtime.rpc.call import RuntimeCall, decode
from runtime.rpc.idempotency import IdempotencyTable, fingerprint

log = logging.getLogger(__name__)

Handler = Callable[[RuntimeCall, Any], Any]


class Method(NamedTuple):
    """`handler(call, params)` returns a value, an awaitable of one, or None after `call.serve(stream)`.

    `shape` is what params decode to. A `stream` serves its channel itself and handles keys itself.
    """

    shape: Any
    handler: Handler
    stream: bool = False


class Dispatcher:
    """Runs calls. Their work belongs to the runtime, not to the link they came by: a cut line ends no work."""

    def __init__(self, tasks: Tasks, outcomes: IdempotencyTable) -> None:
        self._methods: dict[str, Method] = {}
        self._tasks = tasks
        self._outcomes = outcomes

    def add(self, methods: dict[str, Method]) -> None:
        self._methods.update(methods)

    def dispatch(self, call: RuntimeCall) -> None:
        """Begin to serve `call`. Never raises: what goes wrong is the call's error."""
        try:
            method = self._methods.get(call.method)
            if method is None:
                raise HawseError("unknown_method", call.method)
            check(call.principal, required(call.method))
            params = decode(call.params, method.shape)
            if call.timeout is not None:
                call.timer = asyncio.get_running_loop().call_later(call.timeout, _expire, call)
            if call.key is not None and not method.stream:
                self._keyed(call, method, params)
                return
            value = method.handler(call, params)
            if inspect.isawaitable(value):
                self._spawn(value, call.result, call.error)
            elif not method.stream:
                call.result(value)
        except Exception as error:
            call.error(typed(error))

    def _keyed(self, call: RuntimeCall, method: Method, params: Any) -> None:
        assert call.key is not None
        mark = fingerprint(call.method, bytes(call.params))
        outcome = self._outcomes.join(call.key, mark, call.age)
        if outcome is not None:
            outcome.tell(call.result, call.error)
            return
        outcome = self._outcomes.begin(call.key, mark)
        outcome.tell(call.result, call.error)
        try:
            value = method.handler(call, params)
            if inspect.isawaitable(value):
                self._spawn(value, outcome.succeed, outcome.fail)
            else:
                outcome.succeed(to_raw(value))
        except Exception as error:
            outcome.fail(typed(error))

    def _spawn(self, work: Awaitable[Any], succeed: Callable[[Any], None], fail: Callable[[HawseError], None]) -> None:
        async def run() -> None:
            try:
                value = to_raw(await work)
            except Exception as error:
                fail(typed(error))
            else:
                succeed(value)

        self._tasks.start(run())


def typed(error: Exception) -> HawseError:
    """Any exception as an error that may travel; what we did not foresee is logged and says nothing."""
    if isinstance(error, HawseError):
        return error
    if isinstance(error, OSError):
        return from_oserror(error)
    log.error("! a handler failed", exc_info=error)
    return HawseError("internal", "a bug in the runtime", admitted="unknown")


_OS_CODES: dict[type[OSError], str] = {
    FileNotFoundError: "not_found",
    PermissionError: "permission_denied",
    IsADirectoryError: "is_directory",
    NotADirectoryError: "not_directory",
    FileExistsError: "conflict",
}
_NUMBERS = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EFBIG: "too_large",
    errno.EROFS: "permission_denied",
    errno.ENOTEMPTY: "conflict",
}


def from_oserror(error: OSError) -> HawseError:
    code = next((code for kind, code in _OS_CODES.items() if isinstance(error, kind)), "io_error")
    code = _NUMBERS.get(error.errno or 0, code)
    return HawseError(code, error.strerror or str(error), admitted="yes", details={"errno": error.errno})


def _expire(call: RuntimeCall) -> None:
    call.error(HawseError("deadline_exceeded", f"after {call.timeout} s", admitted="yes"))
