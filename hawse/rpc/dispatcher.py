"""Dispatches calls to their handlers: checks rights and parameters, runs keyed calls once, and enforces deadlines."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from hawse.api import Params, Spec, spec_of
from hawse.api.rights import check, check_somewhere
from hawse.api.spec import SELECTED, Nothing
from hawse.rpc.errors import subject_of, typed
from hawse.rpc.idempotency import IdempotencyTable, Outcome, fingerprint, own_key
from hawse.rpc.parameters import decode
from hawse.wire import HawseError, Principal
from hawse.wire.messages import to_raw

# Seconds a keyed call's handler keeps running while no call waits for it; clients reconnect within 10 s.
STOP_DELAY = 30.0

F = TypeVar("F", bound=Callable[..., Any])


class ServedCall(Protocol):
    """The subset of a call's interface that the dispatcher uses."""

    @property
    def principal(self) -> Principal:
        """The caller and its rights."""
        ...

    @property
    def method(self) -> str: ...

    @property
    def params(self) -> msgspec.Raw: ...

    @property
    def checked(self) -> bool:
        """Whether a gateway has already refused parameters that it doesn't know."""
        ...

    @property
    def key(self) -> str | None:
        """The idempotency key of a call that must run only once; None for other calls."""
        ...

    @property
    def age(self) -> float | None:
        """Seconds since a repeated call was first sent."""
        ...

    @property
    def timeout(self) -> float | None:
        """Time limit in seconds. If it is exceeded, the call ends with `deadline_exceeded`."""
        ...

    timer: asyncio.TimerHandle | None  # deadline timer, which the call cancels when it ends

    def result(self, value: Any) -> None:
        """End the call with a result. Has no effect if the call has already ended."""
        ...

    def error(self, error: HawseError) -> None:
        """End the call with an error. Has no effect if the call has already ended."""
        ...

    def on_close(self, callback: Callable[[], object]) -> None:
        """Call `callback` once when the call has ended, was cancelled, or has lost its connection."""
        ...


class Handler(NamedTuple):
    """A method and its handler on this server."""

    spec: Spec
    run: Callable[..., Any]  # called with (params) or, for a stream, (call, params)
    stops: bool = False  # whether the handler is cancelled once no call is waiting for it
    caller: bool = False  # whether the handler is also passed the caller's principal


def handles(params: type[Params[Any]], *, stops: bool = False, caller: bool = False) -> Callable[[F], F]:
    """Mark a function of a method object as the handler for the method declared by `params`.

    The function gets the decoded parameters and returns the result. It can be a coroutine function, and raises
    `HawseError` or `OSError`.

    Args:
        params: The parameters of the method.
        stops: Whether to cancel the coroutine once no call is waiting for it. If the call has a key, this happens after
            the dispatcher's `stop_delay`, because a client that has lost its connection will repeat the call.
        caller: Whether to pass the caller's principal as the second argument.

    Raises:
        ValueError: The method is a stream.
    """

    mark = _mark(params, stream=False)

    def mark_stops(function: F) -> F:
        function.hawse_stops = stops  # type: ignore[attr-defined]  # read by `Dispatcher.add`
        function.hawse_caller = caller  # type: ignore[attr-defined]  # the same
        return mark(function)

    return mark_stops


def serves(params: type[Params[Any]]) -> Callable[[F], F]:
    """Mark a function of a method object as the server for the stream declared by `params`.

    The function gets the call and the decoded parameters, sets the call's stream, and handles the call's key itself.

    Raises:
        ValueError: The method is not a stream.
    """
    return _mark(params, stream=True)


def _mark(params: type[Params[Any]], *, stream: bool) -> Callable[[F], F]:
    spec = spec_of(params)
    if spec.stream is not stream:
        raise ValueError(f"{spec.name} is {'a' if spec.stream else 'not a'} stream")

    def mark(function: F) -> F:
        function.hawse_spec = spec  # type: ignore[attr-defined]  # read by `Dispatcher.add`
        return function

    return mark


