"""The settings of the providers of sandboxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from hawse.api.sandboxes import Network
from hawse_gateway.core.settings import FeatureSettings, Option

RequestedIsolation = Literal["auto", "bubblewrap", "none"]


@dataclass(frozen=True, kw_only=True)
class ProviderSettings(FeatureSettings):
    """The provider of sandboxes, and their isolation."""

    provider: Annotated[
        str, Option("--provider", "what creates sandboxes: local, docker or kubernetes (local)", metavar="NAME")
    ] = "local"
    image: Annotated[
        str | None,
        Option("--image", "docker: the image of sandboxes that name none (debian:bookworm-slim)", metavar="NAME"),
    ] = None
    oci_runtime: Annotated[
        str | None,
        Option(
            "--oci-runtime", "docker: what runs containers, such as runsc (the default of the engine)", metavar="NAME"
        ),
    ] = None
    kubernetes: Annotated[
        Path | None,
        Option("--kubernetes", "kubernetes: a TOML file with its settings; runtime_image is required", metavar="FILE"),
    ] = None
    isolation: Annotated[
        RequestedIsolation,
        Option(
            "--isolation", "what sandboxes run in; auto: bubblewrap if it works, otherwise none, with a warning (auto)"
        ),
    ] = "auto"
    network: Annotated[
        Literal["none", "private", "host"],
        Option(
            "--network",
            "what programs in isolated sandboxes can connect to; private: only each other; previews work (private)",
        ),
    ] = "private"
    user_networks: Annotated[
        Sequence[Network],
        Option(
            "--user-network",
            "a network that users without every right may choose for their sandboxes; may be repeated (all)",
        ),
    ] = ()
    egress: Annotated[
        Path | None,
        Option(
            "--egress",
            "a TOML file for filtered networks: secrets, internal networks, addresses of names (none)",
            metavar="FILE",
        ),
    ] = None
