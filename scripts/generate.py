"""Write the files derived from the method declarations in `hawse/api`: `python -m scripts.generate [--check]`.

    web/src/wire/methods.ts   the TypeScript types of every method
    web/src/wire/streams.ts   the names of the methods that send events or bytes
    docs/methods.md           the reference of every method
    hawse/client/base/call_errors.py   the exceptions of the Python client
    hawse/__init__.pyi, hawse/client/__init__.pyi, hawse/sync/__init__.pyi   the Python client for type checkers

With `--check`, nothing is written, and the exit code is 1 if a file is out of date. `--openapi FILE` writes only the
description of the HTTP API, which is not committed.
"""

import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import inspect

import hawse.api
from hawse.api import GATEWAY, METHODS, Nothing, Spec
from hawse.api.documentation import documentation, struct_types
from hawse.api.spec import EVERY_CALL, SELECTED
from hawse.wire.errors import ERRORS
from hawse_gateway.http import openapi
from scripts.error_classes import error_classes
from scripts.exports_stub import client_exports, exports
from scripts.ghostty_abi import ghostty_abi
from scripts.sync_stub import stub

ROOT: Final = Path(__file__).resolve().parent.parent
NOTE: Final = "Generated from hawse/api by `make generate`; do not edit."

# The surfaces in the order of the reference: title and method prefix.
SURFACES: Final = (
    (
        "Gateway",
        ("sandbox", "template", "egress", "backup", "mount", "tunnel", "image", "token", "share", "audit", "preview"),
    ),
    ("Runtime", ("runtime",)),
    ("Terminals", ("terminal",)),
    ("Recordings", ("recording",)),
    ("Commands and processes", ("exec", "process")),
    ("Sessions", ("session",)),
    ("Code contexts", ("code",)),
    ("Files", ("file",)),
    ("Watches", ("watch",)),
    ("Git", ("git",)),
    ("Ports", ("port",)),
    ("Desktops", ("desktop",)),
)


def all_methods() -> dict[str, Spec]:
    return GATEWAY | METHODS


def structs() -> list[inspect.StructType]:
    """Return all structs that methods use, by name."""
    shapes = [shape for spec in all_methods().values() for shape in (spec.params, spec.result, *spec.events.values())]
    return [struct for _, struct in sorted(struct_types(shapes).items())]


def plain(kind: inspect.Type) -> inspect.Type:
    """Return a type without its metadata."""
    return plain(kind.type) if isinstance(kind, inspect.Metadata) else kind


def meaning(struct: inspect.StructType, field: inspect.Field) -> str:
    """Return the description of a field from the docstring of its struct."""
    return documentation(struct.cls).fields.get(field.name, "")


# ---- TypeScript

_TS_PLAIN: Final[dict[type[inspect.Type], str]] = {
    inspect.StrType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "unknown",
    inspect.RawType: "unknown",
}


def typescript_type(kind: inspect.Type) -> str:
    match plain(kind):
        case inspect.StructType(cls=cls):
            return cls.__name__
        case inspect.LiteralType(values=values):
            return " | ".join(json.dumps(value) for value in values)
        case inspect.UnionType(types=types):
            return " | ".join(dict.fromkeys(typescript_type(t) for t in types))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            name = typescript_type(item)
            return f"({name})[]" if " | " in name else f"{name}[]"
        case inspect.TupleType(item_types=items):
            return f"[{', '.join(map(typescript_type, items))}]"
        case inspect.DictType(value_type=value):
            return f"Record<string, {typescript_type(value)}>"
        case other:
            return _TS_PLAIN[type(other)]


def typescript() -> str:
    return "\n".join(_typescript_lines()) + "\n"


def _typescript_lines() -> Iterator[str]:
    yield f"// {NOTE} Types only."
    for struct in structs():
        yield ""
        yield from _comment(documentation(struct.cls).text)
        if not struct.fields:
            yield f"export type {struct.cls.__name__} = Record<string, never>;"
            continue
        yield f"export interface {struct.cls.__name__} {{"
        for field in struct.fields:
            if text := meaning(struct, field):
                yield f"  /** {text.replace('*/', '* /')} */"
            yield f"  {field.encode_name}{'' if field.required else '?'}: {typescript_type(field.type)};"
        yield "}"
    for title, table in (("Methods", METHODS), ("GatewayMethods", GATEWAY)):
        what = "a sandbox" if table is METHODS else "the gateway itself, which name no sandbox"
        yield ""
        yield f"/** The methods of {what}, by name. */"
        yield f"export interface {title} {{"
        for name, spec in sorted(table.items()):
            events = "; ".join(f"{event}: {kind.__name__}" for event, kind in spec.events.items())
            yield f"  {json.dumps(name)}: {{"
            yield f"    params: {spec.params.__name__};"
            yield f"    result: {spec.result.__name__};"
            yield f"    events: {{ {events} }};" if events else "    events: Record<string, never>;"
            yield "  };"
        yield "}"


