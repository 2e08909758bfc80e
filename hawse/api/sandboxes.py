"""Sandboxes and their container images: the `sandbox.*`, `template.*` and `image.*` methods."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from hawse.api.egress import EgressPolicy
from hawse.api.ports import ChosenToken, PortNumber, PreviewName
from hawse.api.rights import VIEW
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Env, Id, matching

# ---- values


SandboxState = Literal["sleeping", "starting", "running", "stopping", "stopped", "paused", "failed", "deleting"]
Isolation = Literal["bubblewrap", "docker", "kubernetes", "none"]
Network = Literal["none", "private", "filtered", "host"]
Name = Annotated[str, Meta(min_length=1, max_length=255)]  # of a provider, a template, or a label
# The registry, repository, tag and digest: it becomes a part of URLs, so no part of it is empty or begins with a dot.
_IMAGE_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|[./](?![./]))*$(?!\n)"
ImageName = Annotated[
    str, matching(_IMAGE_NAME, "the name of an image, such as registry/name:tag", min_length=1, max_length=1024)
]
Labels = dict[Name, Annotated[str, Meta(max_length=255)]]
Lifetime = Annotated[float, Meta(gt=0, le=10**9)]  # seconds; 10**9 are 31 years
ENV_MAX: Final = 128 << 10  # bytes of all variables of a sandbox: they are passed to each program, which has 2 MiB
LABELS_MAX: Final = 64
PORTS_MAX: Final = 64


class SandboxLimits(ParamsValue, kw_only=True):
    """What a sandbox may use. Null: the provider's default.

    Attributes:
        memory: Bytes of memory of all programs together.
        cpus: Processors; 0.5 is half of one.
        processes: Number of processes and threads.
        disk: Bytes of the workspace.
    """

    memory: Annotated[int, Meta(ge=1 << 20)] | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None
    processes: Annotated[int, Meta(ge=1)] | None = None
    disk: Annotated[int, Meta(ge=1)] | None = None


class Enforcement(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """What is enforced for the programs of a sandbox.

    Attributes:
        network: What they can connect to.
        user: Whether they have a user of the machine that no other program has.
        separated: Whether they can neither see nor signal the sandbox's runtime, nor read its files.
        system_calls: Whether their system calls are filtered (seccomp).
        memory_files: Whether file systems in memory, such as /tmp, have a size.
        limits: What they may use together; null: not limited.
    """

    network: Network = "host"
    user: bool = False
    separated: bool = False
    system_calls: bool = False
    memory_files: bool = False
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)


class SandboxPort(ParamsValue, kw_only=True):
    """A port whose preview exists from the beginning.

    Attributes:
        port: TCP port.
        name: Name for people.
        token: Token of the preview's address, 8 to 40 lower-case letters and digits; null: a random one.
    """

    port: PortNumber
    name: PreviewName | None = None
    token: ChosenToken | None = None


class SandboxInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox.

    Attributes:
        id: Id of the sandbox, which calls name as `sandbox`.
        state: `sleeping`: the next call starts it. `stopped`: no call does.
        isolation: How the sandbox is isolated from the machine, or will be once it runs; null if not known.
        enforcement: What is enforced for its programs, or will be once it runs; null if not known.
        reason: Why it is in this state; null if there is nothing to explain.
        phase: What is being done while it is `starting`, such as `pulling`; null if that is not known.
        progress: The part of the phase that is done, 0 to 1; null if that is not known.
        runtime: Id of the runtime that runs in it, new after each start; null if none runs.
        provider: Name of its provider.
        owner: Id of the user that created it.
        template: Template that it was created from.
        image: Image whose files it sees; null: the provider's default.
        network: What it can connect to; null: the provider's default.
        egress: What its filtered network lets through; null: it has another network.
        labels: Labels.
        created: When it was created, in seconds since 1970.
        expires: When it is deleted, in seconds since 1970; null: never.
        idle_timeout: Seconds without activity after which it sleeps; null: never.
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
    """A page of the sandboxes of a gateway.

    Attributes:
        sandboxes: Sandboxes that have the labels, running or not: `local` first, the others by their ids.
        after: The value of `after` for the next page. Null: this is the last page.
    """

    sandboxes: list[SandboxInfo]
    after: str | None = None


class SandboxDeleted(Reply, frozen=True, kw_only=True):
    """A sandbox was deleted, or does not have the labels any more.

    Attributes:
        id: Its id.
    """

    id: str


class SandboxStarting(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """The sandbox of a call is being started.

    Attributes:
        phase: What is being done, in one word: `starting`, `creating`, `pulling`, `connecting`.
        message: Details for people.
        progress: The part of the phase that is done, 0 to 1; null if that is not known.
    """

    phase: str
    message: str | None = None
    progress: float | None = None


STARTING: Final = "starting"  # the event, of any call to a sandbox, with a `SandboxStarting`


class TemplateInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A template. Its variables are not sent: they may be secrets.

    Attributes:
        name: Name, which `sandbox.create` takes as `template`.
        description: Description for people.
        provider: Provider of its sandboxes; null: the default one.
        image: Image whose files they see; null: the provider's default.
        network: What they can connect to; null: the provider's default.
        egress: What their filtered network lets through; null: they have another network.
        limits: What each may use.
        labels: Labels that they get.
        pool: Number of them that are started in advance.
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
    """The templates of a gateway.

    Attributes:
        templates: All of them, by name.
    """

    templates: list[TemplateInfo]


class SandboxTarget(ParamsValue, kw_only=True):
    """Fields of every method about one sandbox.

    Attributes:
        id: Id of the sandbox.
    """

    id: Id


CHANGES: Final = ("not_found", "cleanup_pending")  # errors of methods that change the state of a sandbox
STARTS: Final = ("capacity_exceeded", "stopped")  # errors of methods that start one


class ImageInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """An image that is there.

    Attributes:
        id: Id of the image.
        names: Its names with their tags.
        size: Bytes of its files.
        created: When it was made, in seconds since 1970; null if that is not known.
    """

    id: str
    names: list[str] = msgspec.field(default_factory=list)
    size: int = 0
    created: float | None = None


class ImageListResult(Reply, frozen=True, kw_only=True):
    """The images of a provider.

    Attributes:
        images: All that are there, those that other programs have pulled included.
    """

    images: list[ImageInfo]


class ImageProgress(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """How far a pull is.

    Attributes:
        message: Details for people.
        progress: The part that is done, 0 to 1; null if that is not known.
    """

    message: str | None = None
    progress: float | None = None


class ImageProvider(ParamsValue, kw_only=True):
    """Fields of every method about images.

    Attributes:
        provider: Name of the provider; null: the default one. One without images is `invalid_params`.
    """

    provider: Name | None = None


class ImageTarget(ImageProvider, kw_only=True):
    """Fields of every method about one image.

    Attributes:
        image: Name of the image, with a tag or digest; without one, the tag is `latest`.
    """

    image: ImageName


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

    With an `id`, repeated and concurrent calls with the same parameters make one sandbox and return it. Other
    parameters for an existing id are a `conflict`. `cleanup_pending`: a deleted sandbox with that id has not ended yet.
    If the sandbox cannot be started, nothing is left of it.

    The sandbox belongs to the caller. A caller with rights in its own sandboxes only may choose ids that begin with its
    name and a dot; `details.prefix` of the error `invalid_params` is what they begin with.

    Args:
        id: Id of the sandbox; null: a random one.
        provider: Name of the provider; null: the default one.
        template: Name of a template of the gateway, whose values this call's replace.
        image: Image whose files it sees; null: the provider's default.
        image_command: Whether the command of the image (ENTRYPOINT and CMD) is started, as the process `image`.
        env: Environment of all programs in the sandbox.
        snapshot: A snapshot, or another backup, whose content its workspace gets before this call answers.
        labels: Labels, by which `sandbox.list` selects.
        limits: What it may use.
        network: What it can connect to: `none`, `private` (only itself; previews work), `filtered` (what `egress`
            allows), or `host`.
        egress: What its filtered network lets through; null: nothing.
        ports: Ports whose previews exist from the beginning.
        timeout: Seconds from now until it is deleted, however active it is; null: never.
        idle_timeout: Seconds without activity after which it sleeps; null: the gateway's default.
        keep_alive: Whether it never sleeps.
    """

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
    """Return a sandbox. It is looked at, but not started."""


