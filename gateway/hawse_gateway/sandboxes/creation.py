"""The policy for `sandbox.create`: permissions, limits, networks and initial contents for new sandboxes."""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final, Protocol

import msgspec

from hawse.api.rights import ALL, OPERATE, OWN, Right, allows, covers, missing_right
from hawse.api.sandboxes import Network, SandboxCreate, SandboxInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.limits.in_progress import in_progress
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import SandboxIndex, Scope
from hawse_gateway.sandboxes.requests import Creation
from hawse_gateway.store.base import store_errors_unavailable

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")

EndLinks = Callable[[str, float], Awaitable[None]]


async def no_links(sandbox: str, before: float) -> None:
    """Do nothing. Used by gateways without share links."""


def namespace(user: str) -> str:
    """Return the sandbox id prefix for a user whose permissions are limited to their own sandboxes.

    The prefix prevents these users from discovering other users' sandbox ids by trying to create sandboxes.
    """
    if _PLAIN.fullmatch(user):
        return f"{user}."
    return f"0-{hashlib.sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}."


class Snapshots(Protocol):
    """The backups that sandboxes can be created from."""

    async def check(self, snapshot: str, caller: Principal) -> None:
        """Raise `HawseError` (`not_found`) if the snapshot does not exist or the caller isn't allowed to use it."""

    async def fill(self, snapshot: str, sandbox: str, caller: Principal) -> None:
        """Restore a backup to a sandbox's workspace. Raises `HawseError`."""


