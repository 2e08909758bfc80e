"""Access to the gateway: tokens, share links and the audit log (`token.*`, `share.*` and `audit.*`)."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.api.rights import ACCESS, Role
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import matching

# ---- values


SANDBOXES_MAX: Final = 32  # maximum number of sandboxes per token; a principal can have at most 64 rights

Name = Annotated[str, Meta(max_length=128)]
User = Annotated[str, Meta(min_length=1, max_length=128)]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
_SANDBOX_ID = "1 to 64 letters, digits, '.', '_' and '-', starting with a letter or digit"
SandboxId = Annotated[str, matching(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$(?!\n)", _SANDBOX_ID)]
TerminalId = Annotated[str, Meta(min_length=1, max_length=80)]
Lifetime = Annotated[float, Meta(gt=0, le=3_155_760_000)]  # a lifetime in seconds, at most 100 years
Uses = Annotated[int, Meta(ge=1, le=1_000_000)]


class TokenInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A token, without its secret.

    A login through the identity provider is listed as a token as well, but has no secret.

    Attributes:
        id: Id of the token, or `login-…` for a login; pass it to `token.revoke`.
        name: Its purpose, as described by its creator.
        user: The user that it identifies. Calls made with it have a principal with this `id`.
        role: Its rights: `owner`, `operator`, `writer`, `viewer`, or `joiner`, which can connect a machine as a
            sandbox.
        created: When it was created, in seconds since 1970.
        sandboxes: The sandboxes it is limited to. Null means all sandboxes.
        own: Whether it is limited to sandboxes created by its user.
        expires: When it expires, in seconds since 1970. Null means never.
        connections: Number of open connections and requests to this gateway that use the token or one of its sessions.
    """

    id: str
    name: str
    user: str
    role: Role
    created: float
    sandboxes: list[str] | None = None
    own: bool = False
    expires: float | None = None
    connections: int = 0


class TokenCreateResult(Reply, frozen=True, kw_only=True):
    """A new token.

    Attributes:
        token: The secret. It is not stored, so it cannot be retrieved later.
        info: The token without its secret.
    """

    token: str
    info: TokenInfo


class TokenListResult(Reply, frozen=True, kw_only=True):
    """Tokens.

    Attributes:
        tokens: The tokens that the caller may revoke, in order of creation.
    """

    tokens: list[TokenInfo]


class ShareUser(Reply, frozen=True, kw_only=True):
    """A connection or request made through a share link.

    Attributes:
        address: Address of the client, `HOST:PORT`.
        since: When it started, in seconds since 1970.
    """

    address: str
    since: float


class ShareInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A share link, without its secret.

    Attributes:
        id: Id of the link, to pass to `share.revoke`.
        name: The guest's name, chosen by the link's creator; can be empty.
        sandbox: The sandbox it gives access to.
        role: Its rights: `writer` or `viewer`.
        created: When it was created, in seconds since 1970.
        terminal: The only terminal it gives access to, along with the terminal's recordings. Null means the whole
            sandbox.
        expires: When it expires, in seconds since 1970. Null means never.
        uses: Number of browsers that have opened the link so far. Each browser exchanges the link's secret for a
            session.
        max_uses: Maximum number of uses. Null means unlimited.
        users: The open connections and requests to this gateway that use the link.
    """

    id: str
    name: str
    sandbox: str
    role: Role
    created: float
    terminal: str | None = None
    expires: float | None = None
    uses: int = 0
    max_uses: int | None = None
    users: list[ShareUser] = msgspec.field(default_factory=list)


class ShareCreateResult(Reply, frozen=True, kw_only=True):
    """A new share link.

    Attributes:
        token: The secret. It is not stored, so it cannot be retrieved later.
        path: The path, query and fragment of the link; append it to the gateway's address to get the complete link.
        info: The link without its secret.
    """

    token: str
    path: str
    info: ShareInfo


class ShareListResult(Reply, frozen=True, kw_only=True):
    """Share links.

    Attributes:
        links: The links that the caller may revoke, in order of creation.
    """

    links: list[ShareInfo]


class CredentialTarget(ParamsValue, kw_only=True):
    """The parameter for methods that act on a single token or link.

    Attributes:
        id: Id of the token or link.
    """

    id: Id


PAGE_MAX: Final = 1000  # maximum number of entries per response; this many fit into a control message

Position = Annotated[str, matching(r"^[0-9]{1,9}:[0-9]{1,12}$(?!\n)", "position from an earlier answer")]
Text = Annotated[str, Meta(max_length=128)]
Time = Annotated[float, Meta(ge=0, le=1e11)]


class AuditEntry(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the audit log.

    Attributes:
        time: When it was written, in seconds since 1970. Calls are logged when they end; streams are also logged when
            they start.
        action: The method called, or else `connect`, `disconnect`, `refused`, or `egress` (the sandbox's proxy refused
            a program's request).
        outcome: `ok`, `open` for a stream that has started, the error code, or the proxy's reason.
        user: The `id` of the caller; empty if it was not authenticated.
        name: The name of the caller; can be empty.
        kind: `owner`, `user`, `guest` or `service`; empty if it was not authenticated.
        credential: The id of the caller's token, link or session; null if the caller had none, or used the owner's
            configured token.
        address: Address of the client, `HOST:PORT`; empty for calls made by the gateway itself.
        request: The id of the call or request, as it appears in logs and errors.
        sandbox: The sandbox that was called, if any.
        on: The objects that the call acted on, from parameters such as `id`, `path` and `terminal`, but never from a
            parameter that could be a secret.
        position: The entry's position in the log, for use with `before` and `after`.
    """

    time: float
    action: str
    outcome: str
    user: str = ""
    name: str = ""
    kind: str = ""
    credential: str | None = None
    address: str = ""
    request: str = ""
    sandbox: str | None = None
    on: dict[str, str] = msgspec.field(default_factory=dict)
    position: str = ""


