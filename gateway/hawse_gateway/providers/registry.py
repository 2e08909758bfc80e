"""Creates the provider named in `--provider`. To add a provider, add an entry to `FACTORIES`."""

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
        isolation: The isolation that the user requested.
        network: The default network for isolated sandboxes.
        quota: The maximum size of a workspace in bytes, enforced for writes through the API. None means unlimited.
        log_format: The format for runtimes' logs.
        image: The default image for sandboxes. None means the provider's default.
        oci_runtime: The Docker Engine's name for the OCI runtime. None means its default.
        max_contexts: The maximum number of code contexts per sandbox and language. None means unlimited.
        max_terminals: The maximum number of running terminals per sandbox and user. None means unlimited.
        code_pool: The code executors to keep ready (`hawse.code_pool`).
        kubernetes: The Kubernetes provider's settings file, or None.
        egress: The operator's settings for filtered networks.
        start_timeout: The maximum time until a runtime accepts connections, in seconds. None means the provider's
            default.
        on_refusal: Called with the unit and the refusal whenever a proxy refuses a request. None ignores refusals.
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
    """Create the local provider. Raises `StateError` if isolation is unavailable or sandboxes could read the state
    directory."""
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
    """Create the Docker provider, and build this version's bundle if it is missing.

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
    """Create the Kubernetes provider. Raises `ProviderError` if lightkube is not installed or the settings are
    unusable."""
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
        StateError: The options can't be used on this machine.
    """
    factory = FACTORIES.get(name)
    if factory is None:
        raise ProviderError(f"--provider {name}: unknown provider; available: {', '.join(FACTORIES)}")
    return factory(options)


def create_providers(name: str, options: ProviderOptions, *, alone: bool) -> dict[str, Provider]:
    """Create the provider named in `--provider` and the provider for joined machines. Return them keyed by name.

    Args:
        name: The value of `--provider`.
        options: The options passed to the factories.
        alone: Whether no other gateway uses the store. If False, machines can't join, because the other gateways
            couldn't reach the machines.

    Raises:
        ProviderError, StateError: See `create_provider`.
    """
    providers = {name: create_provider(name, options)}
    return providers | {JOINED: JoinedProvider()} if alone else providers