class Dispatcher:
    """Runs calls. The server owns their tasks, so a lost connection does not end them."""

    def __init__(
        self,
        spawn: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"],
        idempotency: IdempotencyTable,
        *,
        stop_delay: float = STOP_DELAY,
    ) -> None:
        """Create a dispatcher without methods.

        Args:
            spawn: Starts a task owned by the server.
            idempotency: The outcomes of keyed calls.
            stop_delay: Seconds the stoppable handler of a keyed call keeps running when no call is waiting for it.
        """
        self.on_call: Callable[[ServedCall, Spec], None] | None = None  # called with each call, to allow or refuse it
        self._handlers: dict[str, Handler] = {}
        self._spawn = spawn
        self._idempotency = idempotency
        self._stop_delay = stop_delay

    @property
    def methods(self) -> dict[str, Spec]:
        """The methods that have a handler, keyed by name."""
        return {name: handler.spec for name, handler in self._handlers.items()}

    def add(self, surface: object) -> None:
        """Add every function of `surface` that is marked with `handles` or `serves`."""
        for name in dir(type(surface)):
            spec = getattr(getattr(type(surface), name, None), "hawse_spec", None)
            if spec is not None:
                run = getattr(surface, name)
                stops, caller = getattr(run, "hawse_stops", False), getattr(run, "hawse_caller", False)
                self.register(spec, run, stops=stops, caller=caller)

    def register(self, spec: Spec, run: Callable[..., Any], *, stops: bool = False, caller: bool = False) -> None:
        """Add one method. `run(params)` handles it or, if it is a stream, `run(call, params)` serves it.

        `stops` and `caller` have the same meaning as in `handles`.
        """
        self._handlers[spec.name] = Handler(spec, run, stops, caller)

    def dispatch(self, call: ServedCall) -> None:
        """Start serving `call`. Never raises; every failure becomes the call's error."""
        params: Any = None
        try:
            handler = self._handlers.get(call.method)
            if handler is None:
                raise HawseError("unknown_method", call.method)
            spec = handler.spec
            if spec.terminal is None:
                check(call.principal, spec.requires)
            else:
                check_somewhere(call.principal, spec.requires)
            if self.on_call is not None:
                self.on_call(call, spec)
            params = decode(call.params, spec.params, checked=call.checked)
            if spec.terminal is not None and spec.terminal != SELECTED:
                check(call.principal, spec.requires, getattr(params, spec.terminal))
            if call.timeout is not None:
                call.timer = asyncio.get_running_loop().call_later(call.timeout, _expire, call)
            if spec.stream:
                handler.run(call, params)
            elif call.key is not None:
                self._run_once(call, call.key, handler, params)
            else:
                task = self._run(handler, (params, call.principal), call.result, call.error)
                if handler.stops and task is not None:
                    _Waiting(task, 0.0).add(call)
        except Exception as error:
            call.error(typed(error, subject_of(params)))

    def _run_once(self, call: ServedCall, key: str, handler: Handler, params: Any) -> None:
        """Run a keyed call, or join it to an earlier call with the same key."""
        digest = fingerprint(call.method, bytes(call.params))
        key = own_key(call.principal, key)
        again = call.age is not None and _names(handler.spec, params)
        outcome = self._idempotency.join(key, digest, None if again else call.age)
        if outcome is not None:
            outcome.notify(call.result, call.error)
            if isinstance(outcome.work, _Waiting):
                outcome.work.add(call)
            return
        outcome = self._idempotency.begin(key, digest)
        outcome.notify(call.result, call.error)
        fail = partial(_fail_unless_gone, outcome) if again and handler.spec.ends else outcome.fail
        try:
            task = self._run(handler, (params, call.principal), outcome.succeed, fail)
            if handler.stops and task is not None:
                outcome.work = waiting = _Waiting(task, self._stop_delay)
                waiting.add(call)
        except Exception as error:
            fail(typed(error, subject_of(params)))

    def _run(
        self,
        handler: Handler,
        arguments: tuple[Any, Principal],
        succeed: Callable[[Any], None],
        fail: Callable[[HawseError], None],
    ) -> "asyncio.Task[None] | None":
        """Run a handler with `arguments` (the parameters, and the caller if requested). Returns the task if the handler
        is a coroutine function.
        """
        value = handler.run(*arguments) if handler.caller else handler.run(arguments[0])
        if inspect.isawaitable(value):
            return self._spawn(_finish(value, arguments[0], succeed, fail))
        succeed(to_raw(value))
        return None


class _Waiting:
    """The calls waiting for a task. The task is cancelled when the last call stops waiting."""

    def __init__(self, task: "asyncio.Task[None]", delay: float) -> None:
        """`delay` is the number of seconds the task keeps running after the last call has stopped waiting."""
        self._task = task
        self._delay = delay
        self._calls = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, call: ServedCall) -> None:
        self._calls += 1
        self._stop_timer()
        call.on_close(self._closed)

    def _closed(self) -> None:
        self._calls -= 1
        # The task is still needed or already ending.
        if self._calls or self._task.done() or self._task is asyncio.current_task():
            return
        if self._delay:
            self._timer = asyncio.get_running_loop().call_later(self._delay, self._task.cancel)
            self._task.add_done_callback(lambda task: self._stop_timer())
        else:
            self._task.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _finish(
    work: Awaitable[Any], params: Any, succeed: Callable[[Any], None], fail: Callable[[HawseError], None]
) -> None:
    try:
        value = to_raw(await work)
    except asyncio.CancelledError:
        fail(HawseError("cancelled", "the work was stopped, because no call was waiting for it", admitted="yes"))
        raise
    except Exception as error:
        fail(typed(error, subject_of(params)))
    else:
        succeed(value)


def _names(spec: Spec, params: Any) -> bool:
    """Whether a call names the object it creates, changes or ends, so that repeating the call is harmless."""
    return spec.names is not None and getattr(params, spec.names) is not None


def _fail_unless_gone(outcome: Outcome, error: HawseError) -> None:
    """Settle a repeated call that ends an object. It is not an error if another server has already ended the object."""
    if error.code == "not_found":
        outcome.succeed(to_raw(Nothing()))
    else:
        outcome.fail(error)


def _expire(call: ServedCall) -> None:
    call.error(HawseError("deadline_exceeded", f"the call took more than {call.timeout} s", admitted="yes"))
