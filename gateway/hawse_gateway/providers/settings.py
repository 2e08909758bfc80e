"""The settings for sandbox providers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from hawse.api.sandboxes import Network
from hawse_gateway.core.settings import FeatureSettings, Option

RequestedIsolation = Literal["auto", "bubblewrap", "none"]


@dataclass(frozen=True, kw_only=True)
class ProviderSettings(FeatureSettings):
    """The sandbox provider, and how sandboxes are isolated."""

    provider: Annotated[
        str, Option("--provider", "the sandbox provider: local, docker or kubernetes (local)", metavar="NAME")
    ] = "local"
    image: Annotated[
        str | None,
        Option("--image", "docker: the default image for sandboxes (debian:bookworm-slim)", metavar="NAME"),
    ] = None
    oci_runtime: Annotated[
        str | None,
        Option(
            "--oci-runtime",
            "docker: the OCI runtime for containers, such as runsc (the engine's default)",
            metavar="NAME",
        ),
    ] = None
    kubernetes: Annotated[
        Path | None,
        Option(
            "--kubernetes",
            "kubernetes: the TOML file with the provider's settings; runtime_image is required",
            metavar="FILE",
        ),
    ] = None
    isolation: Annotated[
        RequestedIsolation,
        Option(
            "--isolation",
            "how to isolate sandboxes; auto uses bubblewrap if possible, otherwise none, with a warning (auto)",
        ),
    ] = "auto"
    network: Annotated[
        Literal["none", "private", "host"],
        Option(
            "--network",
            "the network for programs in isolated sandboxes; private allows only connections within a sandbox and "
            "previews (private)",
        ),
    ] = "private"
    user_networks: Annotated[
        Sequence[Network],
        Option(
            "--user-network",
            "a network that users without every right can choose for their sandboxes; can be repeated (all)",
        ),
    ] = ()
    egress: Annotated[
        Path | None,
        Option(
            "--egress",
            "the TOML file for filtered networks: secrets, internal networks, fixed addresses for names (none)",
            metavar="FILE",
        ),
    ] = None
