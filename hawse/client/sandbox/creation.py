"""Objects that create or find a sandbox when awaited or entered, optionally with a separate connection."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import Network, SandboxCreate, SandboxLimits, SandboxPort
from hawse.wire import HawseError

if TYPE_CHECKING:
    from hawse.client.client import Client
    from hawse.client.sandbox.sandbox import Sandbox


class SandboxOptions(TypedDict, total=False):
    """Options for creating a sandbox: the keyword arguments for `Sandboxes.create` and `Sandbox.create`.

    Args:
        provider: The name of the provider; by default the gateway's default provider.
        template: The name of one of the gateway's templates.
        image: The image that provides its file system.
        image_command: Whether to start the image's command as a process named `image`.
        env: The environment for all programs in it.
        snapshot: The id of a snapshot or other backup to restore into its workspace.
        labels: Labels, which `list` can filter by.
        limits: Its resource limits.
        network: The network it can reach.
        egress: The rules for the `filtered` network; by default, nothing is allowed.
        ports: Ports that have a preview from the start: numbers, or a `SandboxPort` to set a name or token.
        timeout: Seconds until it is deleted; by default never.
        idle_timeout: Seconds of inactivity until it sleeps; by default the gateway's setting.
        keep_alive: Whether it never sleeps.
    """

    provider: str | None
    template: str | None
    image: str | None
    image_command: bool
    env: Mapping[str, str] | None
    snapshot: str | None
    labels: Mapping[str, str] | None
    limits: SandboxLimits | None
    network: Network | None
    egress: EgressPolicy | None
    ports: Sequence[SandboxPort | int]
    timeout: float | None
    idle_timeout: float | None
    keep_alive: bool


def create_params(id: str, options: SandboxOptions) -> SandboxCreate:
    """Return the parameters for `sandbox.create`. Raises `TypeError` for an unknown option."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name, kind in (("env", dict), ("labels", dict)):
        if name in given:
            given[name] = kind(given[name])
    if "ports" in given:
        given["ports"] = [SandboxPort(port=port) if isinstance(port, int) else port for port in given["ports"]]
    return SandboxCreate(id=id, **given)


class SandboxOpening:
    """`box = await Sandbox.get(id)` finds a sandbox; `box.close()` closes its connection, if it has its own.

    `async with Sandbox.get(id) as box:` closes that connection at the end.
    """

    def __init__(self, find: "Callable[[], Awaitable[Sandbox]]") -> None:
        """Find the sandbox.

        Args:
            find: Returns the sandbox.
        """
        self._find = find
        self._box: Sandbox

    def __await__(self) -> "Generator[Any, Any, Sandbox]":
        return self._find().__await__()

    async def __aenter__(self) -> "Sandbox":
        self._box = await self._find()
        return self._box

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._box.close()


class SandboxCreation(SandboxOpening):
    """`box = await hw.sandboxes.create()` creates a permanent sandbox.

    `async with hw.sandboxes.create() as box:` deletes it at the end, even after an exception.
    """

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._box.delete()
        except HawseError as failure:
            if failure.code not in ("not_found", "cleanup_pending"):  # `cleanup_pending`: the gateway keeps deleting it
                raise
        finally:
            await self._box.close()


async def with_own_connection(find: "Callable[[Client], Awaitable[Sandbox]]") -> "Sandbox":
    """Connect to the gateway found by `connect`, and return a sandbox that owns the connection.

    Args:
        find: Returns the sandbox. The connection is closed if this fails.

    Raises:
        HawseError: The same errors as `connect`, and any error that `find` raises.
    """
    from hawse.client.client import connect

    client = await connect()
    try:
        box = await find(client)
    except BaseException:
        await client.close()
        raise
    box.connection = client
    return box
