"""Writes the types of the synchronous client, `hawse/sync/__init__.pyi`, from the source of the asynchronous client.

`hawse.sync` creates its classes on import, so type checkers cannot see them.
"""

import ast
import importlib
import inspect
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from hawse.client.calls.stream_handle import ByteStreamHandle
from hawse.sync.wrapping import handles

HEADER: Final = '''"""The types of the synchronous client, which `make generate` derives from `hawse.client`."""

# ruff: noqa
'''
SYNC: Final = importlib.import_module("hawse.sync")  # `import` would take the types from the stub
OWN: Final = ("OpenedSandbox", "CreatedSandbox")  # classes that exist only in the synchronous client
SPECIAL: Final = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "__call__": "__call__",
}
NAMES: Final = {
    "AsyncIterator": "Iterator",
    "AsyncIterable": "Iterable",
    "AsyncGenerator": "Generator",
    "OutputIterator": "Iterator",
    "States": "Iterator[ConnectionState]",
    "SandboxCreation": "CreatedSandbox",
    "SandboxOpening": "OpenedSandbox",
    "ProcessStarting": "Process",
    "FileListing": "Iterator[api.FileEntry]",
}


def stub() -> str:
    """Return the contents of the stub."""
    bodies, used = [], {"Authorities", "Token", "Options", "ConnectionState"}
    imports: dict[str, str] = {}
    classes = handles()
    for name, cls in classes.items():
        members: dict[str, str] = {}
        item = _item_type(cls)
        for base in (base for base in cls.__mro__ if base.__module__.startswith("hawse.client")):
            tree, definition = _source(base)
            imports |= _imports(tree, base.__module__, classes)
            for attribute, annotation in _attributes(definition):
                members.setdefault(attribute, f"    {attribute}: {_annotation(annotation, used)}\n")
            for method, overloads in _methods(definition):
                members.setdefault(method, "\n".join(_function(each, item, used) for each in overloads))
        parameter = "[T]" if name == "StateStream" else ""
        head = f"class {name}{'(Generic' + parameter + ')' if parameter else ''}:\n"
        bodies.append(head + _docstring(inspect.getdoc(cls) or "", 4) + "\n".join(members.values()))
    bodies += [_context(name) for name in OWN]
    functions = f"{_connect()}\n{_timeout()}"
    lines = sorted({imports[name] for name in used - {"T"} if name in imports})
    typing = "import builtins\nfrom collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence\n"
    typing += "from contextlib import AbstractContextManager\nfrom types import TracebackType\n"
    typing += "from typing import Any, Generic, Literal, Self, TypeVar, Unpack, overload\n"
    head = "\n".join(lines) + f'\n\n__all__ = {SYNC.__all__}\n\nT = TypeVar("T")\n\n'
    return f"{HEADER}\n{typing}\n" + head + "\n".join(bodies) + "\n" + functions


def _source(cls: type) -> tuple[ast.Module, ast.ClassDef]:
    """Return the syntax trees of a class's module and of the class itself."""
    tree = ast.parse(Path(inspect.getfile(cls)).read_text("utf-8"))
    return tree, next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == cls.__name__)