def typescript_streams() -> str:
    names = [name for name, spec in sorted(all_methods().items()) if spec.stream]
    lines = "".join(f"  {json.dumps(name)},\n" for name in names)
    return (
        f"// {NOTE}\n\n/** The methods that send events or bytes, or take bytes. */\n"
        f"export const STREAMS = [\n{lines}] as const;\n\nexport type StreamMethod = (typeof STREAMS)[number];\n"
    )


def _comment(text: str) -> Iterator[str]:
    paragraphs = text.replace("*/", "* /").split("\n\n")
    if len(paragraphs) == 1:
        yield f"/** {text} */"
    else:
        yield "/**"
        for number, paragraph in enumerate(paragraphs):
            if number:
                yield " *"
            yield f" * {paragraph}"
        yield " */"


# ---- the reference


def described(kind: inspect.Type) -> str:
    """Return a readable form of a type in Markdown, including its bounds."""
    match plain(kind):
        case inspect.StructType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case inspect.UnionType(types=types):
            return " or ".join(described(t) for t in types)
        case inspect.ListType(item_type=item) as found:
            return f"list of {_member(item)}{_bounds(found.min_length, found.max_length, 'items')}"
        case inspect.VarTupleType(item_type=item):
            return f"list of {_member(item)}"
        case inspect.TupleType(item_types=items):
            return f"list of {len(items)}: {', '.join(map(described, items))}"
        case inspect.DictType(value_type=value):
            return f"object of {_member(value)}"
        case inspect.StrType(min_length=least, max_length=most):
            return f"string{_bounds(least, most, 'characters')}"
        case inspect.IntType() as number:
            return f"integer{_range(number)}"
        case inspect.FloatType() as number:
            return f"number{_range(number)}"
        case inspect.BoolType():
            return "boolean"
        case inspect.NoneType():
            return "null"
        case _:
            return "any JSON value"


def _member(kind: inspect.Type) -> str:
    """Return the type of the members of a list or object, in brackets if it has several parts."""
    text = described(kind)
    return f"({text})" if isinstance(plain(kind), inspect.UnionType | inspect.LiteralType) else text


def _bounds(least: int | None, most: int | None, unit: str) -> str:
    if most is None:
        return f" (at least {least:,} {unit.removesuffix('s') if least == 1 else unit})" if least else ""
    return f" ({least:,} to {most:,} {unit})" if least else f" (at most {most:,} {unit})"


def _range(number: inspect.IntType | inspect.FloatType) -> str:
    bounds = (("≥", number.ge), (">", number.gt), ("≤", number.le), ("<", number.lt))
    parts = [f"{sign} {value:,}" for sign, value in bounds if value is not None]
    return f" ({', '.join(parts)})" if parts else ""


def _default(field: inspect.Field) -> str:
    if field.required:
        return "required"
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    if value is None or value is msgspec.NODEFAULT or value is msgspec.UNSET:
        return ""
    return f"`{msgspec.json.encode(value).decode()}`"


def _table(struct: inspect.StructType, *, defaults: bool) -> Iterator[str]:
    yield "| field | type | default | meaning |" if defaults else "| field | type | meaning |"
    yield "|---|---|---|---|" if defaults else "|---|---|---|"
    for field in struct.fields:
        default = f" {_default(field)} |" if defaults else ""
        kind, text = (cell.replace("|", "&#124;") for cell in (described(field.type), meaning(struct, field)))
        yield f"| `{field.encode_name}` | {kind} |{default} {text} |"


def reference() -> str:
    return "\n".join(_reference_lines()) + "\n"


def _reference_lines() -> Iterator[str]:
    yield "# Methods"
    yield ""
    yield f"*{NOTE}*"
    yield ""
    yield "The parameters, result, events, byte streams, right and errors of every method."
    yield "[wire.md](wire.md) describes how calls travel and how the surfaces behave. Values are JSON. Offsets and"
    yield "sizes are in bytes, durations in seconds, times in seconds since 1970. A parameter with an empty default may"
    yield "be left out or be null; a parameter that is not listed is refused with `invalid_params`."
    yield ""
    yield "A method can end with the errors that it lists, and with the [errors of every call](#errors-of-every-call)."
    left = dict(all_methods())
    for title, prefixes in SURFACES:
        yield ""
        yield f"## {title}"
        for name in sorted(left):
            if name.partition(".")[0] in prefixes:
                yield from _method(left.pop(name))
    if left:
        raise SystemExit(f"no surface for {sorted(left)}: add it to SURFACES")
    yield ""
    yield "## Types"
    shown = {spec.params.__name__ for spec in all_methods().values()}
    for struct in structs():
        if struct.cls.__name__ not in shown:
            yield ""
            yield f"### {struct.cls.__name__}"
            yield ""
            yield _wrapped(documentation(struct.cls).text)
            if struct.fields:
                yield ""
                yield from _table(struct, defaults=False)
    yield ""
    yield from _errors()


