"""Sandboxes and their templates: the `sandbox.*` and `template.*` methods."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from hawse.api.egress import EgressPolicy
from hawse.api.images import ImageName
from hawse.api.ports import ChosenToken, PortNumber, PreviewName
from hawse.api.rights import VIEW
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Env, Id, Name

# ---- values


SandboxState = Literal["sleeping", "starting", "running", "stopping", "stopped", "paused", "failed", "deleting"]
Isolation = Literal["bubblewrap", "docker", "kubernetes", "none"]
Network = Literal["none", "private", "filtered", "host"]
Labels = dict[Name, Annotated[str, Meta(max_length=255)]]
Lifetime = Annotated[float, Meta(gt=0, le=10**9)]  # a lifetime in seconds, at most 31 years
ENV_MAX: Final = 128 << 10  # maximum total size of a sandbox's variables, in bytes; Linux limits each program to 2 MiB
LABELS_MAX: Final = 64
PORTS_MAX: Final = 64


class SandboxLimits(ParamsValue, kw_only=True):
    """Resource limits for a sandbox. Null means the provider's default.

    Attributes:
        memory: Total memory for all programs, in bytes.
        cpus: Number of processors; 0.5 is half of one.
        processes: Maximum number of processes and threads.
        disk: Maximum size of the workspace, in bytes.
    """

    memory: Annotated[int, Meta(ge=1 << 20)] | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None
    processes: Annotated[int, Meta(ge=1)] | None = None
    disk: Annotated[int, Meta(ge=1)] | None = None


class Enforcement(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """Restrictions enforced on a sandbox's programs.

    Attributes:
        network: The network that they can reach.
        user: Whether they run as a dedicated user, which no other program on the machine uses.
        separated: Whether they can neither see nor signal the sandbox's runtime, nor read its files.
        system_calls: Whether their system calls are filtered (seccomp).
        memory_files: Whether in-memory file systems, such as /tmp, are limited in size.
        limits: Their total resource limits; null means unlimited.
    """

    network: Network = "host"
    user: bool = False
    separated: bool = False
    system_calls: bool = False
    memory_files: bool = False
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)


class SandboxPort(ParamsValue, kw_only=True):
    """A port that has a preview from the start.

    Attributes:
        port: TCP port.
        name: Display name.
        token: Token for the preview's address, 8 to 40 lower-case letters and digits; null means a random token.
    """

    port: PortNumber
    name: PreviewName | None = None
    token: ChosenToken | None = None


class SandboxInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox.

    Attributes:
        id: Id of the sandbox, which calls pass as `sandbox`.
        state: Its state. A call starts a `sleeping` sandbox, but not a `stopped` one.
        isolation: How the sandbox is isolated from the machine, even if it is not running; null if unknown.
        enforcement: Restrictions for its programs, even if it is not running; null if unknown.
        reason: Why it is in this state; null if there is no particular reason.
        phase: The current step while it is `starting`, such as `pulling`; null if unknown.
        progress: Fraction of the phase completed, from 0 to 1; null if unknown.
        runtime: Id of its runtime, which changes each time it starts; null while it is not running.
        provider: Name of its provider.
        owner: Id of the user who created it.
        template: Template it was created from.
        image: Image that provides its file system; null means the provider's default.
        network: The network it can reach; null means the provider's default.
        egress: The rules for its filtered network; null for other networks.
        labels: Labels.
        created: When it was created, in seconds since 1970.
        expires: When it will be deleted, in seconds since 1970; null means never.
        idle_timeout: Seconds of inactivity until it sleeps; null means never.
    """

    id: str
    state: SandboxState
    isolation: Isolation | None = None
    enforcement: Enforcement | None = None
    reason: str | None = None
    phase: str | None = None
    progress: float | None = None
    runtime: str | None = None
    provider: str | None = None
    owner: str | None = None
    template: str | None = None
    image: str | None = None
    network: Network | None = None
    egress: EgressPolicy | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    created: float | None = None
    expires: float | None = None
    idle_timeout: float | None = None