def _attributes(definition: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the public attributes that the constructor sets to its arguments, with their types."""
    for function in definition.body:
        if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
            continue
        types = {each.arg: each.annotation for each in [*function.args.args, *function.args.kwonlyargs]}
        for statement in function.body:
            match statement:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Name(id=argument)
                ) if not name.startswith("_") and (annotation := types.get(argument)) is not None:
                    yield name, annotation


def _methods(definition: ast.ClassDef) -> Iterator[tuple[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]]:
    """Yield the public methods. An overloaded one has its overloads, and the last one has the documentation."""
    overloads: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for function in definition.body:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or not _public(function.name):
            continue
        declared = overloads.setdefault(function.name, [])
        if "overload" in {ast.unparse(each) for each in function.decorator_list}:
            declared.append(function)
        elif declared:
            declared[-1].body = function.body
            yield function.name, declared
        else:
            yield function.name, [function]


def _public(name: str) -> bool:
    return name in SPECIAL or not name.startswith("_")


def _function(function: ast.FunctionDef | ast.AsyncFunctionDef, item: str, used: set[str]) -> str:
    decorators = {ast.unparse(each) for each in function.decorator_list}
    returns = _annotation(function.returns, used)
    if "asynccontextmanager" in decorators:
        returns = returns.replace("Iterator[", "AbstractContextManager[", 1)
    arguments = ast.arguments(**{field: getattr(function.args, field) for field in ast.arguments._fields})
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.kwarg]:
        if argument is not None and argument.annotation is not None:
            argument.annotation = ast.parse(_annotation(argument.annotation, used), mode="eval").body
    arguments.defaults = [_default(value) for value in arguments.defaults]
    arguments.kw_defaults = [None if value is None else _default(value) for value in arguments.kw_defaults]
    name = SPECIAL.get(function.name, function.name)
    if name == "__iter__" and item:
        returns = f"Iterator[{_annotation(ast.parse(item, mode='eval').body, used)}]"
    text = "".join(f"    @{each}\n" for each in ("property", "classmethod", "overload") if each in decorators)
    text += f"    def {name}({ast.unparse(arguments)}) -> {returns}:\n"
    return text + _docstring(ast.get_docstring(function) or "")


def _default(value: ast.expr) -> ast.expr:
    return value if isinstance(value, ast.Constant) else ast.Constant(...)


def _annotation(node: ast.expr | None, used: set[str]) -> str:
    """Return an annotation in the form used by the synchronous client, and record the names in it."""
    if node is None:
        return "None"
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    tree = ast.parse(text, mode="eval")
    for name in [each for each in ast.walk(tree) if isinstance(each, ast.Name)]:
        name.id = NAMES.get(name.id, name.id)
        used.add(name.id)
    return ast.unparse(tree)


def _item_type(cls: type) -> str:
    """Return the source of a stream's item type, the second parameter of its generic base."""
    if issubclass(cls, ByteStreamHandle):
        return "bytes"
    for base in _source(cls)[1].bases:
        if isinstance(base, ast.Subscript) and ast.unparse(base.value) == "StreamHandle":
            assert isinstance(base.slice, ast.Tuple)
            return ast.unparse(base.slice.elts[-1])
    return ""


def _imports(tree: ast.Module, module: str, ours: Collection[str]) -> dict[str, str]:
    """Return the imports of names that a module imports from hawse or defines as types, except the names in `ours`."""
    found = {}
    for_types = [each for block in tree.body if isinstance(block, ast.If) for each in block.body]
    for statement in [*for_types, *tree.body]:
        match statement:
            case ast.ImportFrom(module=str(source), names=names) if source.startswith("hawse"):
                for alias in names:
                    shown = alias.asname or alias.name
                    suffix = f" as {alias.asname}" if alias.asname else ""
                    if shown not in ours:
                        found[shown] = f"from {source} import {alias.name}{suffix}"
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.ClassDef(name=name) if name not in ours:
                found[name] = f"from {module} import {name}"
    return found


def _context(name: str) -> str:
    """Return the source of a class in `hawse.sync` that is both a sandbox and a context manager."""
    return (
        f"class {name}(Sandbox):\n"
        + _docstring(inspect.getdoc(getattr(SYNC, name)) or "", 4)
        + f"    def __enter__(self) -> {name}: ...\n"
        + "    def __exit__(\n"
        + "        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None\n"
        + "    ) -> None: ...\n"
    )


def _connect() -> str:
    return (
        "def connect(url: str | None = None, *, token: Token = None, ca: Authorities = None, "
        "options: Options | None = None, "
        "on_state: Callable[[ConnectionState], None] | None = None) -> Client:\n"
        + _docstring(inspect.getdoc(SYNC.connect) or "", 4)
    )


def _timeout() -> str:
    text = inspect.getdoc(SYNC.timeout) or ""
    return "def timeout(seconds: float) -> AbstractContextManager[None]:\n" + _docstring(text, 4)


def _docstring(text: str, indent: int = 8) -> str:
    space = " " * indent
    text = text.replace("async with", "with").replace("async for", "for").replace("await ", "")
    lines = [f"{space}{line}".rstrip() for line in text.splitlines()]
    if not lines:
        return f"{space}...\n"
    lines[0] = f'{space}"""{lines[0].strip()}'
    return "\n".join(lines) + ('"""' if len(lines) == 1 else f'\n{space}"""') + "\n"
