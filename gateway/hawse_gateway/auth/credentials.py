"""API tokens, share links and sessions, stored in rows that each gateway mirrors in memory.

Only a secret's SHA-256 hash is stored and used for lookups. Similar secrets have unrelated hashes, so the lookup time
does not reveal how close a guess is. A slow hash is not needed, because every secret has at least 256 random bits.
"""

import hashlib
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from hawse.wire import HawseError, Principal
from hawse_gateway.auth.credential_rows import EXTERNAL, Credential, ExternalTokens, Kind
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.store.base import (
    ABSENT,
    Change,
    ConflictError,
    Delete,
    Put,
    Row,
    Store,
    StoreError,
    store_errors_unavailable,
)
from hawse_gateway.store.clock import Clock, Moment
from hawse_gateway.store.table_follower import TableFollower

log = logging.getLogger(__name__)

TABLE: Final = "credentials"
PREFIXES: Final = {"token": "hwt_", "link": "hws_", "session": "hwc_"}  # prefixes that identify leaked secrets
SESSION: Final = "session-"  # id prefix for sessions
SECRET_BYTES: Final = 32
TOTAL: Final = 4096  # maximum number of credentials, to bound memory
OF_EACH_USER: Final = 1024  # maximum number of credentials per user, so that one user can't use up the total
SESSIONS_OF_EACH: Final = 64  # maximum number of sessions per token or link; another sign-in ends the oldest session
SESSION_LIFETIME: Final = 7 * 86_400.0  # seconds until an unused session expires
SESSION_STEP: Final = 3_600.0  # minimum number of seconds between two extensions of a session in use
ATTEMPTS: Final = 5  # maximum number of attempts to write a row that other gateways are also changing