class Creations:
    """Creates sandboxes on behalf of callers."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        index: SandboxIndex,
        *,
        limit: int | None = None,
        end_links: EndLinks = no_links,
        snapshots: Snapshots | None = None,
        user_networks: Collection[Network] | None = None,
    ) -> None:
        """Create the policy.

        Args:
            sandboxes: The sandboxes.
            index: The sandboxes' owners.
            limit: The maximum number of sandboxes for a user with limited permissions. None means unlimited.
            end_links: Revokes all of a sandbox's share links that were created before a given time.
            snapshots: The backups to create sandboxes from. None disables this.
            user_networks: The networks that users with limited permissions can choose, besides a template's network.
                None means all.
        """
        self._sandboxes = sandboxes
        self._index = index
        self._limit = limit
        self._end_links = end_links
        self._snapshots = snapshots
        self._user_networks = user_networks
        self._creating: Counter[str] = Counter()  # number of creations in progress, keyed by user

    async def create(self, params: SandboxCreate, caller: Principal) -> SandboxInfo:
        """Create and start a sandbox. A repeated call returns the sandbox that the first call created.

        Raises:
            HawseError: `forbidden` if the caller lacks a permission or isn't allowed to choose the network,
                `limit_exceeded`, `not_found` if the snapshot is unknown, or any error that `Sandboxes.create` raises.
        """
        everywhere = allows(caller.rights, OPERATE)
        if not everywhere:
            params = _in_namespace(params, caller)
        if params.snapshot is not None:
            if self._snapshots is None:
                raise HawseError("invalid_params", "this gateway has no backups", details={"path": "$.snapshot"})
            await self._snapshots.check(params.snapshot, caller)
        creation = self._sandboxes.resolve(params, caller.id)
        self._check_network(creation, caller)
        creation = self._with_grants(creation, caller)
        with self._room(creation, caller):
            info = await self._sandboxes.create(creation)
            await self._end_surplus(info, caller)
        if not everywhere and info.owner != caller.id:
            raise HawseError("conflict", f"sandbox {info.id!r} exists, and belongs to another user")
        if info.created is not None:
            await self._end_links(info.id, info.created)  # revokes links to an earlier sandbox with the same id
        if params.snapshot is not None and self._snapshots is not None:
            await self._fill(info.id, params.snapshot, self._snapshots, caller)
        return info

    def _with_grants(self, creation: Creation, caller: Principal) -> Creation:
        """Return the creation parameters with `grants` set to the reasons why the sandbox's secrets are allowed. Raises
        `HawseError` (`invalid_params`)."""
        egress = creation.params.egress
        if egress is None:
            return creation
        # If the caller passes its own rules, which can allow more than the template's rules, the template's secrets are
        # not granted.
        template = creation.asked.template if creation.asked.egress is None else None
        return replace(creation, grants=self._sandboxes.egress.grants.check(egress, caller, template))

    def _check_network(self, creation: Creation, caller: Principal) -> None:
        """Raise `HawseError` (`forbidden`) if the caller isn't allowed to choose the network. Templates can use any
        network."""
        network, allowed = creation.asked.network, self._user_networks
        if network is None or allowed is None or network in allowed or ALL in caller.rights:
            return
        if creation.template is not None and creation.template.network == network:
            return
        text = f"this gateway does not let users choose the network {network!r}, only: {', '.join(allowed)}"
        raise HawseError("forbidden", text, details={"path": "$.network"})

    async def _fill(self, id: str, snapshot: str, snapshots: Snapshots, caller: Principal) -> None:
        """Restore the snapshot to a new sandbox, unless it has already been restored. If restoring fails, delete the
        sandbox."""
        with store_errors_unavailable():
            await self._fill_once(id, snapshot, snapshots, caller)

    async def _fill_once(self, id: str, snapshot: str, snapshots: Snapshots, caller: Principal) -> None:
        async with self._sandboxes.filling(id):
            if await self._sandboxes.snapshot_of(id) is None:
                return
            try:
                await snapshots.fill(snapshot, id, caller)
                await self._sandboxes.note_filled(id)
            except BaseException:
                with suppress(HawseError):  # the driver retries the deletion
                    await self._sandboxes.delete(id)
                raise

    @contextmanager
    def _room(self, creation: Creation, caller: Principal) -> Iterator[None]:
        """Count a creation while the `with` block runs. Raises `HawseError` (`limit_exceeded`) if the caller has
        reached its limit."""
        exists = self._index.owns(caller, creation.id)
        if self._limit is None or ALL in caller.rights or exists:
            yield
            return
        if self._index.count(caller.id) + self._creating[caller.id] >= self._limit:
            raise self._too_many(caller, self._limit)
        with in_progress(self._creating, caller.id):
            yield

    async def _end_surplus(self, info: SandboxInfo, caller: Principal) -> None:
        """Delete the new sandbox if it exceeds the caller's limit because of concurrent creations on other gateways.
        All gateways keep the oldest sandboxes, so that they reach the same decision.

        Raises:
            HawseError: `limit_exceeded` if the sandbox was deleted, or `unavailable` if the store is unavailable.
        """
        with store_errors_unavailable():
            await self._index.current()
        if self._limit is None or ALL in caller.rights or self._index.count(caller.id) <= self._limit:
            return
        found = await self._sandboxes.list(Scope(False, caller.id))
        allowed = sorted(found, key=lambda one: (one.created or 0.0, one.id))[: self._limit]
        if info.owner == caller.id and info.id not in {one.id for one in allowed}:
            await self._sandboxes.delete(info.id)
            raise self._too_many(caller, self._limit)

    def _too_many(self, caller: Principal, limit: int) -> HawseError:
        text = f"{caller.id!r} has {limit} sandboxes, which is the limit: delete one"
        return HawseError("limit_exceeded", text)


def _in_namespace(params: SandboxCreate, caller: Principal) -> SandboxCreate:
    """Return the parameters. If the caller may only use its own sandboxes, generate an id if none was given, and check
    that the id is in the caller's namespace.

    Raises:
        HawseError: `forbidden` if the caller isn't allowed to create sandboxes, `invalid_params` if the id is outside
            the caller's namespace.
    """
    if not covers(caller.rights, str(Right(OPERATE, OWN))):
        raise missing_right(caller, OPERATE)
    prefix = namespace(caller.id)
    if params.id is None:
        return msgspec.structs.replace(params, id=prefix + secrets.token_hex(5))
    if not params.id.startswith(prefix):
        text = f"the ids of your sandboxes start with {prefix!r}, not like {params.id!r}"
        raise HawseError("invalid_params", text, details={"path": "$.id", "prefix": prefix})
    return params
