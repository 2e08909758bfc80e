"""A gateway's tokens and share links: `client.tokens` and `client.links`."""

from collections.abc import Sequence

from hawse.api.access import (
    ShareCreate,
    ShareCreateResult,
    ShareInfo,
    ShareList,
    ShareRevoke,
    TokenCreate,
    TokenCreateResult,
    TokenInfo,
    TokenList,
    TokenRevoke,
)
from hawse.api.rights import Role
from hawse.client.calls.call_table import CallTable


class Tokens:
    """The tokens that this client may revoke: its own, or all if it has every right in all sandboxes."""

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def create(
        self,
        name: str = "",
        *,
        role: Role = "operator",
        sandboxes: Sequence[str] | None = None,
        own: bool = False,
        user: str | None = None,
        expires_in: float | None = None,
    ) -> TokenCreateResult:
        """Create a token and return it with its secret, which cannot be retrieved later.

        Args:
            name: Its purpose.
            role: Its rights.
            sandboxes: The sandboxes it is limited to. None means all sandboxes that this client may give access to.
            own: Whether it is limited to sandboxes created by its user.
            user: The user that it identifies. None means this client's user.
            expires_in: Seconds until it expires. None means that it expires with this client's token.

        Raises:
            HawseError: `forbidden` if this client doesn't have the rights of `role` itself, `limit_exceeded`.
        """
        chosen = None if sandboxes is None else list(sandboxes)
        params = TokenCreate(name=name, role=role, sandboxes=chosen, own=own, user=user, expires_in=expires_in)
        return await self._calls.request(params, sandbox=None)

    async def list(self) -> list[TokenInfo]:
        """Return the tokens."""
        return (await self._calls.request(TokenList(), sandbox=None)).tokens

    async def revoke(self, id: str) -> None:
        """Revoke a token and all tokens and links created with it. Raises `HawseError` (`not_found`)."""
        await self._calls.request(TokenRevoke(id=id), sandbox=None)


class ShareLinks:
    """The share links that this client may revoke."""

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def create(
        self,
        sandbox: str = "local",
        *,
        terminal: str | None = None,
        role: Role = "viewer",
        name: str = "",
        expires_in: float | None = None,
        max_uses: int | None = None,
    ) -> ShareCreateResult:
        """Create a link and return it with its secret, which cannot be retrieved later.

        Args:
            sandbox: The sandbox it gives access to.
            terminal: The only terminal it gives access to. None means the whole sandbox.
            role: `viewer` or `writer`.
            name: The guest's name.
            expires_in: Seconds until it expires. None means that it expires with this client's token.
            max_uses: Maximum number of browsers that can open it; None means no limit. If set, the link's secret can't
                be used as a token; it can only be exchanged for a session.

        Raises:
            HawseError: `forbidden` if this client may not give access to the sandbox, `limit_exceeded`.
        """
        params = ShareCreate(
            sandbox=sandbox, terminal=terminal, role=role, name=name, expires_in=expires_in, max_uses=max_uses
        )
        return await self._calls.request(params, sandbox=None)

    async def list(self) -> list[ShareInfo]:
        """Return the links, each with the clients currently using it."""
        return (await self._calls.request(ShareList(), sandbox=None)).links

    async def revoke(self, id: str) -> None:
        """Revoke a link. Raises `HawseError` (`not_found`)."""
        await self._calls.request(ShareRevoke(id=id), sandbox=None)
