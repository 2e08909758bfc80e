"""What the gateway answers itself: `sandbox.list`, `share.token`, `preview.host`."""

from typing import Literal

import msgspec

from hawse.api.spec import Reply, Spec

SandboxState = Literal["running", "stopped", "failed"]
Isolation = Literal["bubblewrap", "none"]


class SandboxList(msgspec.Struct):
    """All sandboxes of this gateway."""


class ShareToken(msgspec.Struct):
    """The token for those who may only look."""


class PreviewHost(msgspec.Struct):
    """The name below which previews have names of their own."""


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


METHODS = {
    "sandbox.list": Spec(SandboxList, SandboxListResult, viewer=True),
    "share.token": Spec(ShareToken, ShareTokenResult),
    "preview.host": Spec(PreviewHost, PreviewHostResult),
}
