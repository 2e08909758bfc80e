"""The methods of the gateway itself: `sandbox.list`, `share.token` and `preview.host`."""

from typing import Literal

from hawse.api.rights import VIEW
from hawse.api.spec import Params, Reply, method

SandboxState = Literal["running", "stopped", "failed"]
Isolation = Literal["bubblewrap", "none"]


# ---- values


class SandboxInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox.

    Attributes:
        id: Id of the sandbox, which calls name as `sandbox`.
        state: `stopped`: the next call starts it. `failed`: its last start failed, or it does not respond.
        isolation: How the sandbox is isolated from the machine, or will be once it runs; null if not known.
    """

    id: str
    state: SandboxState
    isolation: Isolation | None = None


class SandboxListResult(Reply, frozen=True, kw_only=True):
    """The sandboxes of a gateway.

    Attributes:
        sandboxes: All sandboxes, running or not.
    """

    sandboxes: list[SandboxInfo]


class ShareTokenResult(Reply, frozen=True, kw_only=True):
    """A token for read-only access.

    Attributes:
        token: The bearer token.
        role: The role that the token gives: `viewer`.
    """

    token: str
    role: str


class PreviewHostResult(Reply, frozen=True, kw_only=True):
    """Where previews are reached by host name.

    Attributes:
        host: The parent domain of the previews' host names; null if previews are reached by path only.
    """

    host: str | None = None


# ---- methods


@method("sandbox.list", safe=True, requires=VIEW, sandbox=False)
class SandboxList(Params[SandboxListResult], kw_only=True):
    """List all sandboxes of this gateway."""


@method("share.token", safe=True, sandbox=False, raises=("not_found",))
class ShareToken(Params[ShareTokenResult], kw_only=True):
    """Return the token for read-only access.

    A gateway that has no such token answers `not_found`.
    """


@method("preview.host", safe=True, sandbox=False)
class PreviewHost(Params[PreviewHostResult], kw_only=True):
    """Return the domain below which each preview has a host name of its own."""