class SandboxListResult(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A page of a gateway's sandboxes.

    Attributes:
        sandboxes: Sandboxes with the requested labels, running or not: the sandbox `local` first, then the others,
            sorted by id.
        after: The `after` value for the next page. Null on the last page.
    """

    sandboxes: list[SandboxInfo]
    after: str | None = None


class SandboxDeleted(Reply, frozen=True, kw_only=True):
    """A sandbox was deleted or no longer has the requested labels.

    Attributes:
        id: Its id.
    """

    id: str


class SandboxStarting(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """The sandbox that the call needs is being started.

    Attributes:
        phase: The current step: `starting`, `creating`, `pulling` or `connecting`.
        message: Human-readable details.
        progress: Fraction of the phase completed, from 0 to 1; null if unknown.
    """

    phase: str
    message: str | None = None
    progress: float | None = None


STARTING: Final = "starting"  # an event that any call to a sandbox can send; its value is a `SandboxStarting`


class TemplateInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A template. Its variables are not sent, because they can be secrets.

    Attributes:
        name: Name to pass to `sandbox.create` as `template`.
        description: Human-readable description.
        provider: Provider of its sandboxes; null means the default provider.
        image: Image that provides their file system; null means the provider's default.
        network: The network they can reach; null means the provider's default.
        egress: The rules for their filtered network; null for other networks.
        limits: Resource limits for each sandbox.
        labels: Labels for its sandboxes.
        pool: Number of sandboxes to start in advance.
    """

    name: str
    description: str | None = None
    provider: str | None = None
    image: str | None = None
    network: Network | None = None
    egress: EgressPolicy | None = None
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    pool: int = 0


class TemplateListResult(Reply, frozen=True, kw_only=True):
    """A gateway's templates.

    Attributes:
        templates: All templates, sorted by name.
    """

    templates: list[TemplateInfo]


class SandboxTarget(ParamsValue, kw_only=True):
    """Fields common to the methods that act on a single sandbox.

    Attributes:
        id: Id of the sandbox.
    """

    id: Id


CHANGES: Final = ("not_found", "cleanup_pending")  # errors from methods that change a sandbox's state
STARTS: Final = ("capacity_exceeded", "stopped")  # errors from methods that start a sandbox


# ---- methods


@method(
    "sandbox.create",
    terminal=SELECTED,
    sandbox=False,
    names="id",
    raises=("forbidden", "not_found", "conflict", "cleanup_pending", *STARTS),
)
class SandboxCreate(Params[SandboxInfo], kw_only=True):
    """Create a sandbox and start it.

    With an `id`, repeated and concurrent calls with the same parameters create only one sandbox and return it. If a
    sandbox with this id exists but has different parameters, the error is `conflict`. If a deleted sandbox with this id
    hasn't shut down yet, the error is `cleanup_pending`. If the sandbox cannot be started, it is removed.

    The sandbox belongs to the caller. Callers whose rights are limited to their own sandboxes can only choose ids that
    start with their name and a dot. For other ids, the error is `invalid_params`, with this prefix in `details.prefix`.

    Args:
        id: Id of the sandbox; null means a random id.
        provider: Name of the provider; null means the default provider.
        template: Name of one of the gateway's templates. The call's own values override the template's.
        image: Image that provides its file system; null means the provider's default.
        image_command: Whether to start the image's command (ENTRYPOINT and CMD) as a process named `image`.
        env: Environment for all programs in the sandbox.
        snapshot: A snapshot or other backup, which is restored into the workspace before this call returns.
        labels: Labels, which `sandbox.list` can filter by.
        limits: Resource limits for the sandbox.
        network: `none`, `private` (no outside network, but previews work), `filtered` (hosts that `egress` allows), or
            `host`.
        egress: The rules for its filtered network; null means that nothing is allowed.
        ports: Ports that have a preview from the start.
        timeout: Seconds until it is deleted, even if it is active; null means never.
        idle_timeout: Seconds of inactivity until it sleeps; null means the gateway's default.
        keep_alive: Whether it never sleeps."""

    id: Id | None = None
    provider: Name | None = None
    template: Name | None = None
    image: ImageName | None = None
    image_command: bool = False
    env: dict[str, str] = msgspec.field(default_factory=dict)
    snapshot: Id | None = None
    labels: Labels = msgspec.field(default_factory=dict)
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    network: Network | None = None
    egress: EgressPolicy | None = None
    ports: list[SandboxPort] = msgspec.field(default_factory=list)
    timeout: Lifetime | None = None
    idle_timeout: Lifetime | None = None
    keep_alive: bool = False


@method("sandbox.get", safe=True, requires=VIEW, sandbox=False, target="id", raises=("not_found",))
class SandboxGet(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Return a sandbox, without starting it."""


@method("sandbox.list", safe=True, requires=VIEW, terminal=SELECTED, sandbox=False)
class SandboxList(Params[SandboxListResult], kw_only=True):
    """List the sandboxes on this gateway where the caller has a right, without starting them.

    A page has at most 32 sandboxes, and must fit into a control message. If many sandboxes lack the labels, a page can
    be empty. Keep calling with the returned `after` until it is null. A sandbox that exists during all these calls is
    on exactly one page.

    Args:
        labels: Labels that a sandbox must have.
        after: Return only sandboxes that come after this id. The sandbox with this id may have been deleted in the
            meantime.
        limit: Maximum number of sandboxes on the page; null means as many as fit.
    """

    labels: Labels = msgspec.field(default_factory=dict)
    after: Id | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None


@method("sandbox.update", sandbox=False, target="id", names="id", raises=("not_found",))
class SandboxUpdate(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Change a sandbox. Omitted fields stay the same.

    Args:
        env: Variables to set; a null value removes the variable. They apply to programs started after the call.
        labels: Labels to set; a null value removes the label.
        timeout: Seconds until the sandbox is deleted, counted from now. This can only extend its lifetime.
        idle_timeout: Seconds of inactivity until it sleeps.
        keep_alive: Whether it never sleeps; false restores its previous `idle_timeout`.
    """

    env: Env = msgspec.field(default_factory=dict)
    labels: dict[Name, Annotated[str, Meta(max_length=255)] | None] = msgspec.field(default_factory=dict)
    timeout: Lifetime | None = None
    idle_timeout: Lifetime | None = None
    keep_alive: bool | None = None


@method("sandbox.start", sandbox=False, target="id", names="id", raises=(*CHANGES, *STARTS))
class SandboxStart(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Start a sandbox, even if it is `stopped`. A running sandbox is returned unchanged."""


@method("sandbox.stop", sandbox=False, target="id", names="id", raises=CHANGES)
class SandboxStop(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Stop a sandbox and end all its programs. Its files are kept, and calls to it are refused until `sandbox.start`.

    The call returns once all programs are confirmed to have exited. If that can't be confirmed, the error is
    `cleanup_pending`, and the gateway keeps trying.
    """


@method("sandbox.pause", sandbox=False, target="id", names="id", raises=(*CHANGES, "stopped"))
class SandboxPause(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Pause a sandbox and suspend all its programs, if its provider supports it. The sandbox then refuses calls."""


@method("sandbox.resume", sandbox=False, target="id", names="id", raises=(*CHANGES, *STARTS))
class SandboxResume(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Resume a paused sandbox."""


@method("sandbox.delete", sandbox=False, target="id", names="id", ends=True, raises=CHANGES)
class SandboxDelete(SandboxTarget, Params[Nothing], kw_only=True):
    """Delete a sandbox: end all its programs and remove its files.

    The call returns once all programs are confirmed to have exited. If that can't be confirmed, the error is
    `cleanup_pending`; the gateway keeps trying, and the id cannot be reused until it succeeds.
    """


@method(
    "sandbox.watch",
    audit=False,
    events={"changed": SandboxInfo, "deleted": SandboxDeleted, "live": Nothing},
    requires=VIEW,
    terminal=SELECTED,
    sandbox=False,
)
class SandboxWatch(Params[Nothing], kw_only=True):
    """Report the sandboxes where the caller has a right, now and after every change.

    The call sends a `changed` event for each existing sandbox, then `live`, and then a `changed` or `deleted` event
    after each change. Changes that a slow client hasn't read yet are merged.

    Args:
        labels: Labels that a sandbox must have.
    """

    labels: Labels = msgspec.field(default_factory=dict)


@method("template.list", safe=True, terminal=SELECTED, sandbox=False)
class TemplateList(Params[TemplateListResult], kw_only=True):
    """List the gateway's templates for `sandbox.create`."""
