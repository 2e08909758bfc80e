"""Creates providers by their name in `--provider`. To add a provider, add an entry to `FACTORIES`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from hawse.api.sandboxes import Network
from hawse.logs import Form
from hawse_gateway.egress.follower import OnRefusal
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.base import Provider, ProviderError
from hawse_gateway.providers.isolation import bubblewrap
from hawse_gateway.providers.isolation.choice import choose_isolation
from hawse_gateway.providers.joined.provider import JOINED, JoinedProvider
from hawse_gateway.providers.local import RUNTIME, LocalProvider
from hawse_gateway.providers.settings import RequestedIsolation
from hawse_gateway.providers.state_directory import StateDirectory, StateError


@dataclass(frozen=True, kw_only=True)
class ProviderOptions:
    """The options passed to every factory.

    Attributes:
        state: The state directory, for data that must survive the gateway.
        isolation: The isolation requested by the user.
        network: The default network of isolated sandboxes.
        quota: The maximum bytes in a workspace that are written through the API. None means unlimited.
        log_format: The format of the runtimes' logs.
        image: The default image of sandboxes. None means the provider's default.
        oci_runtime: The Docker Engine's name for the OCI runtime. None means its default.
        max_contexts: The maximum number of code contexts per language in a sandbox. None means unlimited.
        max_terminals: The maximum number of running terminals per user in a sandbox. None means unlimited.
        code_pool: Code executors to keep ready (`hawse.code_pool`).
        kubernetes: The file with the settings of the Kubernetes provider, or None.
        egress: The operator's settings for filtered networks.
        start_timeout: The maximum seconds until a runtime accepts connections. None means the provider's default.
        on_refusal: Called with the unit and a refusal for each refusal of a proxy. None ignores refusals.
    """

    state: StateDirectory
    isolation: RequestedIsolation = "auto"
    network: Network = "private"
    quota: int | None = None
    log_format: Form = "text"
    image: str | None = None
    oci_runtime: str | None = None
    max_contexts: int | None = None
    max_terminals: int | None = None
    code_pool: Sequence[str] = ()
    kubernetes: Path | None = None
    egress: EgressSettings = field(default_factory=EgressSettings)
    start_timeout: float | None = None
    on_refusal: OnRefusal | None = None


def local(options: ProviderOptions) -> Provider:
    """Create the local provider. Raises `StateError` if isolation is unavailable or sandboxes could read the state."""
    isolation, reason, system_calls = choose_isolation(options.isolation, options.network)
    if isolation == "bubblewrap":
        for place in bubblewrap.bound():
            if options.state.root.resolve().is_relative_to(place):
                raise StateError(f"--state {options.state.root} is below {place}, which all sandboxes can read")
    return LocalProvider(
        options.state,
        isolation,
        isolation_reason=reason,
        system_calls=system_calls,
        network=options.network,
        runtime=[*RUNTIME, *runtime_arguments(options)],
        egress=options.egress,
        start_timeout=options.start_timeout,
        on_refusal=options.on_refusal,
    )


def docker(options: ProviderOptions) -> Provider:
    """Create the Docker provider, and build the bundle of this version if it is missing.

    Raises:
        ProviderError: aiodocker is not installed, or the bundle cannot be built.
    """
    try:
        from hawse_gateway.providers.bundle.build import BundleError, ensure_bundle
        from hawse_gateway.providers.docker.provider import DockerProvider
    except ImportError as error:
        raise ProviderError(f"--provider docker needs the packages of hawse[docker]: {error}") from error
    if options.network == "none":
        raise ProviderError("--network none: the Docker provider supports private and host")
    try:
        bundle = ensure_bundle(options.state.root / "bundles")
    except BundleError as error:
        raise ProviderError(f"--provider docker: {error}") from error
    return DockerProvider(
        options.state,
        bundle,
        network=options.network,
        image=options.image,
        oci_runtime=options.oci_runtime,
        arguments=runtime_arguments(options),
        egress=options.egress,
        start_timeout=options.start_timeout,
        on_refusal=options.on_refusal,
    )


def kubernetes(options: ProviderOptions) -> Provider:
    """Create the Kubernetes provider. Raises `ProviderError` without lightkube or with unusable settings."""
    try:
        from hawse_gateway.providers.kubernetes.provider import KubernetesProvider
        from hawse_gateway.providers.kubernetes.settings import read_settings
    except ImportError as error:
        raise ProviderError(f"--provider kubernetes needs the packages of hawse[kubernetes]: {error}") from error
    if options.network == "none":
        raise ProviderError("--network none: the Kubernetes provider supports private and host")
    if options.kubernetes is None:
        raise ProviderError("--provider kubernetes needs --kubernetes, the file with its settings")
    settings = read_settings(options.kubernetes)
    if options.image is not None:
        settings = msgspec.structs.replace(settings, image=options.image)
    if options.start_timeout is not None:
        settings = msgspec.structs.replace(settings, start_timeout=options.start_timeout)
    return KubernetesProvider(settings, network=options.network, arguments=runtime_arguments(options))


def runtime_arguments(options: ProviderOptions) -> list[str]:
    """Return the arguments for all runtimes."""
    quota = [] if options.quota is None else ["--quota", str(options.quota)]
    contexts = [] if options.max_contexts is None else ["--max-contexts", str(options.max_contexts)]
    terminals = [] if options.max_terminals is None else ["--terminals-of-each", str(options.max_terminals)]
    pools = [argument for text in options.code_pool for argument in ("--code-pool", text)]
    return ["--log-format", options.log_format, *quota, *contexts, *terminals, *pools]


FACTORIES: Final[Mapping[str, Callable[[ProviderOptions], Provider]]] = {
    "local": local,
    "docker": docker,
    "kubernetes": kubernetes,
}


def create_provider(name: str, options: ProviderOptions) -> Provider:
    """Create the provider named in `--provider`.

    Raises:
        ProviderError: The name is unknown.
        StateError: The options cannot be used on this machine.
    """
    factory = FACTORIES.get(name)
    if factory is None:
        raise ProviderError(f"--provider {name}: unknown provider; available: {', '.join(FACTORIES)}")
    return factory(options)


def create_providers(name: str, options: ProviderOptions, *, alone: bool) -> dict[str, Provider]:
    """Create the provider named in `--provider` and the provider of joined machines. Return them by name.

    Args:
        name: The value of `--provider`.
        options: The options passed to the factories.
        alone: Whether no other gateway uses the store. If False, there is no provider of joined machines, because other
            gateways could not reach a machine.

    Raises:
        ProviderError, StateError: See `create_provider`.
    """
    providers = {name: create_provider(name, options)}
    return providers | {JOINED: JoinedProvider()} if alone else providers
