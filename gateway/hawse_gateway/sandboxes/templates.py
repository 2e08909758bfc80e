"""Templates: named sandbox settings that the operator defines in a TOML file.

Each table in the file is a template. A sandbox created from a template uses the template's values. Parameters passed on
creation override these values, except that environment variables, labels and limits are merged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.api.egress import EgressPolicy
from hawse.api.images import ImageName
from hawse.api.sandboxes import Labels, Lifetime, Network, SandboxCreate, SandboxLimits, SandboxPort, TemplateInfo
from hawse.api.types import Id
from hawse.wire import HawseError

FILES_MAX: Final = 64
FILES_SIZE: Final = 256 << 10  # maximum size of the files as JSON, in bytes; they are sent in one message per link
PATH_MAX: Final = 1024  # maximum length of a path, in bytes


class TemplateError(Exception):
    """The templates file is invalid. The message states what to change."""


class Template(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A template's settings: parameters for `sandbox.create`, and the size of its pool.

    Attributes:
        description: A human-readable description.
        files: Text files, keyed by path in the workspace. They are written before the first call.
        pool: The number of sandboxes to start in advance from this template.
    """

    description: Annotated[str, Meta(max_length=1000)] | None = None
    provider: str | None = None
    image: ImageName | None = None
    image_command: bool = False
    env: dict[str, str] = {}
    labels: Labels = {}
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    network: Network | None = None
    egress: EgressPolicy | None = None
    ports: list[SandboxPort] = []
    timeout: Lifetime | None = None
    idle_timeout: Lifetime | None = None
    keep_alive: bool = False
    files: dict[str, str] = {}
    pool: Annotated[int, Meta(ge=0, le=1000)] = 0


@dataclass(frozen=True)
class Templates:
    """A gateway's templates, keyed by name."""

    by_name: Mapping[str, Template] = field(default_factory=dict)

    def files(self, name: str | None) -> Mapping[str, str]:
        """Return a template's files. Empty if the template is None or unknown."""
        template = None if name is None else self.by_name.get(name)
        return {} if template is None else template.files

    def secrets(self, name: str | None) -> frozenset[str]:
        """Return the names of the secrets that a template grants to its sandboxes."""
        template = None if name is None else self.by_name.get(name)
        egress = None if template is None else template.egress
        return frozenset() if egress is None else frozenset(egress.secrets)

    def describe(self) -> list[TemplateInfo]:
        """Return the templates' public descriptions, sorted by name."""
        return [
            TemplateInfo(
                name=name,
                description=template.description,
                provider=template.provider,
                image=template.image,
                network=template.network,
                egress=template.egress,
                limits=template.limits,
                labels=template.labels,
                pool=template.pool,
            )
            for name, template in sorted(self.by_name.items())
        ]

    def resolve(self, params: SandboxCreate) -> SandboxCreate:
        """Return the parameters, merged with their template's values.

        Raises:
            HawseError: `invalid_params` if the gateway has no such template.
        """
        if params.template is None:
            return params
        template = self.by_name.get(params.template)
        if template is None:
            known = f"it has: {', '.join(sorted(self.by_name))}" if self.by_name else "it has none"
            message = f"this gateway has no template {params.template!r}; {known}"
            raise HawseError("invalid_params", message, details={"path": "$.template"})
        own = {name: getattr(params.limits, name) for name in params.limits.__struct_fields__}
        limits = {name: value for name, value in own.items() if value is not None}
        idle_timeout = params.idle_timeout if params.idle_timeout is not None else template.idle_timeout
        return msgspec.structs.replace(
            params,
            provider=params.provider or template.provider,
            image=params.image or template.image,
            image_command=params.image_command or template.image_command,
            env={**template.env, **params.env},
            labels={**template.labels, **params.labels},
            limits=msgspec.structs.replace(template.limits, **limits),
            network=params.network or template.network,
            egress=params.egress or template.egress,
            ports=params.ports or template.ports,
            timeout=params.timeout if params.timeout is not None else template.timeout,
            idle_timeout=idle_timeout,
            keep_alive=params.keep_alive or (template.keep_alive and params.idle_timeout is None),
        )


def read_templates(path: Path) -> Templates:
    """Read a templates file.

    Raises:
        TemplateError: The file is unreadable, is not TOML, or contains an invalid name or value.
    """
    try:
        templates = msgspec.toml.decode(path.read_bytes(), type=dict[Id, Template])
        for name, template in templates.items():
            _check_files(name, template.files)
        return Templates(templates)
    except OSError as error:
        raise TemplateError(f"--templates {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise TemplateError(f"--templates {path}: {error}") from error


def _check_files(template: str, files: Mapping[str, str]) -> None:
    """Raise `ValueError` if there are files that can't be written to a workspace."""
    if len(files) > FILES_MAX:
        raise ValueError(f"[{template}.files] has {len(files)} files; at most {FILES_MAX} are allowed")
    size = len(msgspec.json.encode(files))
    if size > FILES_SIZE:
        raise ValueError(f"[{template}.files] has {size} bytes as JSON; at most {FILES_SIZE} are allowed")
    for path in files:
        parts = path.split("/")
        if {"", ".", ".."} & set(parts) or "\0" in path or len(path.encode()) > PATH_MAX:
            allowed = "a path in the workspace has no leading or double slash, no `.` and no `..`"
            raise ValueError(f"[{template}.files] {path[:80]!r}: {allowed}")
