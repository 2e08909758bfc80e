"""Method declarations: a parameter struct carries the method's name, types, required right and errors.

Everything else about a method is derived from its `Spec`: the server dispatchers, the client, the HTTP API, the
generated TypeScript types and the generated reference.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from hawse.api.rights import OPERATE
from hawse.wire.errors import ERRORS

R = TypeVar("R")
P = TypeVar("P", bound="Params[Any]")


class Nothing(msgspec.Struct):
    """An empty result: the call succeeded."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a server sends. Unknown fields are ignored; fields added by later versions have defaults."""


class ParamsValue(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A value inside parameters, or fields shared by several parameter structs."""


class Params(ParamsValue, Generic[R], kw_only=True):
    """The parameters for a method with a result of type `R`. Undeclared fields are rejected."""


class Spec(NamedTuple):
    """One method.

    A *stream* keeps its channel open: it has events, sends bytes or takes bytes. Every other method has one result.
    """

    name: str
    params: Any  # a subclass of `Params`; its docstring describes the method
    result: Any  # the type of the `result`
    events: Mapping[str, Any] = {}  # the type of each event's value, keyed by event name
    output: tuple[str, ...] = ()  # names of the byte streams that the method sends; the first has frame kind 1
    input: bool = False  # whether the method accepts bytes
    requires: str = OPERATE  # the right that a caller needs
    # The parameter that names a terminal, if the right at that terminal is sufficient; or SELECTED.
    terminal: str | None = None
    raises: tuple[str, ...] = ()  # error codes that the method can return, in addition to EVERY_CALL
    passive: bool = False  # whether the method only watches; if so, a sandbox can sleep during a call
    safe: bool = False  # whether the method changes nothing, so clients can repeat it (RFC 9110, section 9.2.1)
    audit: bool = True  # whether calls that change something are audited
    target: str | None = None  # for a gateway method: the parameter that names a sandbox
    names: str | None = None  # the parameter that names the object to create, change or end; see `method`
    ends: bool = False  # whether the method ends the object that `names` refers to

    @property
    def stream(self) -> bool:
        return bool(self.events or self.output or self.input)

    @property
    def audited(self) -> bool:
        """Whether each call gets an entry in the audit log. Refused calls always do."""
        return self.audit and not self.safe and not self.passive

    @property
    def summary(self) -> str:
        """The first line of the method's documentation."""
        from hawse.api.documentation import documentation  # imported here, because clients don't need documentation

        return documentation(self.params).summary


# The handler selects the objects that the caller may see, because no parameter names the terminal.
SELECTED: Final = "*"

# Error codes that any call can end with; methods declare all others with `raises`. A method also declares one of these
# codes if it has its own reasons to raise it.
EVERY_CALL: Final = (
    "unauthenticated",
    "forbidden",
    "unknown_method",
    "invalid_params",
    "deadline_exceeded",
    "cancelled",
    "unavailable",
    "stopped",
    "capacity_exceeded",
    "interrupted",
    "internal",
    "key_conflict",
    "outcome_unknown",
)

METHODS: Final[dict[str, Spec]] = {}  # the sandbox methods, keyed by name
GATEWAY: Final[dict[str, Spec]] = {}  # the gateway's own methods, which are called without a sandbox
_SPECS: Final[dict[type, Spec]] = {}  # all methods, keyed by parameter struct


def method(
    name: str,
    *,
    events: Mapping[str, Any] | None = None,
    output: tuple[str, ...] = (),
    input: bool = False,
    requires: str = OPERATE,
    terminal: str | None = None,
    raises: tuple[str, ...] = (),
    safe: bool = False,
    passive: bool = False,
    sandbox: bool = True,
    audit: bool = True,
    target: str | None = None,
    names: str | None = None,
    ends: bool = False,
) -> Callable[[type[P]], type[P]]:
    """Declare the decorated `Params[R]` as the parameters for a method with the result `R`.

    Args:
        name: The method's name on the wire, such as `file.chmod`; the struct is named after it, `FileChmod`.
        events: The type of each event's value, keyed by event name.
        output: The names of the byte streams the method sends, in order of frame kind (1, 2, 3).
        input: Whether the method accepts bytes.
        requires: The right that a caller needs.
        terminal: The parameter that names a terminal, if the right at that terminal is sufficient. `SELECTED` if the
            handler itself checks the caller's rights. None requires the right in the whole sandbox.
        raises: The error codes the method can return, in addition to `EVERY_CALL`.
        safe: Whether the method changes nothing.
        passive: Whether the method only watches. A sandbox can sleep during such a call.
        sandbox: False for one of the gateway's own methods.
        audit: False for frequent methods without lasting effects: sending input, and streams that only read. `safe` and
            `passive` methods are never audited.
        target: For a gateway method: the parameter that names a sandbox, if the right in that sandbox is sufficient.
        names: The parameter that names the object to create, change or end, if repeating the call with this name is
            harmless. In that case, the server runs a repeated call even if it doesn't know the key and another server
            may have already run the call.
        ends: Whether the method ends this object. If so, a repeated call succeeds if the object no longer exists.

    Raises:
        ValueError: The name is taken, the struct isn't named after it, or an error code is unknown.
    """

    def declare(params: type[P]) -> type[P]:
        types = (name, params, _result_of(params), events or {}, output, input)
        spec = Spec(*types, requires, terminal, raises, passive, safe, audit, target, names, ends)
        _check(spec)
        (METHODS if sandbox else GATEWAY)[name] = _SPECS[params] = spec
        return params

    return declare


def spec_of(params: type) -> Spec:
    """Return the method declared by the struct `params`. Raises `KeyError` for any other type."""
    return _SPECS[params]


def _check(spec: Spec) -> None:
    name, params = spec.name, spec.params
    if name in METHODS or name in GATEWAY:
        raise ValueError(f"method {name} is declared twice")
    expected = "".join(part.capitalize() for part in name.split("."))
    if params.__name__ != expected:
        raise ValueError(f"the parameters of {name} are named {params.__name__}, not {expected}")
    if unknown := set(spec.raises) - ERRORS.keys():
        raise ValueError(f"{name} raises unknown errors: {sorted(unknown)}")
    terminal = None if spec.terminal == SELECTED else spec.terminal
    for parameter in (terminal, spec.target, spec.names):
        if parameter not in (None, *params.__struct_fields__):
            raise ValueError(f"{name} has no parameter {parameter!r}")


def _result_of(params: type) -> Any:
    for base in getattr(params, "__orig_bases__", ()):
        if get_origin(base) is Params:
            return get_args(base)[0]
    raise ValueError(f"{params.__name__} is not derived from Params[...]")
