"""What the gateway answers itself: `sandbox.list`, `share.token`, `preview.host`."""

from typing import Literal

import msgspec

from hawse.api.spec import Reply, Spec

State = Literal["running", "stopped", "failed"]
Isolation = Literal["bubblewrap", "none"]


class ListSandboxes(msgspec.Struct):
    """All sandboxes of this gateway."""


class ShareToken(msgspec.Struct):
    """The token for those who may only look."""


class PreviewHost(msgspec.Struct):
    """The name below which previews have names of their own."""


class Sandbox(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox, and what stands between it and the machine, if it runs."""

    id: str
    state: State
    isolation: Isolation | None = None


class Sandboxes(Reply, frozen=True, kw_only=True):
    """All of them."""

    sandboxes: list[Sandbox]


class SharedToken(Reply, frozen=True, kw_only=True):
    """A token and the role it is for."""

    token: str
    role: str


class PreviewName(Reply, frozen=True, kw_only=True):
    """Null if previews are reached by path only."""

    host: str | None = None


METHODS = {
    "sandbox.list": Spec(ListSandboxes, Sandboxes, viewer=True),
    "share.token": Spec(ShareToken, SharedToken),
    "preview.host": Spec(PreviewHost, PreviewName),
}
