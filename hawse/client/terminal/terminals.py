"""`box.terminals`: opens terminals in a sandbox, attaches to them and lists them."""

import builtins
import secrets
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from hawse.api.people import ViewerProfile
from hawse.api.terminals import (
    RecordOptions,
    TerminalAttach,
    TerminalCreate,
    TerminalGet,
    TerminalInfo,
    TerminalList,
    TerminalListResult,
    TerminalViewers,
    TerminalViewersResult,
    TerminalWatch,
)
from hawse.client.base.environment import Directory, Env, directory, environment
from hawse.client.base.keywords import declared
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.terminal import Terminal

if TYPE_CHECKING:  # rarely needed modules are loaded on first use
    from hawse.client.terminal.command import TerminalCommand


class ViewerOptions(TypedDict, total=False):
    """Options for this viewer: keyword arguments for `box.terminals.open` and `attach`.

    Args:
        read_only: True if this viewer is not allowed to type.
        lossless: Whether the program waits for this viewer, so that no output is replaced with a snapshot. It waits up
            to 30 seconds while the viewer makes no progress or has no connection.
        emulator: Whether this viewer's emulator can answer a program's queries. See `Terminal.answers`.
        name: The name that other viewers see.
        kind: The kind that other viewers see; by default `agent`.
    """

    read_only: bool
    lossless: bool
    emulator: bool
    name: str | None
    kind: Literal["person", "agent"]


class Terminals(SandboxPart):
    """A sandbox's terminals. The handle doesn't have to be closed."""

    def open(
        self,
        id: str | None = None,
        *,
        argv: list[str] | None = None,
        cwd: Directory | None = None,
        env: Env | None = None,
        cols: int = 80,
        rows: int = 24,
        integration: bool = True,
        record: RecordOptions | bool = False,
        **viewer: Unpack[ViewerOptions],
    ) -> Terminal:
        """Attach to the terminal with this id, creating it unless it is running.

        Await the result and `close` it later, or use it with `async with`, which closes it at the end. The terminal
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
        wanted = TerminalCreate(
            id=id,
            argv=argv,
            cwd=directory(cwd),
            env=environment(env),
            cols=cols,
            rows=rows,
            integration=None if integration else False,
            record=record or None,
        )
        return self._handle(_attachment(id or "", None, **declared(viewer, ViewerOptions, "open")), None, wanted)

    def attach(
        self, id: str, *, instance: str | None = None, since: int | None = None, **viewer: Unpack[ViewerOptions]
    ) -> Terminal:
        """Attach to an existing terminal. Await the result and `close` it later, or use it with `async with`.

        Args:
            id: The id of the terminal.
            instance: The expected instance; None accepts any.
            since: The offset to start at; None replays all output that is still kept.
            viewer: `read_only`, `lossless`, `emulator`, `name`, `kind`; see `ViewerOptions`.

        Raises:
            HawseError: When awaited: `not_found`, `stale_handle` if the terminal is a different instance, and the error
                that closed the client.
        """
        return self._handle(_attachment(id, instance, **declared(viewer, ViewerOptions, "attach")), since, None)

    async def follow(
        self,
        id: str,
        *,
        instance: str | None = None,
        since: int = 0,
        timeout: float | None = None,
        max_output: int | None = None,
    ) -> "TerminalCommand":
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
        from hawse.client.terminal.command import OUTPUT_LIMIT, Follower, TerminalCommand

        instance = instance or (await self.get(id)).instance
        follower = Follower(self._calls, self._sandbox, id, instance, max_output or OUTPUT_LIMIT)
        return TerminalCommand(follower, await follower.step(since, timeout))

    async def get(self, id: str) -> TerminalInfo:
        """Return the current state of a running or exited terminal. Raises `not_found`."""
        return await self._request(TerminalGet(id=id))

    async def list(self) -> list[TerminalInfo]:
        """Return the running and exited terminals."""
        return (await self._request(TerminalList())).terminals

    def watch(self) -> StateStream[builtins.list[TerminalInfo]]:
        """Return a context manager and iterator over the running and exited terminals, now and after every change.

        A change is a new, ended or removed terminal, or a changed property such as `title` or `waiting`. Output alone
        does not count as a change.
        """
        call = StateStreamCall(TerminalWatch(), sandbox=self._sandbox, window=self._window)
        return StateStream(self._calls, call, _terminals_of)

    async def viewers(self) -> TerminalViewersResult:
        """Return the viewers of all terminals. The caller does not become a viewer."""
        return await self._request(TerminalViewers())

    def _handle(self, attach: TerminalAttach, since: int | None, wanted: TerminalCreate | None) -> Terminal:
        call = TerminalAttachCall(attach, sandbox=self._sandbox, since=since, window=self._window)
        return Terminal(self._calls, self._sandbox, call, wanted)


def _attachment(
    id: str,
    instance: str | None,
    *,
    read_only: bool = False,
    lossless: bool = False,
    emulator: bool = False,
    name: str | None = None,
    kind: Literal["person", "agent"] = "agent",
) -> TerminalAttach:
    return TerminalAttach(
        id=id,
        instance=instance,
        read_only=read_only or None,
        lossless=lossless or None,
        emulator=emulator or None,
        viewer=ViewerProfile(key=secrets.token_hex(16), name=name, kind=kind),
    )


def _terminals_of(state: TerminalListResult) -> list[TerminalInfo]:
    return state.terminals
