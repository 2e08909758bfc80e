"""Idempotency keys: a keyed call runs once, and repeated calls get its outcome (docs/wire.md section 6).

One table serves all methods of a server.
"""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from hawse.rpc.used_keys import UsedKeys
from hawse.wire import HawseError, Principal

T = TypeVar("T")


class IdempotencyLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the stored outcomes of keyed calls."""

    outcomes: int = 4096  # settled ones
    age: float = 3600.0  # seconds to keep an outcome after it has settled
    used_keys: int = 65_536  # maximum number of keys to remember without their outcomes


class KeyedCall(Protocol):
    """The interface for calls that handle their own idempotency key."""

    @property
    def method(self) -> str: ...

    @property
    def key(self) -> str | None: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def age(self) -> float | None: ...


def own_key(principal: Principal, key: str) -> str:
    """Return the key for a call's outcome in the table.

    The key includes the caller: a result can contain a secret, so another principal must not be able to join the call.
    """
    return f"{principal.id}\n{key}"


def fingerprint(method: str, params: bytes) -> bytes:
    """Return a digest of a call, used to tell a repeated call from a different call with the same key."""
    return hashlib.sha256(b"%b %b" % (method.encode(), params)).digest()


class Outcome:
    """The outcome for a key: pending, or settled with a value or an error."""

    def __init__(self, digest: bytes, on_done: Callable[["Outcome"], None], *, key: str | None = None) -> None:
        self.key = key  # None for a call without a key, which cannot be repeated
        self.digest = digest
        self.done = False
        self.done_at = 0.0
        self.error: HawseError | None = None
        # The object, such as a process or an upload, that serves repeated calls in place of a value. The object refers
        # back to this outcome. The table breaks the cycle when it drops the outcome; otherwise, only the garbage
        # collector would free both, along with a process's journals.
        self.work: Any = None
        self._value: Any = None
        self._on_done = on_done
        self._waiting: list[tuple[Callable[[Any], None], Callable[[HawseError], None]]] = []

    def succeed(self, value: Any = None) -> None:
        self._value = value
        self._settle()

    def fail(self, error: HawseError) -> None:
        self.error = error
        self._settle()

    def notify(self, succeed: Callable[[Any], None], fail: Callable[[HawseError], None]) -> None:
        """Call `succeed` with the value or `fail` with the error, now or as soon as the outcome settles."""
        if not self.done:
            self._waiting.append((succeed, fail))
        elif self.error is not None:
            fail(self.error)
        else:
            succeed(self._value)

    def _settle(self) -> None:
        self.done = True
        self._on_done(self)
        waiting, self._waiting = self._waiting, []
        for succeed, fail in waiting:
            self.notify(succeed, fail)


class IdempotencyTable:
    """The outcomes, keyed by idempotency key. Settled outcomes are limited in number and age."""

    def __init__(
        self,
        limits: IdempotencyLimits = IdempotencyLimits(),
        clock: Callable[[], float] = time.monotonic,
        *,
        shared: bool = False,
    ) -> None:
        """Create an empty table.

        Args:
            limits: Limits for keeping outcomes.
            clock: Returns the event loop's time in seconds.
            shared: Whether other servers run calls at the same time. Their outcomes are not in this table.
        """
        self._limits = limits
        self._clock = clock
        self._alone_since = math.inf if shared else self._clock()
        self._running: dict[str, Outcome] = {}
        self._done: OrderedDict[str, Outcome] = OrderedDict()  # oldest first
        self._used = UsedKeys(limits.used_keys)

    def join(self, key: str, digest: bytes, age: float | None = None) -> Outcome | None:
        """Return the outcome of `key`, or None if the key is new.

        Args:
            key: The call's key.
            digest: The call's `fingerprint`.
            age: For a repeated call: seconds since it was first sent. If the key is unknown here and another server may
                have run the call since then, the call is refused.

        Raises:
            HawseError: `key_conflict` if the key belongs to a different call; `outcome_unknown` if the key's outcome is
                no longer kept or another server may have run the call.
        """
        self._forget()
        outcome = self._running.get(key) or self._done.get(key)
        if outcome is None:
            if key in self._used:
                raise HawseError("outcome_unknown", "the key was used; its outcome is no longer kept", admitted="yes")
            if age is not None and age >= self._clock() - self._alone_since:
                text = "another runtime or gateway may have run the call"
                raise HawseError("outcome_unknown", text, admitted="unknown")
            return None
        if outcome.digest != digest:
            raise HawseError("key_conflict", "the key belongs to another call")
        return outcome

    def begin(self, key: str, digest: bytes) -> Outcome:
        outcome = self._running[key] = Outcome(digest, lambda outcome: self._settled(key, outcome), key=key)
        return outcome

    def attach_or_start(self, call: KeyedCall, params: Any, start: Callable[[Outcome], T]) -> T:
        """Return the work of an earlier call with the same key, or start new work.

        Args:
            call: The call. Without a key, work is always started.
            params: The parameters that identify the work, to compare with a repeated call.
            start: Starts the work. It is passed the outcome, which the work must complete with `succeed` or `fail`.

        Raises:
            HawseError: The earlier work's error; `key_conflict`; `outcome_unknown`; any error that `start` raises,
                which leaves the key unused.
        """
        digest = fingerprint(call.method, msgspec.json.encode(params))
        if call.key is None:
            return start(Outcome(digest, lambda outcome: None))
        key = own_key(call.principal, call.key)
        known = self.join(key, digest, call.age)
        if known is not None:
            if known.error is not None:
                raise known.error
            known_work: T = known.work
            return known_work
        outcome = self.begin(key, digest)
        outcome.key = call.key
        try:
            work = start(outcome)
        except BaseException:
            self._running.pop(key, None)
            raise
        if key in self._running or key in self._done:  # not if the call was refused; its key is unused
            outcome.work = work
        return work

    def _settled(self, key: str, outcome: Outcome) -> None:
        self._running.pop(key, None)
        # A refused call did no work, so its key stays unused.
        if outcome.error is None or outcome.error.admitted != "no":
            outcome.done_at = self._clock()
            self._done[key] = outcome
            self._forget()
        else:
            outcome.work = None

    def _forget(self) -> None:
        limits = self._limits
        oldest = self._clock() - limits.age
        while self._done and (len(self._done) > limits.outcomes or next(iter(self._done.values())).done_at < oldest):
            key, outcome = self._done.popitem(last=False)
            outcome.work = None
            self._used.add(key)