@method("sandbox.list", safe=True, requires=VIEW, terminal=SELECTED, sandbox=False)
class SandboxList(Params[SandboxListResult], kw_only=True):
    """List the sandboxes of this gateway in which the caller has a right. None is started.

    An answer is shorter than a control message may be, whatever the limit is: ask for the next page while there is one.

    Args:
        labels: Labels that a sandbox must have.
        after: Only sandboxes that come after the one with this id, which may be deleted: the next page.
        limit: The number of sandboxes that is sufficient; null: as many as an answer has room for.
    """

    labels: Labels = msgspec.field(default_factory=dict)
    after: Id | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None


@method("sandbox.update", sandbox=False, target="id", names="id", raises=("not_found",))
class SandboxUpdate(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Change a sandbox. What is not given stays as it is.

    Args:
        env: Variables to set; null removes one. Programs that are started later get them.
        labels: Labels to set; null removes one.
        timeout: Seconds from now until it is deleted. An end that is later already is kept.
        idle_timeout: Seconds without activity after which it sleeps.
        keep_alive: Whether it never sleeps. With false, it sleeps after the `idle_timeout` that it had before.
    """

    env: Env = msgspec.field(default_factory=dict)
    labels: dict[Name, Annotated[str, Meta(max_length=255)] | None] = msgspec.field(default_factory=dict)
    timeout: Lifetime | None = None
    idle_timeout: Lifetime | None = None
    keep_alive: bool | None = None


@method("sandbox.start", sandbox=False, target="id", names="id", raises=(*CHANGES, *STARTS))
class SandboxStart(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Start a sandbox, also one that is `stopped`. One that runs is returned as it is."""


@method("sandbox.stop", sandbox=False, target="id", names="id", raises=CHANGES)
class SandboxStop(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """End everything that runs in a sandbox. Its files remain, and calls to it are refused until `sandbox.start`.

    The result comes when it is verified that everything has ended. `cleanup_pending`: something has not; the gateway
    goes on trying.
    """


@method("sandbox.pause", sandbox=False, target="id", names="id", raises=(*CHANGES, "stopped"))
class SandboxPause(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Suspend everything that runs in a sandbox, if its provider supports that. Calls to it are refused."""


@method("sandbox.resume", sandbox=False, target="id", names="id", raises=(*CHANGES, *STARTS))
class SandboxResume(SandboxTarget, Params[SandboxInfo], kw_only=True):
    """Let a paused sandbox go on."""


@method("sandbox.delete", sandbox=False, target="id", names="id", ends=True, raises=CHANGES)
class SandboxDelete(SandboxTarget, Params[Nothing], kw_only=True):
    """End everything that runs in a sandbox, and remove its files.

    The result comes when it is verified that everything has ended. `cleanup_pending`: something has not; the gateway
    goes on trying, and the id cannot be used meanwhile.
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
    """Send the sandboxes in which the caller has a right, and their changes.

    First a `changed` for each sandbox that exists, then `live`, and then a `changed` or `deleted` after each change.
    Changes that are not read in time are sent as one.

    Args:
        labels: Labels that a sandbox must have.
    """

    labels: Labels = msgspec.field(default_factory=dict)


@method("template.list", safe=True, terminal=SELECTED, sandbox=False)
class TemplateList(Params[TemplateListResult], kw_only=True):
    """List the templates of this gateway, from which `sandbox.create` can create sandboxes."""


@method("image.list", safe=True, sandbox=False)
class ImageList(ImageProvider, Params[ImageListResult], kw_only=True):
    """List the images that are there."""


@method("image.pull", events={"progress": ImageProgress}, sandbox=False, raises=("capacity_exceeded",))
class ImagePull(ImageTarget, Params[ImageInfo], kw_only=True):
    """Pull an image, also a newer version of one that is there.

    An image that does not exist is `invalid_params`. `cancel` ends the pull; the provider keeps what was downloaded. At
    most 4 images are pulled at once.
    """


@method("image.remove", sandbox=False, names="image", ends=True, raises=("not_found", "conflict"))
class ImageRemove(ImageTarget, Params[Nothing], kw_only=True):
    """Remove a name of an image, and its files with the last name. One that a sandbox uses is a `conflict`."""
