"""The base class of the handles of what `async with` creates and deletes: sessions and code contexts."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator
from types import TracebackType
from typing import Any, Self

from hawse.api import Params
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.wire import HawseError

GONE = frozenset({"not_found", "stale_handle"})  # there is nothing left to delete


class CreatedHandle(ABC):
    """Awaiting or entering it creates it, or finds an existing one.

    Leaving `async with` deletes the object that this handle has created, unless `detach` was called.
    """

    def __init__(
        self, calls: CallTable, sandbox: str, wanted: str | None, *, prefix: str, create: bool, window: int
    ) -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            sandbox: The sandbox that it is in.
            wanted: Its id; None means a random one.
            prefix: The first characters of a chosen id.
            create: Whether it is created.
            window: Bytes that the server may send before they are handled.
        """
        self.instance = ""  # distinguishes objects with the same id: new for each creation
        self._calls = calls
        self._sandbox = sandbox
        self._id = wanted
        self._prefix = prefix
        self._create = create
        self._window = window
        self._detached = not create
        self._entered = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} in sandbox {self._sandbox!r}>"

    @property
    def id(self) -> str:
        """The id of the object; empty until it is created."""
        return self._id or ""

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        """Create it, or find the existing one. Does nothing if this handle has been awaited.

        Raises:
            HawseError: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`, for a code context
                `language_unavailable`; `not_found` if an existing one is missing.
        """
        self._entered = True
        if self.instance:
            return self
        if not self._create:
            self.instance = await self._find()
            return self
        own = self._id is None
        if own:
            self._id = self._prefix + secrets.token_hex(6)
        try:
            self.instance = await self._begin()
        except BaseException:
            if own:  # it may have been created, and no other client knows its id
                self._calls.post(ClientCall(self._deletion(), sandbox=self._sandbox))
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._detached:
            await self._delete(self._deletion())

    def detach(self) -> None:
        """Let it live when the `async with` is left."""
        self._detached = True

    def _check_entered(self) -> None:
        """Raise `RuntimeError` unless it was created or found."""
        if not self._entered:
            name = type(self).__name__
            raise RuntimeError(f"this {name} is not open: await it, or use it in `async with`, before its methods")

    @abstractmethod
    async def _begin(self) -> str:
        """Create it with `id`; return its instance."""

    @abstractmethod
    async def _find(self) -> str:
        """Return the instance of the existing one. Raises `not_found`."""

    @abstractmethod
    def _deletion(self) -> Params[Any]:
        """The call that deletes it, whose `instance` is None before it was created."""

    async def _delete(self, deletion: Params[Any]) -> None:
        """Make a call that deletes it; it is not an error if it does not exist any more."""
        try:
            await self._request(deletion)
        except HawseError as error:
            if error.code not in GONE:
                raise

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
