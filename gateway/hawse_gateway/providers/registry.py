"""Providers by the name that `--provider` takes. A new provider is one more entry of `FACTORIES`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from hawse.api.sandboxes import Network
from hawse.logs import Form
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.base import Provider, ProviderError
from hawse_gateway.providers.isolation import outer
from hawse_gateway.providers.isolation.choice import RequestedIsolation, choose_isolation
from hawse_gateway.providers.joined.provider import JOINED, JoinedProvider
from hawse_gateway.providers.local import RUNTIME, LocalProvider
from hawse_gateway.providers.state_directory import StateDirectory, StateError


@dataclass(frozen=True, kw_only=True)
class ProviderOptions:
    """What every factory gets.

    Attributes:
        state: The state directory, for what must survive the gateway.
        isolation: What the user asked sandboxes to run in.
        network: What the programs of isolated sandboxes can connect to, unless the sandbox says so.
        quota: Bytes that the API may leave in a workspace. None: unlimited.
        log_format: The format of the runtimes' logs.
        image: The image of sandboxes that name none. None: the provider's default.
        oci_runtime: The Docker Engine's name of the program that runs containers. None: its default.
        max_contexts: How many code contexts of one language a sandbox may have. None: any number.
        max_terminals: How many running terminals each user may have created in a sandbox. None: any number.
        code_pool: Executors that wait for code contexts (`hawse.api.code_pool`).
        kubernetes: The file with the settings of the Kubernetes provider. None: there is none.
        egress: The operator's settings of filtered networks.
        start_timeout: Seconds that a runtime may take until it accepts connections. None: the provider's default.
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


def local(options: ProviderOptions) -> Provider:
    """Raises `StateError` if the isolation is not available, or all sandboxes could read the state directory."""
    isolation, reason, system_calls = choose_isolation(options.isolation, options.network)
    if isolation == "bubblewrap":
        for place in outer.bound():
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
    )


def docker(options: ProviderOptions) -> Provider:
    """Build the bundle of this version, if there is none yet.

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
    )


def kubernetes(options: ProviderOptions) -> Provider:
    """Raises `ProviderError` if lightkube is not installed, or the settings or the kubeconfig cannot be used."""
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
    """The arguments that all runtimes get."""
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
    """Return the provider that `--provider` names.

    Raises:
        ProviderError: The name is unknown.
        StateError: The options cannot be used on this machine.
    """
    factory = FACTORIES.get(name)
    if factory is None:
        raise ProviderError(f"--provider {name}: unknown provider; available: {', '.join(FACTORIES)}")
    return factory(options)


def create_providers(name: str, options: ProviderOptions, *, alone: bool) -> dict[str, Provider]:
    """Return the provider that `--provider` names, and that of machines that join, by name.

    Args:
        name: The value of `--provider`.
        options: What the factories get.
        alone: Whether no other gateway uses the store. A machine is connected to one gateway, and others could not
            reach it: without, there is no provider for machines.

    Raises:
        ProviderError, StateError: As `create_provider`.
    """
    providers = {name: create_provider(name, options)}
    return providers | {JOINED: JoinedProvider()} if alone else providers