class Credentials:
    """The owner's token and all stored credentials. Use it in `async with credentials.running():`."""

    def __init__(self, owner_token: str, store: Store, *, clock: Clock | None = None) -> None:
        """Create the table. Until `running` is entered, it contains only the owner's token.

        Args:
            owner_token: The owner's token, which is not stored.
            store: The store that contains the rows.
            clock: The clock used to decide whether credentials have expired. Default: this machine's clock.
        """
        digest = _digest(owner_token)  # part of the id, so that replacing the token ends its sessions
        self._owner = Identity(OWNER, f"owner-{digest[:16]}")
        self._store = store
        self._clock = clock or Clock()
        self._rows: dict[str, tuple[Credential, int]] = {}  # rows with their versions, keyed by id
        self._by_digest: dict[str, str] = {}  # ids
        self._follower = TableFollower(store, TABLE, self._apply, lambda: list(self._rows))
        self._owner_digest = digest
        self.external: ExternalTokens | None = None
        self._on_ended: list[Callable[[str], None]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Credentials"]:
        """Load the rows, and keep them up to date. Raises `StoreError`."""
        async with self._follower.running():
            yield self

    def subscribe(self, ended: Callable[[str], None]) -> None:
        """Register a callback that gets the id of each credential that expires or is revoked."""
        self._on_ended.append(ended)

    # ---- reading

    def find(self, secret: str) -> Identity | None:
        """Return the caller identified by `secret`, or None if the secret is unknown, expired or revoked."""
        digest = _digest(secret)
        if hmac.compare_digest(digest, self._owner_digest):
            return self._owner
        id = self._by_digest.get(digest)
        if id is None and self.external is not None and secret.count(".") == 2:  # RFC 7515, section 7.1
            return self.external.find(secret)
        return None if id is None else self.identity(id)

    def find_session(self, name: str, secret: str) -> Identity | None:
        """Return the caller for the session with this browser id and secret, or None if they don't match."""
        id = self._by_digest.get(_digest(secret))
        return self.identity(id) if id == f"{SESSION}{name}" else None

    def kind(self, id: str) -> Kind | None:
        """Return the kind of a stored credential, or None if the id is unknown or belongs to the owner's token."""
        found = self._rows.get(id)
        return None if found is None else found[0].kind

    def identity(self, id: str) -> Identity | None:
        """Return the identity for the credential `id`, or None if the credential is no longer valid."""
        if id == self._owner.credential:
            return self._owner
        if id.startswith(EXTERNAL):
            return None if self.external is None else self.external.identity(id)
        if id not in self._rows:
            return None
        credential, _ = self._rows[id]
        if credential.expires is not None and self._clock.until(credential.expires) <= 0:
            return None
        if credential.parent is not None and self.identity(credential.parent) is None:
            return None
        return Identity(credential.principal, id, credential.expires)

    def creator(self, caller: Principal) -> Identity | None:
        """Return the identity for the credential that `caller` uses, or None if the credential is no longer valid."""
        return self._owner if caller.credential is None else self.identity(caller.credential)

    def current(self, identity: Identity) -> bool:
        """Return whether a caller's credential is still valid."""
        return self.identity(identity.credential) is not None

    def expiry(self, identity: Identity) -> Moment | None:
        """Return when a caller's credential expires. The lifetime may have been extended since the caller presented
        it."""
        found = self.identity(identity.credential)
        return identity.expires if found is None else found.expires

    def get(self, id: str) -> Credential | None:
        """Return a valid stored credential, or None. The owner's token is not stored."""
        found = self._rows.get(id)
        return None if found is None or self.identity(id) is None else found[0]

    def all(self, kind: Kind) -> list[Credential]:
        """Return the active credentials of one kind, in order of creation."""
        found = (self.get(id) for id in self._rows)
        return sorted((one for one in found if one is not None and one.kind == kind), key=lambda one: one.created)

    def root(self, id: str) -> str:
        """Return the id of the token or link used to start a session. For any other credential, return its own id."""
        found = self._rows.get(id)
        return id if found is None or found[0].kind != "session" else found[0].parent or id

    # ---- changing

    async def create(
        self,
        kind: Kind,
        principal: Principal,
        creator: Identity,
        *,
        lifetime: float | None = None,
        max_uses: int | None = None,
    ) -> tuple[str, Credential]:
        """Store a new credential, and return its secret and its row.

        Args:
            kind: The kind of credential.
            principal: The principal it authenticates. An empty `id` is replaced by the credential's id.
            creator: The caller that creates it. The new credential never outlives the creator's.
            lifetime: Seconds until it expires. None means that it lasts as long as the creator's credential.
            max_uses: The maximum number of sessions that can be started with it. None means unlimited.

        Raises:
            HawseError: `limit_exceeded`, or `unavailable` if the store is unavailable.
        """
        if creator.credential.startswith(EXTERNAL):
            raise HawseError("forbidden", "a JSON Web Token cannot create other credentials: sign in at the page")
        secret = PREFIXES[kind] + secrets.token_urlsafe(SECRET_BYTES)
        if kind == "session":
            secret += f".{secrets.token_urlsafe(SECRET_BYTES)}"  # the session's key (`hawse_gateway.auth.cookies`)
        id = f"{kind}-{secrets.token_hex(8)}"
        if not principal.id:
            principal = msgspec.structs.replace(principal, id=id)
        # The parent of a credential created in a browser is the token behind the browser's session, not the session.
        parent = creator.credential if kind == "session" else self.root(creator.credential)
        limit = self.identity(parent)
        now = self._clock.now()
        expires = limit.expires if limit is not None else creator.expires
        if lifetime is not None and (expires is None or self._clock.until(expires) > lifetime):
            expires = now.after(lifetime)
        credential = Credential(
            id=id,
            kind=kind,
            digest=_digest(secret),
            principal=principal,
            created=now.wall,
            expires=expires,
            max_uses=max_uses,
            parent=None if kind != "session" and parent == self._owner.credential else parent,
        )
        await self._delete(self._surplus(credential))
        self._check_number(credential)
        value = msgspec.json.encode(credential)
        version = await self._write(Put(TABLE, id, value, ABSENT))
        self._put(id, Row(value, version))
        return secret, credential

    async def begin_session(self, identity: Identity) -> tuple[str, Credential]:
        """Create a session for a browser that presented a token or link. Return its secret and its row.

        Raises:
            HawseError: `forbidden` if a link has no uses left; `limit_exceeded`; `unavailable` if the store is
                unavailable.
        """
        await self._count_use(identity.credential)
        principal = msgspec.structs.replace(identity.principal, credential=None)
        return await self.create("session", principal, identity, lifetime=SESSION_LIFETIME)

    async def log_in(self, id: str, principal: Principal, *, lifetime: float) -> Identity:
        """Record a sign-in with an identity provider. Return the identity for the user's sessions.

        Sessions from an earlier login stay valid unless the user's rights have changed.

        Args:
            id: The id of the row, which is the same for all of this user's logins.
            principal: The user and its rights at the gateway.
            lifetime: Seconds until the user must sign in again.

        Raises:
            HawseError: `limit_exceeded`, or `unavailable` if the store is unavailable.
        """
        principal = msgspec.structs.replace(principal, credential=None)
        for _ in range(ATTEMPTS):
            found = self._rows.get(id)
            if found is not None and msgspec.structs.replace(found[0].principal, credential=None) != principal:
                await self.revoke(id)
                found = None
            now, digest = self._clock.now(), _digest(secrets.token_urlsafe(SECRET_BYTES))
            row = Credential(
                id=id, kind="login", digest=digest, principal=principal, created=now.wall, expires=now.after(lifetime)
            )
            if found is None:
                await self._delete(self._surplus(row))
                self._check_number(row)
            value = msgspec.json.encode(row)
            try:
                version = await self._write(Put(TABLE, id, value, ABSENT if found is None else found[1]))
            except ConflictError:
                await self._read(id)  # the user is also signing in at another gateway
                continue
            self._put(id, Row(value, version))
            return Identity(self._rows[id][0].principal, id, row.expires)
        raise HawseError("unavailable", "the user is signing in at several gateways at the same time: try again")

    async def extend(self, id: str) -> float | None:
        """Record that a session was used. Return the seconds until it expires, or None if it is no longer valid.

        The row is written at most once per `SESSION_STEP`.
        """
        for _ in range(ATTEMPTS):
            identity = self.identity(id)
            if identity is None:
                return None
            credential, version = self._rows[id]
            parent = None if credential.parent is None else self.identity(credential.parent)
            end = self._clock.now().after(SESSION_LIFETIME)
            if parent is not None and parent.expires is not None and end.is_after(parent.expires):
                end = parent.expires
            if credential.expires is not None and end.is_after(credential.expires.after(SESSION_STEP)):
                stored = msgspec.structs.replace(credential, expires=end)
                value = msgspec.json.encode(stored)
                try:
                    self._put(id, Row(value, await self._write(Put(TABLE, id, value, version))))
                except ConflictError:
                    await self._read(id)  # another gateway changed the row
                    continue
            found = self.identity(id)
            return None if found is None or found.expires is None else self._clock.until(found.expires)
        return None

    async def revoke(self, id: str) -> None:
        """Delete a credential and all credentials created with it. Their connections are closed immediately."""
        await self._delete([id, *self._descendants(id)])

    # ---- inside

    async def _count_use(self, id: str) -> None:
        """Count another session started with a link. If several gateways start the last allowed session at the same
        time, only one succeeds."""
        for _ in range(ATTEMPTS):
            row, version = self._rows.get(id, (None, 0))
            if row is None or row.kind != "link":
                return
            if row.max_uses is not None and row.uses >= row.max_uses:
                raise HawseError("forbidden", f"this link has reached its limit of {row.uses} uses")
            value = msgspec.json.encode(msgspec.structs.replace(row, uses=row.uses + 1))
            try:
                self._put(id, Row(value, await self._write(Put(TABLE, id, value, version))))
            except ConflictError:
                await self._read(id)  # another gateway is using the link at the same time
            else:
                return
        raise HawseError("unavailable", "the link is in use at several gateways at the same time: try again")

    def _surplus(self, new: Credential) -> list[str]:
        """Return the rows to delete before writing `new`: invalid rows, and the oldest sessions of the same parent if
        there are too many."""
        ended = [id for id in self._rows if self.identity(id) is None]
        siblings = [one for one in self.all("session") if one.parent == new.parent] if new.kind == "session" else []
        return ended + [one.id for one in siblings[: max(0, len(siblings) + 1 - SESSIONS_OF_EACH)]]

    def _check_number(self, new: Credential) -> None:
        own = sum(one.principal.id == new.principal.id for one, _ in self._rows.values())
        if len(self._rows) >= TOTAL or own >= OF_EACH_USER:
            raise HawseError(
                "limit_exceeded",
                f"at most {TOTAL} credentials can exist, {OF_EACH_USER} per user: revoke some of them",
            )

    def _descendants(self, id: str) -> Iterator[str]:
        for child, (credential, _) in list(self._rows.items()):
            if credential.parent == id:
                yield child
                yield from self._descendants(child)

    async def _delete(self, ids: Iterable[str]) -> None:
        for id in ids:
            for _ in range(ATTEMPTS):
                if id not in self._rows:
                    break
                try:
                    await self._write(Delete(TABLE, id, self._rows[id][1]))
                except ConflictError:
                    await self._read(id)  # another gateway changed the row
                    continue
                self._drop(id)
                break

    async def _write(self, change: Change) -> int:
        with store_errors_unavailable():
            return await self._store.write(change)

    def _put(self, id: str, row: Row) -> None:
        try:
            credential = msgspec.json.decode(row.value, type=Credential)
        except msgspec.MsgspecError as error:
            log.error("! credential %s is unreadable: %s", id, error)
            return
        principal = msgspec.structs.replace(credential.principal, credential=id)
        self._rows[id] = msgspec.structs.replace(credential, principal=principal), row.version
        self._by_digest[credential.digest] = id

    def _drop(self, id: str) -> None:
        found = self._rows.pop(id, None)
        if found is not None:
            self._by_digest.pop(found[0].digest, None)
            for callback in self._on_ended:
                callback(id)

    def _apply(self, id: str, row: Row | None) -> None:
        """Apply a row that another gateway may have changed or deleted."""
        if row is None:
            for one in (id, *self._descendants(id)):
                self._drop(one)
        elif id not in self._rows or self._rows[id][1] < row.version:
            self._put(id, row)

    async def _read(self, id: str) -> None:
        """Reload a row that another gateway may have changed or deleted."""
        try:
            await self._follower.read(id)
        except StoreError as error:
            raise HawseError("unavailable", str(error)) from error


def name_of(session: str) -> str:
    """Return the id that browsers use for a session, given the id of its row."""
    return session.removeprefix(SESSION)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
