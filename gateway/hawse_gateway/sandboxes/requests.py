"""Converts the parameters of `sandbox.create` and `sandbox.update` to the row of a sandbox. No I/O."""

import hashlib
import secrets
from collections.abc import Mapping

import msgspec

from hawse.api.sandboxes import ENV_MAX, LABELS_MAX, PORTS_MAX, SandboxCreate, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.base import Capabilities, SandboxSpec
from hawse_gateway.sandboxes.records import DEFAULT, Rows, SandboxRecord
from hawse_gateway.store.clock import Moment

REPLACEMENT = "u-"  # the prefix of units of sandboxes whose id is already another sandbox's unit


def check_request(params: SandboxCreate, capabilities: Capabilities | None, provider: str) -> None:
    """Refuse parameters that the provider does not support.

    Args:
        params: The parameters of a new sandbox.
        capabilities: The provider's capabilities. None: the provider does not exist.
        provider: The name of the provider.

    Raises:
        HawseError: `invalid_params` with the path of the parameter, `unavailable` if the gateway lacks packages for it.
    """
    if capabilities is None:
        raise _invalid("provider", f"this gateway has no provider {provider!r}")
    for name in ("image", "image_command"):
        if getattr(params, name) and not capabilities.images:
            raise _invalid(name, f"provider {provider} does not support images")
    if params.network is not None and (install := capabilities.installable.get(params.network)) is not None:
        text = f"network {params.network!r} needs packages on the machine of the gateway: {install}"
        raise HawseError("unavailable", text)
    if params.network is not None and params.network not in capabilities.networks:
        allowed = ", ".join(capabilities.networks)
        text = f"provider {provider} does not support network {params.network!r}, only: {allowed}"
        reason = capabilities.refused.get(params.network)
        raise _invalid("network", text if reason is None else f"{text}; {reason}")
    if capabilities.joined:
        for name in ("idle_timeout", "snapshot", "template"):
            if getattr(params, name) is not None:
                raise _invalid(name, f"a sandbox of the provider {provider} is a machine of a user: it has no {name}")
    if params.egress is not None and params.network != "filtered":
        raise _invalid("egress", "rules of egress need the network `filtered`")
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
    """Refuse environment variables that cannot be passed to a program. Raises `HawseError` (`invalid_params`)."""
    for name, value in env.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise _invalid("env", f"{name[:80]!r} is not a valid variable: no `=` in the name, and no NUL")
    size = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in env.items())
    if size > ENV_MAX:
        raise _invalid("env", f"the variables have {size} bytes; at most {ENV_MAX} are allowed")


def _check_labels(labels: dict[str, str]) -> None:
    if len(labels) > LABELS_MAX:
        raise _invalid("labels", f"{len(labels)} labels; at most {LABELS_MAX} are allowed")


def new_record(
    params: SandboxCreate, id: str, provider: str, now: Moment, unit: str, idle_timeout: float, owner: str = "owner"
) -> SandboxRecord:
    """Return the row of a new sandbox that will be started.

    Args:
        params: Its parameters.
        id: Its id.
        provider: The name of its provider.
        now: When it is created.
        unit: The name of its unit.
        idle_timeout: Seconds without activity after which it sleeps, unless set in the parameters.
        owner: The id of the principal that creates it.
    """
    idle = params.idle_timeout if params.idle_timeout is not None else idle_timeout
    return SandboxRecord(
        id=id,
        unit=unit,
        provider=provider,
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
        fingerprint=fingerprint(params, id),
        template=params.template,
        owner=owner,
        snapshot=params.snapshot,
        labels=params.labels,
        ports=params.ports,
        expires=None if params.timeout is None else now.after(params.timeout),
        idle_timeout=None if params.keep_alive else idle,
        sleeps_after=idle,
    )


def default_record(provider: str, now: Moment, idle_timeout: float) -> SandboxRecord:
    """Return the row of the default sandbox, which sleeps until it is needed. See `new_record` for the arguments."""
    record = new_record(SandboxCreate(id=DEFAULT, keep_alive=True), DEFAULT, provider, now, DEFAULT, idle_timeout)
    return msgspec.structs.replace(record, wanted="sleeping")


def fingerprint(params: SandboxCreate, id: str) -> str:
    """Return a digest of creation parameters, to recognize a repeated creation."""
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(params, id=id))).hexdigest()


def free_unit(id: str, rows: Mapping[str, Rows]) -> str:
    """Return a free unit name: the id, unless a sandbox from the pool already owns the unit of that name."""
    taken = any(found.sandbox is not None and found.sandbox.value.unit == id != found.id for found in rows.values())
    return f"{REPLACEMENT}{secrets.token_hex(8)}" if taken else id


def changed(record: SandboxRecord, params: SandboxUpdate, now: Moment) -> SandboxRecord:
    """Return the row of a sandbox after an update. Raises `HawseError` (`invalid_params`)."""
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
