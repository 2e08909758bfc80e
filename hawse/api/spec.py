"""Declaration of methods: one parameter struct carries the method's name, types, required right and errors.

Everything else about a method derives from its `Spec`: the dispatcher of the servers, the client, the HTTP API, the
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
    """A value that a server sends. Unknown fields are ignored; fields that later versions add have defaults."""


class ParamsValue(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A value inside of parameters, or fields that several parameter structs share."""


class Params(ParamsValue, Generic[R], kw_only=True):
    """The parameters of a method with a result of type `R`. Undeclared fields are refused."""


class Spec(NamedTuple):
    """One method.

    A *stream* keeps its channel open: it has events, sends bytes or takes bytes. Every other method has one result.
    """

    name: str
    params: Any  # a subclass of `Params`; its docstring describes the method
    result: Any  # the type of the `result`
    events: Mapping[str, Any] = {}  # the type of each event's value, by the event's name
    output: tuple[str, ...] = ()  # the names of the byte streams it sends, by frame kind from 1 on
    input: bool = False  # whether it takes bytes
    requires: str = OPERATE  # the right that a caller needs
    terminal: str | None = None  # where the right may be limited to a terminal: the parameter with its id, or SELECTED
    raises: tuple[str, ...] = ()  # codes of its errors, in addition to EVERY_CALL
    passive: bool = False  # it only watches; a sandbox can sleep during a call
    safe: bool = False  # it changes nothing, so that a client can repeat it without a key (RFC 9110, section 9.2.1)
    audit: bool = True  # whether the audit log gets its calls, if they change something
    target: str | None = None  # for a method of the gateway, the parameter that names its sandbox
    names: str | None = None  # the parameter that names the object to create, change or end, see `method`
    ends: bool = False  # whether it ends the object that `names` refers to

    @property
    def stream(self) -> bool:
        return bool(self.events or self.output or self.input)

    @property
    def audited(self) -> bool:
        """Whether the audit log has an entry for each call. Refused calls always have one."""
        return self.audit and not self.safe and not self.passive

    @property
    def summary(self) -> str:
        """The first line of the method's documentation."""
        from hawse.api.documentation import documentation  # a client needs no docstring to call it

        return documentation(self.params).summary


# The handler selects the objects that the caller may see, because no parameter names the terminal.
SELECTED: Final = "*"

# Error codes that any call can end with; a method declares all others with `raises`. It also declares one of these
# codes if it raises the code for its own reasons.
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

METHODS: Final[dict[str, Spec]] = {}  # the methods of a sandbox, by name
GATEWAY: Final[dict[str, Spec]] = {}  # the methods of the gateway itself, which name no sandbox
_SPECS: Final[dict[type, Spec]] = {}  # all of them, by parameter struct


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
    """Declare the decorated `Params[R]` as the parameters of a method with the result `R`.

    Args:
        name: The method's name on the wire, such as `file.chmod`; the struct is named after it, `FileChmod`.
        events: The type of each event's value, by event name.
        output: The names of the byte streams that the method sends, in the order of their frame kinds (1, 2, 3).
        input: Whether the method takes bytes.
        requires: The right that a caller needs.
        terminal: The parameter that names a terminal; the right at this terminal is then sufficient. `SELECTED` if the
            handler itself checks or selects by terminal. None requires the right in the whole sandbox.
        raises: The codes of the method's errors, in addition to `EVERY_CALL`.
        safe: Whether the method changes nothing.
        passive: Whether the method only watches. A sandbox can sleep during such a call.
        sandbox: False for a method of the gateway itself.
        audit: False for frequent methods without lasting effects: input, and streams that only read. `safe` and
            `passive` methods are never audited.
        target: For a method of the gateway: the parameter that names a sandbox. The right in this sandbox is then
            sufficient.
        names: The parameter that names the object to create, change or end, if repeating the call with this name is
            harmless. A repeated call with a key that the server does not know then runs, even if another server may
            have run it.
        ends: Whether the method ends this object. A repeated call then succeeds if the object no longer exists.

    Raises:
        ValueError: The name is taken, the struct's name does not follow from it, or an error code is unknown.
    """

    def declare(params: type[P]) -> type[P]:
        types = (name, params, _result_of(params), events or {}, output, input)
        spec = Spec(*types, requires, terminal, raises, passive, safe, audit, target, names, ends)
        _check(spec)
        (METHODS if sandbox else GATEWAY)[name] = _SPECS[params] = spec
        return params

    return declare


def spec_of(params: type) -> Spec:
    """Return the method that the struct `params` declares. Raises `KeyError` for any other type."""
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
