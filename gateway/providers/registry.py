"""Providers by the name that `--provider` takes. A new provider is one more entry of `FACTORIES`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.providers.base import Provider, ProviderError
from gateway.providers.local import RUNTIME, LocalProvider, RequestedIsolation, choose_isolation
from gateway.providers.state_directory import StateDirectory
from hawse.logs import Form


@dataclass(frozen=True, kw_only=True)
class ProviderOptions:
    """What every factory gets.

    Attributes:
        state: The state directory, for what must survive the gateway.
        isolation: What the user asked sandboxes to run in.
        quota: Bytes that the API may leave in a workspace. None: unlimited.
        log_format: The format of the runtimes' logs.
    """

    state: StateDirectory
    isolation: RequestedIsolation = "auto"
    quota: int | None = None
    log_format: Form = "text"


def local(options: ProviderOptions) -> Provider:
    """Raises `StateError` if the isolation is not available, or the state directory's path is too long."""
    isolation, reason = choose_isolation(options.isolation)
    options.state.sandbox("local").make()
    runtime = [*RUNTIME, "--log-format", options.log_format]
    if options.quota is not None:
        runtime += ["--quota", str(options.quota)]
    return LocalProvider(options.state, isolation, isolation_reason=reason, runtime=runtime)


FACTORIES: Final[Mapping[str, Callable[[ProviderOptions], Provider]]] = {"local": local}


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
