"""Converts `sandbox.create` and `sandbox.update` parameters to a sandbox's row. No I/O."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from hawse.api.sandboxes import ENV_MAX, LABELS_MAX, PORTS_MAX, SandboxCreate, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.base import Capabilities, SandboxSpec
from hawse_gateway.sandboxes.records import DEFAULT, SandboxRecord
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.clock import Moment

REPLACEMENT = "u-"  # prefix for unit names, used if another sandbox's unit already has this sandbox's id as its name


@dataclass(frozen=True, kw_only=True)
class Creation:
    """The parameters for creating a sandbox, with the template and the gateway's defaults applied.

    Attributes:
        id: The sandbox's id.
        provider: The provider's name.
        asked: The parameters passed to the call.
        params: The call's parameters, merged with the template's values.
        template: The template, or None.
        owner: The id of the principal that creates the sandbox.
        grants: For each secret, the reason why the sandbox may use it, as returned by `SecretGrants.check`.
    """

    id: str
    provider: str
    asked: SandboxCreate
    params: SandboxCreate
    template: Template | None = None
    owner: str = "owner"
    grants: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A digest of the call's parameters. It identifies repeated calls even if the template has changed in the
        meantime."""
        return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(self.asked, id=self.id))).hexdigest()


def resolve(params: SandboxCreate, owner: str, templates: Templates, provider: str) -> Creation:
    """Apply the template and the defaults to a call's parameters.

    Args:
        params: The parameters.
        owner: The id of the principal that creates the sandbox.
        templates: The gateway's templates.
        provider: The default provider.

    Raises:
        HawseError: `invalid_params` if the template does not exist.
    """
    merged = templates.resolve(params)
    return Creation(
        id=params.id or f"s-{secrets.token_hex(5)}",
        provider=merged.provider or provider,
        asked=params,
        params=merged,
        template=None if params.template is None else templates.by_name[params.template],
        owner=owner,
    )


def check_request(params: SandboxCreate, capabilities: Capabilities | None, provider: str) -> None:
    """Reject parameters that the provider doesn't support.

    Args:
        params: The parameters for a new sandbox.
        capabilities: The provider's capabilities. None if the provider does not exist.
        provider: The provider's name.

    Raises:
        HawseError: `invalid_params` with the parameter's path, or `unavailable` if packages are missing on the
            gateway's machine.
    """
    if capabilities is None:
        raise _invalid("provider", f"this gateway has no provider {provider!r}")
    for name in ("image", "image_command"):
        if getattr(params, name) and not capabilities.images:
            raise _invalid(name, f"provider {provider} does not support images")
    if params.network is not None and (install := capabilities.installable.get(params.network)) is not None:
        text = f"network {params.network!r} needs packages on the gateway's machine: {install}"
        raise HawseError("unavailable", text)
    if params.network is not None and params.network not in capabilities.networks:
        allowed = ", ".join(capabilities.networks)
        text = f"provider {provider} does not support network {params.network!r}, only: {allowed}"
        reason = capabilities.refused.get(params.network)
        raise _invalid("network", text if reason is None else f"{text}; {reason}")
    if capabilities.joined:
        for name in ("idle_timeout", "snapshot", "template"):
            if getattr(params, name) is not None:
                raise _invalid(name, f"a sandbox from the provider {provider} is a user's machine: it has no {name}")
    if params.egress is not None and params.network != "filtered":
        raise _invalid("egress", "egress rules require the network `filtered`")
    for name in params.limits.__struct_fields__:
        if getattr(params.limits, name) is not None and name not in capabilities.limits:
            raise _invalid(f"limits.{name}", f"provider {provider} cannot enforce a limit of {name} on this machine")
    if len(params.ports) > PORTS_MAX:
        raise _invalid("ports", f"{len(params.ports)} ports; at most {PORTS_MAX} are allowed")
    tokens = [port.token for port in params.ports if port.token is not None]
    if len({port.port for port in params.ports}) < len(params.ports) or len(set(tokens)) < len(tokens):
        raise _invalid("ports", "each port and each token may occur once")
    check_env(params.env)
    _check_labels(params.labels)


