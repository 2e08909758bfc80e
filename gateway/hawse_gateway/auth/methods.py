"""Handlers for `token.*` and `share.*`. A credential never has more rights than its creator, and never outlives it."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from hawse.api.access import (
    ShareCreate,
    ShareCreateResult,
    ShareInfo,
    ShareList,
    ShareListResult,
    ShareRevoke,
    ShareUser,
    TokenCreate,
    TokenCreateResult,
    TokenInfo,
    TokenList,
    TokenListResult,
    TokenRevoke,
)
from hawse.api.rights import ACCESS, ALL, JOIN, OWN, ROLES, Right, covers, missing_right, role_of
from hawse.api.spec import Nothing
from hawse.rpc import handles
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.call_check import Owns, owns_nothing
from hawse_gateway.auth.credential_rows import Credential, Kind
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.open_connections import OpenConnection, OpenConnections

LINK_ROLES = ("viewer", "writer")  # guests with other roles could create tokens or processes that outlive the link


class AccessMethods:
    """Handlers for `token.*` and `share.*`."""

    def __init__(self, credentials: Credentials, connections: OpenConnections, owns: Owns = owns_nothing) -> None:
        """Create the handlers.

        Args:
            credentials: The tokens and links.
            connections: The open connections and requests, tracked by credential.
            owns: Returns whether a caller owns a sandbox.
        """
        self._credentials = credentials
        self._connections = connections
        self._owns = owns

    # ---- tokens

    @handles(TokenCreate, caller=True)
    async def create_token(self, params: TokenCreate, caller: Principal) -> TokenCreateResult:
        user = params.user or caller.id
        if user != caller.id and ALL not in caller.rights:
            raise HawseError("forbidden", "only a caller with every right in all sandboxes can name another `user`")
        names = ROLES[params.role]
        if params.own and params.sandboxes is not None:
            raise HawseError("invalid_params", "`own` excludes `sandboxes`", details={"path": "$.own"})
        places = [OWN] if params.own else self._places(caller) if params.sandboxes is None else list(params.sandboxes)
        rights = [str(Right(name, place)) for name in names for place in places]
        self._check_covered(caller, [*(str(Right(ACCESS, place)) for place in places), *rights])
        principal = Principal(id=user, name=params.name, kind="user", rights=tuple(rights))
        token, row = await self._credentials.create(
            "token", principal, self._creator(caller), lifetime=params.expires_in
        )
        return TokenCreateResult(token=token, info=self._token(row))

    @handles(TokenList, caller=True)
    async def list_tokens(self, params: TokenList, caller: Principal) -> TokenListResult:
        rows = [*self._of(caller, "token"), *self._of(caller, "login")]
        return TokenListResult(tokens=[self._token(row) for row in rows])

    @handles(TokenRevoke, caller=True)
    async def revoke_token(self, params: TokenRevoke, caller: Principal) -> Nothing:
        return await self._revoke(params.id, ("token", "login"), caller)

    # ---- links

    @handles(ShareCreate, caller=True)
    async def create_link(self, params: ShareCreate, caller: Principal) -> ShareCreateResult:
        if params.role not in LINK_ROLES:
            raise HawseError(
                "invalid_params", f"`role` must be viewer or writer, not {params.role}", details={"path": "$.role"}
            )
        rights = [str(Right(name, params.sandbox, params.terminal)) for name in ROLES[params.role]]
        self._check_covered(caller, [str(Right(ACCESS, params.sandbox)), *rights])
        # An empty id is replaced by the link's id, so that guests of different links count as different users.
        principal = Principal(id="", name=params.name, kind="guest", rights=tuple(rights))
        token, row = await self._credentials.create(
            "link", principal, self._creator(caller), lifetime=params.expires_in, max_uses=params.max_uses
        )
        return ShareCreateResult(token=token, path=_path(params, token), info=self._link(row))

    @handles(ShareList, caller=True)
    async def list_links(self, params: ShareList, caller: Principal) -> ShareListResult:
        return ShareListResult(links=[self._link(row) for row in self._of(caller, "link")])

    @handles(ShareRevoke, caller=True)
    async def revoke_link(self, params: ShareRevoke, caller: Principal) -> Nothing:
        return await self._revoke(params.id, ("link",), caller)

    async def end_links(self, sandbox: str, before: float) -> None:
        """Revoke a deleted sandbox's links and join tokens, because its id can be reused.

        Args:
            sandbox: The id of the sandbox.
            before: Only revoke credentials created before this time, in seconds since 1970.

        Raises:
            HawseError: `unavailable` if the store is unavailable.
        """
        for row in [*self._credentials.all("link"), *self._credentials.all("token")]:
            if row.created < before and _opens_only(row, sandbox):
                await self._credentials.revoke(row.id)

    # ---- inside

    def _check_covered(self, caller: Principal, rights: Iterable[str]) -> None:
        """Raise `HawseError` (`forbidden`) if the caller is trying to grant a right that it doesn't have."""
        for text in rights:
            right = Right.parse(text)
            own = right.sandbox is not None and self._owns(caller, right.sandbox)
            if not covers(caller.rights, text) and not (
                own and covers(caller.rights, str(right._replace(sandbox=OWN)))
            ):
                raise missing_right(caller, text)

    def _creator(self, caller: Principal) -> Identity:
        """Return the identity for the caller's credential. Raises `HawseError` (`forbidden`) if it is invalid."""
        found = self._credentials.creator(caller)
        if found is None:
            raise HawseError("forbidden", "the caller's token has expired or was revoked")
        return found

    def _places(self, caller: Principal) -> list[str | None]:
        """Return the sandboxes that the caller may grant access to. None in the list means all sandboxes."""
        rights = [right for right in map(Right.parse, caller.rights) if right.terminal is None]
        return list(dict.fromkeys(one.sandbox for one in rights if one.includes(Right(ACCESS, one.sandbox))))

    def _of(self, caller: Principal, kind: Kind) -> list[Credential]:
        return [row for row in self._credentials.all(kind) if self._may_revoke(caller, row)]

    def _may_revoke(self, caller: Principal, row: Credential) -> bool:
        if ALL in caller.rights or row.principal.id == caller.id:
            return True
        parent = None if row.parent is None else self._credentials.get(row.parent)
        return parent is not None and parent.principal.id == caller.id

    async def _revoke(self, id: str, kinds: Sequence[Kind], caller: Principal) -> Nothing:
        row = self._credentials.get(id)
        if row is None or row.kind not in kinds or not self._may_revoke(caller, row):
            raise HawseError("not_found", f"unknown {kinds[0]} {id[:64]!r}")
        await self._credentials.revoke(id)
        return Nothing()

    def _token(self, row: Credential) -> TokenInfo:
        places: set[Any] = {Right.parse(text).sandbox for text in row.principal.rights}
        return TokenInfo(
            id=row.id,
            name=row.principal.name,
            user=row.principal.id,
            role=role_of(row.principal.rights),
            sandboxes=sorted(places - {OWN, None}) or ([] if OWN in places else None),
            own=OWN in places,
            created=row.created,
            expires=_date(row),
            connections=len(self._open(row)),
        )

    def _link(self, row: Credential) -> ShareInfo:
        right = Right.parse(row.principal.rights[0])
        return ShareInfo(
            id=row.id,
            name=row.principal.name,
            sandbox=right.sandbox or "",
            terminal=right.terminal,
            role=role_of(row.principal.rights),
            created=row.created,
            expires=_date(row),
            uses=row.uses,
            max_uses=row.max_uses,
            users=[ShareUser(address=one.address, since=one.since) for one in self._open(row)],
        )

    def _open(self, row: Credential) -> list[OpenConnection]:
        """Return a token's or link's open connections and requests, including those that belong to its sessions."""
        sessions = (one.id for one in self._credentials.all("session") if one.parent == row.id)
        return [one for id in (row.id, *sessions) for one in self._connections.of(id)]


def _opens_only(row: Credential, sandbox: str) -> bool:
    """Return whether a credential is a link to the sandbox or a token for joining the gateway as this sandbox."""
    rights = [Right.parse(text) for text in row.principal.rights]
    if row.kind == "token" and any(right.name != JOIN for right in rights):
        return False
    return {right.sandbox for right in rights} == {sandbox}


def _date(row: Credential) -> float | None:
    """Return when a credential expires, in seconds since 1970, based on the clock at creation."""
    return None if row.expires is None else row.expires.wall


def _path(params: ShareCreate, token: str) -> str:
    """Return the path of a link's page. The secret is in the fragment, which browsers don't send."""
    query = {"sandbox": params.sandbox} | ({} if params.terminal is None else {"terminal": params.terminal})
    return f"/?{urlencode(query)}#{urlencode({'token': token})}"