class AuditListResult(Reply, frozen=True, kw_only=True):
    """A page of the audit log.

    Attributes:
        entries: The entries, newest first. An empty page is not necessarily the last one.
        before: The `before` value for the next page, which has older entries. Null on the last page.
    """

    entries: list[AuditEntry]
    before: str | None = None


# ---- methods


@method("token.create", requires=ACCESS, terminal=SELECTED, sandbox=False, raises=("forbidden", "limit_exceeded"))
class TokenCreate(Params[TokenCreateResult], kw_only=True):
    """Create a token. It cannot have more rights than its creator, and expires with the creator's token at the latest.

    Attributes:
        name: Its purpose.
        role: Its rights.
        sandboxes: The sandboxes it is limited to. Null means all sandboxes that the caller may give access to.
        own: Whether it is limited to sandboxes created by its user. If so, it cannot see other sandboxes.
        user: The user that it identifies. Null means the caller. Only callers with every right in all sandboxes may
            specify another user.
        expires_in: Seconds until it expires. Null means that it expires with the caller's token.
    """

    name: Name = ""
    role: Role = "operator"
    sandboxes: Annotated[list[SandboxId], Meta(min_length=1, max_length=SANDBOXES_MAX)] | None = None
    own: bool = False
    user: User | None = None
    expires_in: Lifetime | None = None


@method("token.list", safe=True, requires=ACCESS, terminal=SELECTED, sandbox=False)
class TokenList(Params[TokenListResult], kw_only=True):
    """List the tokens that the caller may revoke: its own, or all if it has every right in all sandboxes."""


@method("token.revoke", requires=ACCESS, terminal=SELECTED, sandbox=False, names="id", ends=True, raises=("not_found",))
class TokenRevoke(CredentialTarget, Params[Nothing], kw_only=True):
    """Revoke a token and all tokens and links created with it. Connections that use any of them are closed."""


@method("share.create", requires=ACCESS, terminal=SELECTED, sandbox=False, raises=("forbidden", "limit_exceeded"))
class ShareCreate(Params[ShareCreateResult], kw_only=True):
    """Create a link that gives access to a sandbox, or to one terminal and its recordings, without a token.

    Attributes:
        sandbox: The sandbox.
        terminal: The only terminal to give access to. Null means the whole sandbox.
        role: The link's rights: `viewer` or `writer`.
        name: The guest's name.
        expires_in: Seconds until it expires. Null means that it expires with the caller's token.
        max_uses: Maximum number of browsers, or null. If set, the link's secret can't be used as a token; it can only
            be exchanged for a session.
    """

    sandbox: SandboxId = "local"
    terminal: TerminalId | None = None
    role: Role = "viewer"
    name: Name = ""
    expires_in: Lifetime | None = None
    max_uses: Uses | None = None


@method("share.list", safe=True, requires=ACCESS, terminal=SELECTED, sandbox=False)
class ShareList(Params[ShareListResult], kw_only=True):
    """List the links that the caller may revoke, and the clients currently using them."""


@method("share.revoke", requires=ACCESS, terminal=SELECTED, sandbox=False, names="id", ends=True, raises=("not_found",))
class ShareRevoke(CredentialTarget, Params[Nothing], kw_only=True):
    """Revoke a link. Its connections are closed immediately."""


@method("audit.list", safe=True, requires=ACCESS, terminal=SELECTED, sandbox=False, raises=("io_error",))
class AuditList(Params[AuditListResult], kw_only=True):
    """List entries of this gateway's audit log, newest first.

    Callers see only the entries for sandboxes that they may grant access to.

    Attributes:
        since: Only entries from this time on, in seconds since 1970.
        until: Only entries before this time, in seconds since 1970.
        user: Only entries for the caller with this `id`.
        method: Only entries for this action, or for all actions with this prefix if it ends with `.`, such as `token.`.
        sandbox: Only entries for this sandbox.
        outcome: Only entries with this outcome.
        after: Only entries newer than the one at this position.
        before: Only entries older than the one at this position; used to get the next page.
        limit: Maximum number of entries.
    """

    since: Time | None = None
    until: Time | None = None
    user: Text | None = None
    method: Text | None = None
    sandbox: Text | None = None
    outcome: Text | None = None
    after: Position | None = None
    before: Position | None = None
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = 100