def check_env(env: dict[str, str]) -> None:
    """Reject environment variables that can't be passed to a program. Raises `HawseError` (`invalid_params`)."""
    for name, value in env.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise _invalid("env", f"{name[:80]!r} is not a valid variable: no `=` in the name, and no NUL")
    size = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in env.items())
    if size > ENV_MAX:
        raise _invalid("env", f"the variables have {size} bytes; at most {ENV_MAX} are allowed")


def _check_labels(labels: dict[str, str]) -> None:
    if len(labels) > LABELS_MAX:
        raise _invalid("labels", f"{len(labels)} labels; at most {LABELS_MAX} are allowed")


def new_record(creation: Creation, now: Moment, unit: str, idle_timeout: float) -> SandboxRecord:
    """Return the row for a new sandbox, with the desired state `running`.

    Args:
        creation: The creation parameters.
        now: When the sandbox is created.
        unit: The unit's name.
        idle_timeout: Seconds without activity before the sandbox sleeps, unless set in the parameters.
    """
    params = creation.params
    idle = params.idle_timeout if params.idle_timeout is not None else idle_timeout
    return SandboxRecord(
        id=creation.id,
        unit=unit,
        provider=creation.provider,
        spec=SandboxSpec(
            image=params.image,
            image_command=params.image_command,
            env=params.env,
            network=params.network,
            limits=params.limits,
            egress=params.egress,
        ),
        wanted="running",
        generation=secrets.token_hex(8),
        created=now,
        fingerprint=creation.fingerprint,
        template=params.template,
        # Files added to the template later must not replace users' files.
        files=creation.template is not None and bool(creation.template.files),
        owner=creation.owner,
        grants=dict(creation.grants),
        snapshot=params.snapshot,
        labels=params.labels,
        ports=params.ports,
        expires=None if params.timeout is None else now.after(params.timeout),
        idle_timeout=None if params.keep_alive else idle,
        sleeps_after=idle,
    )


def default_record(provider: str, now: Moment, idle_timeout: float) -> SandboxRecord:
    """Return the row for the default sandbox, which sleeps until it is needed. See `new_record` for the arguments."""
    params = SandboxCreate(id=DEFAULT, keep_alive=True)
    creation = Creation(id=DEFAULT, provider=provider, asked=params, params=params)
    return msgspec.structs.replace(new_record(creation, now, DEFAULT, idle_timeout), wanted="sleeping")


def free_unit(id: str, owner: str | None) -> str:
    """Return an unused unit name. This is the sandbox's id, unless the unit with this name already belongs to another
    sandbox, which claimed it from the pool."""
    return id if owner in (None, id) else f"{REPLACEMENT}{secrets.token_hex(8)}"


def changed(record: SandboxRecord, params: SandboxUpdate, now: Moment) -> SandboxRecord:
    """Return a sandbox's row after an update. Raises `HawseError` (`invalid_params`)."""
    env = _merged(record.spec.env, params.env)
    labels = _merged(record.labels, params.labels)
    check_env(env)
    _check_labels(labels)
    expires, idle = record.expires, record.idle_timeout
    if params.timeout is not None and expires is not None:
        later = now.after(params.timeout)
        expires = later if later.is_after(expires) else expires
    known = record.sleeps_after if idle is None else idle
    sleeps_after = known if params.idle_timeout is None else params.idle_timeout
    if params.keep_alive is False and sleeps_after is None:
        raise _invalid("keep_alive", "a sandbox that may sleep needs an `idle_timeout`")
    if params.idle_timeout is not None or params.keep_alive is False:
        idle = sleeps_after
    if params.keep_alive:
        idle = None
    spec = msgspec.structs.replace(record.spec, env=env)
    return msgspec.structs.replace(
        record, spec=spec, labels=labels, expires=expires, idle_timeout=idle, sleeps_after=sleeps_after
    )


def _merged(old: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
    merged: dict[str, str | None] = {**old, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def _invalid(path: str, text: str) -> HawseError:
    return HawseError("invalid_params", text, details={"path": f"$.{path}"})