def _errors() -> Iterator[str]:
    declared = {code for spec in all_methods().values() for code in spec.raises}
    connection = ERRORS.keys() - set(EVERY_CALL) - declared
    yield "## Errors"
    yield ""
    yield "[Section 8 of wire.md](wire.md#8-errors) describes each code. After a `retryable` error the same call may"
    yield "succeed later."
    yield ""
    yield "### Errors of every call"
    yield ""
    yield _wrapped(
        "A call in a sandbox also ends with `not_found` if the sandbox does not exist. Any call ends with"
        " `limit_exceeded` if too many channels are open, and with `too_large` if its result does not fit into a"
        " message."
    )
    yield ""
    yield from _error_table(EVERY_CALL)
    yield ""
    yield "### Errors of single methods"
    yield ""
    yield from _error_table(declared - set(EVERY_CALL))
    yield ""
    yield "### Errors of a connection or channel"
    yield ""
    yield "These report a violation of the protocol, or refuse a connection."
    yield ""
    yield from _error_table(connection)


def _error_table(codes: Iterable[str]) -> Iterator[str]:
    yield "| code | HTTP status | retryable |"
    yield "|---|---|---|"
    for code in sorted(codes):
        kind = ERRORS[code]
        yield f"| `{code}` | {kind.status} | {'yes' if kind.retryable else 'no'} |"


def _method(spec: Spec) -> Iterator[str]:
    yield ""
    yield f"### {spec.name}"
    yield ""
    yield _wrapped(documentation(spec.params).text)
    info = inspect.type_info(spec.params)
    assert isinstance(info, inspect.StructType)
    if info.fields:
        yield ""
        yield from _table(info, defaults=True)
    yield ""
    result = "empty" if spec.result is Nothing else described(inspect.type_info(spec.result))
    yield f"- Result: {result}"
    for event, kind in spec.events.items():
        yield f"- Event `{event}`: {described(inspect.type_info(kind))}"
    if any(spec.output):
        yield f"- Sends bytes: {', '.join(f'`{name}`' for name in spec.output if name)}"
    if spec.input:
        yield "- Accepts bytes"
    yield f"- Right: `{spec.requires}`{_AT_TERMINAL.get(spec.terminal or '', '')}"
    if spec.raises:
        yield f"- Errors: {', '.join(f'`{code}`' for code in spec.raises)}"


# The scope of a method's right in the reference, keyed by the method's `terminal`.
_AT_TERMINAL: Final = {
    "id": ", on the sandbox or on this terminal",
    SELECTED: ", on the sandbox or on a terminal, which limits the result to that terminal",
}


def _wrapped(text: str, width: int = 118) -> str:
    """Return paragraphs wrapped to at most `width` characters per line."""
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(wrap.fill(part) for part in text.split("\n\n"))


# ----


FILES: Final[dict[str, Callable[[], str]]] = {
    "web/src/wire/methods.ts": typescript,
    "web/src/wire/streams.ts": typescript_streams,
    "docs/methods.md": reference,
    "hawse/client/base/call_errors.py": error_classes,
    "hawse/__init__.pyi": exports,
    "hawse/client/__init__.pyi": client_exports,
    "hawse/sync/__init__.pyi": stub,
    "runtime/hawse_runtime/screen/emulator/ghostty_abi.py": ghostty_abi,
}


def stale() -> list[str]:
    """Return the generated files that are out of date."""
    return [name for name, make in FILES.items() if not _is(ROOT / name, make())]


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


def main(arguments: Sequence[str]) -> int:
    assert hawse.api.METHODS
    if arguments == ["--check"]:
        for name in (found := stale()):
            print(f"{name} is out of date; run `make generate`", file=sys.stderr)
        return 1 if found else 0
    if arguments[:1] == ["--openapi"]:
        Path(arguments[1]).write_text(json.dumps(openapi.document(), indent=1, ensure_ascii=False) + "\n", "utf-8")
        return 0
    for name, make in FILES.items():
        text = make()
        if not _is(ROOT / name, text):
            (ROOT / name).write_text(text, "utf-8")
            print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
