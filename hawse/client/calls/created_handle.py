"""The base class of handles that create and delete an object with `async with`: sessions and code contexts."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator
from types import TracebackType
from typing import Any, Self

from hawse.api import Params
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.wire import HawseError

GONE = frozenset({"not_found", "stale_handle"})  # error codes that mean that the object no longer exists


class CreatedHandle(ABC):
    """A handle that creates or finds its object when it is awaited or entered.

    Leaving `async with` deletes the object if this handle created it, unless `detach` was called.
    """

    def __init__(
        self, calls: CallTable, sandbox: str, wanted: str | None, *, prefix: str, create: bool, window: int
    ) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The sandbox the object is in.
            wanted: The id of the object; None means a random id.
            prefix: The prefix for a random id.
            create: Whether to create the object instead of finding an existing one.
            window: Number of bytes the server can send before the client handles them.
        """
        self.instance = ""  # unique for each created object, to tell apart objects with the same id
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
        """The object's id; empty until it is created."""
        return self._id or ""

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        """Create or find the object. Does nothing if this handle has already been awaited.

        Raises:
            HawseError: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`, `language_unavailable` for a
                code context; `not_found` if the object to find does not exist.
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
            if own:  # the object may exist by now, and no other client could delete it without its id
                self._calls.post(ClientCall(self._deletion(), sandbox=self._sandbox))
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._detached:
            await self._delete(self._deletion())

    def detach(self) -> None:
        """Keep the object when leaving the `async with` block."""
        self._detached = True

    def _check_entered(self) -> None:
        """Raise `RuntimeError` unless the object has been created or found."""
        if not self._entered:
            name = type(self).__name__
            raise RuntimeError(f"this {name} is not open: await it, or use it in `async with`, before calling methods")

    @abstractmethod
    async def _begin(self) -> str:
        """Create the object with `id`; return its instance."""

    @abstractmethod
    async def _find(self) -> str:
        """Return the instance of the existing object. Raises `not_found`."""

    @abstractmethod
    def _deletion(self) -> Params[Any]:
        """Return the call that deletes the object. `instance` is None if the object hasn't been created yet."""

    async def _delete(self, deletion: Params[Any]) -> None:
        """Delete the object. It is not an error if it no longer exists."""
        try:
            await self._request(deletion)
        except HawseError as error:
            if error.code not in GONE:
                raise

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
