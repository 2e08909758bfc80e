"""`hawse serve`: start a gateway on this machine."""

import dataclasses
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

from hawse.cli.installation.optional_parts import require_server
from hawse.cli.output import examples


class ServeCommand(click.Command):
    """A command with an option for each gateway setting. The gateway is only imported when the options are needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        verbose, *others = super().get_params(ctx)
        return [*options(import_module("hawse_gateway.settings").Settings), verbose, *others]


@click.command(
    cls=ServeCommand,
    epilog=examples(
        "hawse serve",
        "hawse serve --port 8000 --max-sandboxes 20",
        "hawse serve --provider docker --image python:3.13-slim",
    )
    + "\n\nThe environment variables HAWSE_TOKEN, HAWSE_STATE, HAWSE_STORE, HAWSE_LOG_FORMAT and "
    "HAWSE_OIDC_CLIENT_SECRET set the defaults of --token, --state, --store, --log-format and --oidc-client-secret. "
    "Unlike options, they are not visible to other users of the machine.",
)
@click.option("-v", "--verbose", is_flag=True, help="log connections and sandboxes")
def serve(verbose: bool, **values: Any) -> int:
    """Start a gateway on this machine and print the address to open."""
    require_server("hawse serve")
    settings = import_module("hawse_gateway.settings").Settings
    code: int = import_module("hawse_gateway.server").serve(given(settings, values), verbose=verbose)
    return code


def options(settings: type[Any], prefix: str = "") -> Iterator[click.Option]:
    """Yield an option for each setting that declares an `hawse_gateway.core.settings.Option`, in the order of
    declaration.

    Args:
        settings: The settings class, a dataclass. Its fields can in turn be dataclasses with options.
        prefix: The prefix for the options' parameter names.
    """
    for name, hint, declared in _declarations(settings):
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            yield from options(hint, f"{name}_")
        elif declared is not None:
            repeated = get_origin(hint) not in (None, Literal)
            kind = get_args(hint)[0] if repeated else hint
            yield click.Option(
                [declared.name, prefix + name],
                type=_type(kind, declared.most),
                is_flag=kind is bool or None,  # False would let the option be passed without a value
                multiple=repeated,
                metavar=declared.metavar,
                envvar=declared.environment,
                help=declared.help,
            )


def given(settings: type[Any], values: Mapping[str, Any], prefix: str = "") -> Any:
    """Return settings with the given option values. Other settings keep their defaults.

    Args:
        settings: The settings class.
        values: Option values, keyed by parameter name.
        prefix: The prefix for the parameter names.
    """
    found = {}
    for name, hint, declared in _declarations(settings):
        value = values.get(prefix + name)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            found[name] = given(hint, values, f"{name}_")
        elif declared is not None and value not in (None, ()) and value is not False:
            found[name] = value
    return settings(**found)


def _declarations(settings: type[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each field, its type without None, and its declared option, if any."""
    hints = get_type_hints(settings, include_extras=True)
    for field in dataclasses.fields(settings):
        hint, declared = hints[field.name], None
        if hasattr(hint, "__metadata__"):  # `Annotated`
            hint, declared = get_args(hint)
        if NoneType in get_args(hint):
            (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
        yield field.name, hint, declared


def _type(kind: Any, most: int | None) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    return kind if most is None else click.IntRange(0, most)
