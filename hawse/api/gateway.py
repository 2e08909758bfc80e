"""What the gateway answers itself: `sandbox.list`, `share.token`, `preview.host`."""

from typing import Literal

from hawse.api.rights import VIEW
from hawse.api.spec import Params, Reply, method

SandboxState = Literal["running", "stopped", "failed"]
Isolation = Literal["bubblewrap", "none"]


# ---- values


class SandboxInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox, and what stands between it and the machine, if it runs."""

    id: str
    state: SandboxState
    isolation: Isolation | None = None


class SandboxListResult(Reply, frozen=True, kw_only=True):
    """All of them."""

    sandboxes: list[SandboxInfo]


class ShareTokenResult(Reply, frozen=True, kw_only=True):
    """A token and the role it is for."""

    token: str
    role: str


class PreviewHostResult(Reply, frozen=True, kw_only=True):
    """Null if previews are reached by path only."""

    host: str | None = None


# ---- methods


@method("sandbox.list", safe=True, requires=VIEW, sandbox=False)
class SandboxList(Params[SandboxListResult], kw_only=True):
    """All sandboxes of this gateway."""


@method("share.token", safe=True, sandbox=False)
class ShareToken(Params[ShareTokenResult], kw_only=True):
    """The token for those who may only look."""


@method("preview.host", safe=True, sandbox=False)
class PreviewHost(Params[PreviewHostResult], kw_only=True):
    """The name below which previews have names of their own."""
