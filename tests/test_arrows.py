"""The arrows between the packages, enforced by walking every module's imports.

`hawse.wire <- runtime`, `hawse.wire <- gateway`, `hawse.wire <- hawse.client <- hawse.cli`; the methods as types,
`hawse.api`, that all of these may know; and what both ends of a link share, the carrier `hawse.link`,
`hawse.keystrokes` and the form of `hawse.logs`. Nothing else, in functions and under TYPE_CHECKING as well: an arrow is
about what a module knows, not about when it loads it.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("hawse", "runtime", "gateway")

# The modules of the standard library that do I/O or wait: the protocol core must not use them.
WAITING = frozenset(
    "_thread asyncio concurrent fcntl http multiprocessing pty queue sched select"
    " selectors signal socket socketserver ssl subprocess termios threading time tty urllib".split()
)


@dataclass(frozen=True)
class Rule:
    """What one package may import."""

    ours: tuple[str, ...]  # our packages, their submodules included
    others: tuple[str, ...] | None = None  # distributions beside the standard library; None: any
    not_stdlib: frozenset[str] = frozenset()
    lazily: tuple[str, ...] = ()  # our packages, inside a function only
    exactly: tuple[str, ...] = ()  # our modules, without their submodules
    never: tuple[str, ...] = ()  # packages inside of `ours` that run in another process


GROUND = ("runtime.core", "runtime.posix")
CLIENT_CALLS = ("hawse.wire", "hawse.api", "hawse.client.base", "hawse.client.calls")
SERVED = ("hawse.wire", "hawse.api", "hawse.rpc")  # what methods are declared and served with
LINK = ("hawse.wire", "hawse.api", "hawse.link")  # what speaks to a runtime
SHARES = "hawse.rpc.shares"  # what bounds how much each principal holds

# The packages of the client, each with those that it may import.
CLIENT_PACKAGES = {
    "base": (),
    "calls": ("base",),
    "connection": ("base", "calls"),
    "process": ("base", "calls"),
    "files": ("base", "calls"),
    "code": ("base", "calls"),
    "terminal": ("base", "calls", "files"),
}

# The most specific package decides.
RULES = {
    "hawse.wire": Rule(ours=("hawse.wire",), others=("msgspec",), not_stdlib=WAITING),
    "hawse.api": Rule(ours=("hawse.wire", "hawse.api"), others=("msgspec",), not_stdlib=WAITING),
    "hawse.rpc": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.keystrokes", "hawse.link", "hawse.logs", "hawse.rpc"),
        others=("msgspec",),
    ),
    "hawse.client": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.holes"), others=("msgspec", "websockets")
    ),
    "hawse.client.base": Rule(ours=("hawse.wire", "hawse.api", "hawse.client.base"), others=("msgspec",)),
    "hawse.client.calls": Rule(ours=CLIENT_CALLS, others=("msgspec",)),
    "hawse.client.connection": Rule(
        ours=(*CLIENT_CALLS, "hawse.client.connection"),
        others=("msgspec", "websockets"),
        exactly=("hawse",),  # its version
    ),
    "hawse.client.files": Rule(ours=(*CLIENT_CALLS, "hawse.client.files"), others=("msgspec",)),
    "hawse.client.process": Rule(ours=(*CLIENT_CALLS, "hawse.client.process"), others=("msgspec",)),
    "hawse.client.terminal": Rule(
        ours=(*CLIENT_CALLS, "hawse.client.files", "hawse.client.terminal"), others=("msgspec",)
    ),
    **{
        f"hawse.client.{package}": Rule(
            ours=("hawse.wire", "hawse.api", *(f"hawse.client.{name}" for name in (*below, package))),
            exactly=("hawse.holes",) if package == "files" else (),
            others=("msgspec", "websockets") if package == "connection" else ("msgspec",),
        )
        for package, below in CLIENT_PACKAGES.items()
    },
    "hawse.sync": Rule(ours=("hawse.wire", "hawse.client", "hawse.sync"), others=()),
    "hawse.machine": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.machine", "hawse.sockets"),
        others=("msgspec", "websockets"),
    ),
    "hawse.cli": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.machine", "hawse.cli"),
        others=("msgspec", "click", "rich"),
        lazily=("runtime", "gateway", "hawse.mcp"),
        exactly=("hawse.build", "hawse.mcp.tool"),
    ),
    "hawse.mcp": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.mcp"),
        others=("msgspec", "anyio", "mcp", "mcp_types", "starlette", "uvicorn"),
        exactly=("hawse",),  # its version
    ),
    "hawse.mcp.tools": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.mcp.excerpt", "hawse.mcp.tool", "hawse.mcp.tools"),
        others=("msgspec",),  # what an agent can do does not depend on how it asks for it
    ),
    "hawse.adapters": Rule(  # each module but `extra` and `tools` also imports its own framework
        ours=("hawse.wire", "hawse.client", "hawse.sync", "hawse.mcp.tool", "hawse.mcp.tools", "hawse.adapters"),
    ),
    # Loading hawse.wire loads hawse first, so every module loads what `hawse` itself imports eagerly.
    "hawse": Rule(ours=(), others=(), not_stdlib=WAITING, lazily=("hawse.wire", "hawse.client")),
    "hawse.logs": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.build": Rule(ours=("hawse.wire",), others=(), not_stdlib=WAITING),
    "hawse.referable": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.holes": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.sockets": Rule(ours=(), others=(), not_stdlib=WAITING - {"socket"}),
    "hawse.zstd": Rule(ours=("hawse.wire",), others=(), not_stdlib=WAITING),
    "hawse.keystrokes": Rule(ours=(), others=()),
    "hawse.link": Rule(ours=("hawse.wire", "hawse.keystrokes", "hawse.link"), others=()),
    "runtime": Rule(
        ours=(
            "hawse.wire",
            "hawse.api",
            "hawse.holes",
            "hawse.keystrokes",
            "hawse.link",
            "hawse.logs",
            "hawse.referable",
            "hawse.rpc",
            "hawse.sockets",
            "hawse.zstd",
            "runtime",
        ),
        exactly=("hawse",),  # its version
    ),
    "runtime.core": Rule(ours=("hawse.wire", "runtime.core"), exactly=("hawse.api.paths",)),
    "runtime.posix": Rule(ours=("hawse.wire", "hawse.api", "hawse.keystrokes", "hawse.sockets", *GROUND)),
    "runtime.journal": Rule(
        ours=("hawse.keystrokes", "hawse.referable", "hawse.wire", "runtime.core", "runtime.journal")
    ),
    "runtime.rpc": Rule(ours=(*SERVED, "runtime.core", "runtime.rpc")),
    "runtime.files": Rule(ours=(*SERVED, *GROUND, "hawse.holes", "hawse.zstd", "runtime.rpc", "runtime.files")),
    "runtime.backup": Rule(ours=(*SERVED, *GROUND, "hawse.zstd", "runtime.rpc", "runtime.files", "runtime.backup")),
    "runtime.git": Rule(ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.git")),
    "runtime.watch": Rule(ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.watch")),
    "runtime.ports": Rule(ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.ports")),
    "runtime.process": Rule(ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.journal", "runtime.process")),
    "runtime.desktop": Rule(
        ours=(
            *(*SERVED, *GROUND, "hawse.sockets", "runtime.rpc", "runtime.journal", "runtime.people"),
            *("runtime.process", "runtime.desktop"),
        ),
        others=("msgspec", "PIL"),
    ),
    "runtime.session": Rule(
        ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.journal", "runtime.process", "runtime.session")
    ),
    "runtime.code": Rule(
        ours=(*SERVED, *GROUND, "runtime.rpc", "runtime.journal", "runtime.process", "runtime.code"),
        others=("msgspec",),  # what speaks with kernels is loaded by the host process only
        never=("runtime.code.host",),
    ),
    "runtime.code.host": Rule(
        ours=("hawse.logs", "runtime.code.host"),
        others=("msgspec", "jupyter_client", "jupyter_core", "uvloop", "zmq"),
        exactly=("runtime.code.host_protocol",),
    ),
    "runtime.recording": Rule(
        ours=(
            *(*SERVED, "runtime.core", "runtime.rpc", "runtime.files", "runtime.screen", "runtime.terminal"),
            "runtime.desktop",
            "runtime.recording",
        )
    ),
    "runtime.screen": Rule(ours=("hawse.wire", "hawse.api", *GROUND, "runtime.journal", "runtime.screen")),
    "runtime.people": Rule(ours=("hawse.wire", "hawse.api", "hawse.referable", "runtime.core", "runtime.people")),
    "runtime.terminal": Rule(
        ours=(
            *("hawse.wire", "hawse.api", "hawse.rpc", *GROUND, "runtime.journal", "runtime.people", "runtime.rpc"),
            *("hawse.referable", "runtime.screen", "runtime.terminal"),
        )
    ),
    "gateway": Rule(
        ours=(
            "hawse.wire",
            "hawse.api",
            "hawse.keystrokes",
            "hawse.link",
            "hawse.logs",
            "hawse.referable",
            "hawse.rpc",
            "hawse.sockets",
            "hawse.zstd",
            "gateway",
        ),
        exactly=("hawse", "hawse.build"),
    ),
    "gateway.auth": Rule(ours=("hawse.wire", "hawse.api", "gateway.auth", "gateway.limits", "gateway.store")),
    "gateway.context": Rule(ours=("hawse.logs", "hawse.wire")),
    "gateway.limits": Rule(ours=("hawse.wire", "hawse.api", "gateway.limits")),
    "gateway.audit": Rule(
        ours=(*SERVED, "gateway.audit", "gateway.context", "gateway.limits"),
        exactly=("gateway.upstream.observer",),  # what it implements
    ),
    "gateway.backups": Rule(
        ours=(
            *SERVED,
            "gateway.auth",
            "gateway.backups",
            "gateway.cancellation",
            "gateway.http",
            "gateway.store",
            "gateway.upstream",
            "gateway.limits",
        ),
        exactly=("gateway.confinement", "hawse.zstd"),
    ),
    "gateway.confinement": Rule(ours=(), exactly=("gateway.system_calls",)),
    "gateway.system_calls": Rule(ours=()),
    "gateway.cancellation": Rule(ours=()),
    "gateway.keyed_locks": Rule(ours=()),
    "gateway.mounts": Rule(
        ours=(*SERVED, "gateway.mounts", "gateway.providers", "gateway.sandboxes", "gateway.store"),
        exactly=(
            "gateway.cancellation",
            "gateway.confinement",
            "gateway.keyed_locks",
            "gateway.limits.fair_turns",
            "gateway.limits.in_progress",
            "gateway.settings",
            "gateway.system_calls",
        ),
    ),
    "gateway.tunnels": Rule(
        ours=(
            *SERVED,
            "gateway.sandboxes.records",
            "gateway.store",
            "gateway.transport.listener",
            "gateway.tunnels",
            "hawse.sockets",
        )
    ),
    "gateway.transport": Rule(ours=("gateway.transport",)),
    "gateway.store": Rule(ours=("hawse.wire", "gateway.cancellation", "gateway.store")),
    "gateway.sandboxes": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.rpc", "gateway.sandboxes", "gateway.store", "gateway.providers"),
        exactly=(
            "gateway.cancellation",
            "gateway.egress.control",
            "gateway.egress.settings",
            "gateway.limits.in_progress",
        ),
    ),
    "gateway.certificates": Rule(ours=()),
    "gateway.egress": Rule(ours=("hawse.wire", "hawse.api", "hawse.sockets", "gateway.certificates", "gateway.egress")),
    "gateway.providers": Rule(
        ours=(
            *("hawse.wire", "hawse.api", "hawse.logs", "hawse.sockets"),
            *("gateway.cancellation", "gateway.certificates", "gateway.egress", "gateway.keyed_locks"),
            "gateway.providers",
        )
    ),
    "gateway.upstream": Rule(
        ours=(
            *LINK,
            "hawse.keystrokes",
            "hawse.referable",
            "hawse.rpc",
            "hawse.sockets",
            "gateway.upstream",
            "gateway.providers",
            "gateway.auth",
            "gateway.context",
            "gateway.limits",
        )
    ),
    "gateway.http": Rule(
        ours=(*LINK, SHARES, "gateway.http", "gateway.upstream", "gateway.auth", "gateway.context", "gateway.limits"),
        exactly=("gateway",),
    ),
    "gateway.oidc": Rule(
        ours=("hawse.wire", "hawse.api", "gateway.oidc", "gateway.auth", "gateway.http", "gateway.store"),
        exactly=("gateway.cancellation", "gateway.settings"),
    ),
    "gateway.preview": Rule(
        ours=(
            *(*LINK, "gateway.preview", "gateway.http", "gateway.upstream", "gateway.sandboxes", "gateway.auth"),
            "gateway.context",
            "gateway.limits",
            "gateway.transport",
            "gateway.tunnels",
        )
    ),
    "gateway.connection": Rule(
        ours=(
            *(*LINK, SHARES, "gateway.connection", "gateway.http", "gateway.upstream", "gateway.auth"),
            "gateway.context",
            "gateway.limits",
            "gateway.transport",
        )
    ),
    "gateway.metrics": Rule(
        ours=(
            *(*LINK, "gateway.metrics", "gateway.connection", "gateway.http", "gateway.upstream", "gateway.sandboxes"),
            "gateway.auth",
            "gateway.audit",
        ),
        exactly=("gateway", "gateway.egress.refusals", "gateway.providers.joined.machines", "hawse.build"),
    ),
}


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name, and where."""

    target: str
    line: int
    lazy: bool  # inside a function, or under TYPE_CHECKING


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def targets(node: ast.AST, package: str) -> Iterator[str]:
    """The modules that one statement imports. `package` is what relative imports start from."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            base = module or ""
            if level:
                above = package.split(".")[: len(package.split(".")) - level + 1]
                base = ".".join([*above, module] if module else above)
            for alias in names:
                # `from hawse import wire` imports hawse.wire; `from hawse import __version__` imports hawse.
                inner = f"{base}.{alias.name}"
                yield inner if base.split(".")[0] in OURS and is_module(inner) else base
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def imports(source: str, package: str) -> Iterator[Import]:
    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for target in targets(node, package):
            yield Import(target, getattr(node, "lineno", 0), lazy)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            lazy = True
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for statement in node.body:
                yield from walk(statement, True)
            for statement in node.orelse:
                yield from walk(statement, lazy)
            return
        for child in ast.iter_child_nodes(node):
            yield from walk(child, lazy)

    yield from walk(ast.parse(source), lazy=False)


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def why_not(rule: Rule, found: Import) -> str | None:
    """What is wrong with an import, or None."""
    top = found.target.split(".")[0]
    if top in OURS:
        if (
            (within(found.target, rule.ours) and not within(found.target, rule.never))
            or found.target in rule.exactly
            or (found.lazy and within(found.target, rule.lazily))
        ):
            return None
        if found.target == "hawse" and any(within(package, ("hawse.client",)) for package in rule.ours):
            return None  # the client side may ask for hawse.__version__
        return "inside a function only" if within(found.target, rule.lazily) else "against the arrows"
    if top in sys.stdlib_module_names:
        return "it waits" if top in rule.not_stdlib else None
    return None if rule.others is None or top in rule.others else "not among its dependencies"


def rule_for(module: str) -> Rule:
    return RULES[max((package for package in RULES if within(module, (package,))), key=len)]


def breaches(module: str, source: str, *, is_package: bool = False) -> list[str]:
    package = module if is_package else module.rpartition(".")[0]
    rule = rule_for(module)
    return [
        f"{module}:{found.line} imports {found.target}: {reason}"
        for found in imports(source, package)
        if (reason := why_not(rule, found))
    ]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_imports_only_along_the_arrows(path: Path) -> None:
    found = breaches(module_name(path), path.read_text("utf-8"), is_package=path.name == "__init__.py")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        (
            "hawse.wire",
            "asyncio socket selectors ssl subprocess websockets hawse.client hawse.cli runtime gateway",
        ),
        ("hawse.client", "hawse.cli runtime gateway"),
        ("runtime", "hawse.client hawse.cli gateway"),
        ("gateway", "hawse.client hawse.cli runtime"),
    ],
)
def test_what_a_package_loads_agrees_with_what_it_says(package: str, unwanted: str) -> None:
    modules = [module_name(path) for path in MODULES if path.name != "__main__.py"]
    names = [name for name in modules if within(name, (package,))]
    program = (
        "import importlib, sys; before = set(sys.modules)\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(*(set(sys.modules) - before) & set({unwanted.split()!r}))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


def test_the_gateway_loads_the_client_of_redis_only_where_it_is_used() -> None:
    """It takes almost as long to load as the rest of the gateway."""
    program = "import sys, gateway.server; print('redis' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("hawse.wire.frames", "import asyncio"),
        ("hawse.wire.frames", "from time import monotonic"),
        ("hawse.wire.frames", "import websockets"),
        ("hawse.wire.frames", "def f():\n    from hawse.client import aio"),
        ("hawse.wire.frames", "from .. import client"),
        ("hawse.wire.frames", "from ..client import aio"),
        ("hawse.client.aio", "import hawse.cli.main"),
        ("hawse.client.aio", "import httpx"),
        ("hawse.client.base.errors", "from hawse.client.calls.call import ClientCall"),
        ("hawse.client.calls.call", "from hawse.client.connection.dial import dial"),
        ("hawse.client.files.files", "from hawse.client.process.exec import program"),
        ("hawse.client.terminal.attach", "import websockets"),
        ("hawse.cli.serve", "import gateway.app"),
        ("hawse", "from hawse.client import connect"),
        ("runtime.terminal.terminal", "if TYPE_CHECKING:\n    from gateway.app import App"),
        ("runtime.terminal.terminal", "import hawse"),
        ("runtime.code.executor", "import zmq"),
        ("runtime.code.methods", "def f():\n    from runtime.code.host.server import serve"),
        ("runtime.code.host.kernel", "from runtime.code.run import Run"),
        ("runtime.terminal.terminal", "from hawse import client"),
        ("gateway.app", "importlib.import_module('runtime.main')"),
        ("gateway.app", "import runtime"),
        ("gateway.http.sse", "from gateway.connection.endpoint import ConnectEndpoint"),
        ("gateway.providers.local", "from gateway.upstream.links import Links"),
    ],
)
def test_an_import_against_the_arrows_is_found(module: str, source: str) -> None:
    assert breaches(module, source, is_package=module == "hawse")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "hawse.wire.frames",
            "import struct, msgspec\nfrom . import errors\nfrom hawse.wire.errors import X",
        ),
        (
            "hawse.client.aio",
            "import asyncio, websockets\nfrom hawse.wire import Connection\nfrom .. import wire",
        ),
        ("hawse.cli.serve", "from hawse import __version__\ndef main():\n    from gateway.app import serve"),
        ("hawse.cli.serve", "def main():\n    importlib.import_module('runtime.main')"),
        ("hawse", "def __getattr__(name):\n    from hawse import client"),
        ("runtime.terminal.terminal", "import asyncio, pyghostty\nfrom hawse.wire import frames"),
        ("gateway.app", "import starlette, hawse.wire.frames\nfrom .links import Link"),
    ],
)
def test_an_import_along_the_arrows_passes(module: str, source: str) -> None:
    assert breaches(module, source, is_package=module == "hawse") == []
