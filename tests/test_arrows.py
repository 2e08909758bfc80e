"""The arrows between the packages, enforced by walking every module's imports.

`hawse.wire <- hawse.api <- hawse.rpc <- {hawse_runtime, hawse_gateway}` and
`hawse.api <- hawse.client <- {hawse.sync, hawse.mcp, hawse.machine} <- hawse.cli`.
Imports in functions and under TYPE_CHECKING count as well: an arrow is about what a module knows, not about when it
loads it.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.packages import PACKAGES, ROOT, modules, name_of

OURS = tuple(PACKAGES)

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


GROUND = ("hawse_runtime.core", "hawse_runtime.posix")
CLIENT_CALLS = ("hawse.wire", "hawse.api", "hawse.client.base", "hawse.client.calls")
SERVED = ("hawse.wire", "hawse.api", "hawse.rpc")  # what methods are declared and served with
LINK = ("hawse.wire", "hawse.api", "hawse.link")  # what speaks to a runtime
SHARES = "hawse.rpc.shares"  # what bounds how much each principal holds


FEATURE = Rule(ours=("hawse.wire", "hawse.api", "hawse.rpc", "hawse.build", "hawse_gateway"))


def gateway_rule(
    *packages: str, also: tuple[str, ...] = (), exactly: tuple[str, ...] = (), never: tuple[str, ...] = ()
) -> Rule:
    """Return the rule of a package of the gateway, which may import `core` and these packages of it."""
    return Rule(
        ours=(*also, *(f"hawse_gateway.{package}" for package in ("core", *packages))), exactly=exactly, never=never
    )


# The packages of the client, each with those that it may import.
CLIENT_PACKAGES = {
    "base": (),
    "calls": ("base",),
    "connection": ("base", "calls"),
    "process": ("base", "calls"),
    "files": ("base", "calls"),
    "code": ("base", "calls"),
    "terminal": ("base", "calls", "files", "process"),
}

# The most specific package decides.
RULES = {
    "hawse.wire": Rule(ours=("hawse.wire",), others=("msgspec",), not_stdlib=WAITING),
    "hawse.api": Rule(ours=("hawse.wire", "hawse.api"), others=("msgspec",), not_stdlib=WAITING),
    "hawse.rpc": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.link.keystrokes", "hawse.link", "hawse.logs", "hawse.rpc"),
        others=("msgspec",),
    ),
    "hawse.client": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.sparse_files"), others=("msgspec", "websockets")
    ),
    "hawse.client.base": Rule(ours=("hawse.wire", "hawse.api", "hawse.client.base"), others=("msgspec",)),
    "hawse.client.calls": Rule(ours=CLIENT_CALLS, others=("msgspec",)),
    "hawse.client.connection": Rule(
        ours=(*CLIENT_CALLS, "hawse.client.connection"),
        others=("msgspec", "websockets"),
        exactly=("hawse",),  # its version
    ),
    **{
        f"hawse.client.{package}": Rule(
            ours=("hawse.wire", "hawse.api", *(f"hawse.client.{name}" for name in (*below, package))),
            exactly=("hawse.sparse_files",) if package == "files" else (),
            others=("msgspec", "websockets") if package == "connection" else ("msgspec",),
        )
        for package, below in CLIENT_PACKAGES.items()
    },
    "hawse.sync": Rule(ours=("hawse.wire", "hawse.client", "hawse.sync"), others=()),
    "hawse.machine": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.machine", "hawse.link.sockets"),
        others=("msgspec", "websockets"),
    ),
    "hawse.cli": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.machine", "hawse.cli"),
        others=("msgspec", "click", "rich"),
        lazily=("hawse_runtime", "hawse_gateway", "hawse.mcp"),
        exactly=("hawse.build", "hawse.mcp.tool"),
    ),
    "hawse.mcp": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.client", "hawse.plain", "hawse.mcp"),
        others=("msgspec", "anyio", "mcp", "mcp_types", "starlette", "uvicorn"),
        exactly=("hawse",),  # its version
    ),
    "hawse.mcp.tools": Rule(
        ours=(
            "hawse.wire",
            "hawse.api",
            "hawse.client",
            "hawse.plain",
            "hawse.mcp.screens",
            "hawse.mcp.tool",
            "hawse.mcp.tools",
        ),
        others=("msgspec",),  # what an agent can do does not depend on how it asks for it
    ),
    "hawse.adapters": Rule(  # each module but `extra` and `tools` also imports its own framework
        ours=(
            "hawse.wire",
            "hawse.client",
            "hawse.sync",
            "hawse.mcp.screens",
            "hawse.mcp.tool",
            "hawse.mcp.tools",
            "hawse.adapters",
        ),
    ),
    # Loading hawse.wire loads hawse first, so every module loads what `hawse` itself imports eagerly.
    "hawse": Rule(ours=(), others=(), not_stdlib=WAITING, lazily=("hawse.wire", "hawse.client")),
    "hawse.logs": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.build": Rule(ours=("hawse.wire",), others=(), not_stdlib=WAITING),
    "hawse.weakref_support": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.code_pool": Rule(ours=(), others=("msgspec",), not_stdlib=WAITING),
    "hawse.sparse_files": Rule(ours=(), others=(), not_stdlib=WAITING),
    "hawse.link.sockets": Rule(ours=(), others=(), not_stdlib=WAITING - {"socket"}),
    "hawse.plain": Rule(ours=("hawse.plain",), others=(), not_stdlib=WAITING),
    "hawse.zstd": Rule(ours=("hawse.wire",), others=(), not_stdlib=WAITING),
    "hawse.link.keystrokes": Rule(ours=(), others=()),
    "hawse.link": Rule(ours=("hawse.wire", "hawse.link.keystrokes", "hawse.link"), others=()),
    "hawse_runtime": Rule(
        ours=(
            "hawse.wire",
            "hawse.api",
            "hawse.code_pool",
            "hawse.sparse_files",
            "hawse.link.keystrokes",
            "hawse.link",
            "hawse.logs",
            "hawse.weakref_support",
            "hawse.rpc",
            "hawse.link.sockets",
            "hawse.zstd",
            "hawse_runtime",
        ),
        exactly=("hawse",),  # its version
    ),
    "hawse_runtime.core": Rule(ours=("hawse.wire", "hawse_runtime.core"), exactly=("hawse.api.paths",)),
    "hawse_runtime.posix": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.link.keystrokes", "hawse.link.sockets", *GROUND)
    ),
    "hawse_runtime.journal": Rule(
        ours=(
            "hawse.link.keystrokes",
            "hawse.weakref_support",
            "hawse.wire",
            "hawse_runtime.core",
            "hawse_runtime.journal",
        )
    ),
    "hawse_runtime.rpc": Rule(ours=(*SERVED, "hawse_runtime.core", "hawse_runtime.rpc")),
    "hawse_runtime.files": Rule(
        ours=(*SERVED, *GROUND, "hawse.sparse_files", "hawse.zstd", "hawse_runtime.rpc", "hawse_runtime.files")
    ),
    "hawse_runtime.backup": Rule(
        ours=(*SERVED, *GROUND, "hawse.zstd", "hawse_runtime.rpc", "hawse_runtime.files", "hawse_runtime.backup")
    ),
    "hawse_runtime.git": Rule(ours=(*SERVED, *GROUND, "hawse_runtime.rpc", "hawse_runtime.git")),
    "hawse_runtime.watch": Rule(ours=(*SERVED, *GROUND, "hawse_runtime.rpc", "hawse_runtime.watch")),
    "hawse_runtime.ports": Rule(ours=(*SERVED, *GROUND, "hawse_runtime.rpc", "hawse_runtime.ports")),
    "hawse_runtime.process": Rule(
        ours=(*SERVED, *GROUND, "hawse_runtime.rpc", "hawse_runtime.journal", "hawse_runtime.process")
    ),
    "hawse_runtime.desktop": Rule(
        ours=(
            *(
                *SERVED,
                *GROUND,
                "hawse.link.sockets",
                "hawse_runtime.rpc",
                "hawse_runtime.journal",
                "hawse_runtime.people",
            ),
            *("hawse_runtime.process", "hawse_runtime.desktop"),
        ),
        others=("msgspec", "PIL"),
    ),
    "hawse_runtime.session": Rule(
        ours=(
            *SERVED,
            *GROUND,
            "hawse_runtime.rpc",
            "hawse_runtime.journal",
            "hawse_runtime.process",
            "hawse_runtime.session",
        )
    ),
    "hawse_runtime.code": Rule(
        ours=(
            *SERVED,
            *GROUND,
            "hawse_runtime.rpc",
            "hawse_runtime.journal",
            "hawse_runtime.process",
            "hawse_runtime.code",
            "hawse.code_pool",
        ),
        others=("msgspec",),  # what speaks with kernels is loaded by the host process only
        never=("hawse_runtime.code.host",),
    ),
    "hawse_runtime.code.host": Rule(
        ours=("hawse.logs", "hawse_runtime.code.host"),
        others=("msgspec", "jupyter_client", "jupyter_core", "uvloop", "zmq"),
        exactly=("hawse_runtime.code.host_protocol", "hawse_runtime.core.framing"),
    ),
    "hawse_runtime.recording": Rule(
        ours=(
            *(
                *SERVED,
                "hawse_runtime.core",
                "hawse_runtime.rpc",
                "hawse_runtime.files",
                "hawse_runtime.screen",
                "hawse_runtime.terminal",
            ),
            "hawse_runtime.desktop",
            "hawse_runtime.recording",
        )
    ),
    "hawse_runtime.screen": Rule(
        ours=("hawse.wire", "hawse.api", *GROUND, "hawse_runtime.journal", "hawse_runtime.screen"),
        never=("hawse_runtime.screen.emulator",),
    ),
    "hawse_runtime.screen.emulator": Rule(
        ours=("hawse.wire", "hawse.api", *GROUND, "hawse_runtime.journal", "hawse_runtime.screen")
    ),
    "hawse_runtime.people": Rule(
        ours=("hawse.wire", "hawse.api", "hawse.weakref_support", "hawse_runtime.core", "hawse_runtime.people")
    ),
    "hawse_runtime.terminal": Rule(
        ours=(
            *(
                "hawse.wire",
                "hawse.api",
                "hawse.rpc",
                *GROUND,
                "hawse_runtime.journal",
                "hawse_runtime.people",
                "hawse_runtime.rpc",
            ),
            *("hawse.weakref_support", "hawse_runtime.screen", "hawse_runtime.terminal"),
        )
    ),
    "hawse_gateway": Rule(
        ours=(
            *("hawse.wire", "hawse.api", "hawse.link.keystrokes", "hawse.link", "hawse.logs", "hawse.weakref_support"),
            *("hawse.rpc", "hawse.link.sockets", "hawse.zstd", "hawse_gateway"),
        ),
        exactly=("hawse", "hawse.build", "hawse.code_pool"),
    ),
    "hawse_gateway.core": gateway_rule("core", also=("hawse.logs", "hawse.wire")),
    "hawse_gateway.auth": gateway_rule("auth", "limits", "store", also=("hawse.wire", "hawse.api")),
    "hawse_gateway.auth.call_check": gateway_rule("auth", also=("hawse.wire", "hawse.api", "hawse.rpc.parameters")),
    "hawse_gateway.auth.methods": gateway_rule("auth", "limits", "store", also=SERVED),
    "hawse_gateway.limits": gateway_rule("limits", also=("hawse.wire", "hawse.api")),
    "hawse_gateway.limits.shared": gateway_rule("limits", "store", also=("hawse.wire", "hawse.api")),
    "hawse_gateway.audit": gateway_rule(
        *("audit", "limits"),
        also=SERVED,
        exactly=("hawse_gateway.upstream.observer",),  # what it implements
    ),
    "hawse_gateway.backups": gateway_rule(
        *("backups", "auth", "http", "limits", "store", "upstream"), also=SERVED, exactly=("hawse.zstd",)
    ),
    "hawse_gateway.mounts": gateway_rule(
        *("mounts", "providers", "sandboxes", "store"),
        also=SERVED,
        exactly=("hawse_gateway.limits.in_progress",),
    ),
    "hawse_gateway.tunnels": gateway_rule(
        *("tunnels", "sandboxes.records", "store", "transport.listener"), also=(*SERVED, "hawse.link.sockets")
    ),
    "hawse_gateway.transport": gateway_rule("transport"),
    "hawse_gateway.store": gateway_rule("store", also=("hawse.wire",)),
    "hawse_gateway.sandboxes": gateway_rule(
        *("sandboxes", "store", "providers"),
        also=SERVED,
        exactly=(
            *("hawse_gateway.egress.control", "hawse_gateway.egress.settings"),
            *("hawse_gateway.limits.in_progress", "hawse.code_pool"),
        ),
    ),
    "hawse_gateway.sandboxes.egress_methods": gateway_rule(
        *("auth", "egress", "limits.in_progress", "sandboxes", "upstream"), also=SERVED
    ),
    "hawse_gateway.egress": gateway_rule(
        *("egress",),
        also=("hawse.wire", "hawse.api", "hawse.link.sockets"),
        never=("hawse_gateway.egress.proxy_process",),
    ),
    "hawse_gateway.egress.proxy_process": gateway_rule(
        "egress", also=("hawse.wire", "hawse.api", "hawse.link.sockets")
    ),
    "hawse_gateway.providers": gateway_rule(
        *("providers", "egress"), also=("hawse.wire", "hawse.api", "hawse.logs", "hawse.link.sockets")
    ),
    "hawse_gateway.providers.methods": gateway_rule("providers", also=SERVED),
    "hawse_gateway.upstream": gateway_rule(
        *("upstream", "providers", "auth", "limits"),
        also=(*LINK, "hawse.link.keystrokes", "hawse.weakref_support", "hawse.rpc", "hawse.link.sockets"),
    ),
    "hawse_gateway.http": gateway_rule(
        *("http", "upstream", "auth", "limits"), also=(*LINK, SHARES), exactly=("hawse_gateway",)
    ),
    "hawse_gateway.sign_on": gateway_rule(
        *("sign_on", "auth", "http", "store"),
        also=("hawse.wire", "hawse.api"),
        exactly=("hawse_gateway.transport.proxy_user", "hawse_gateway.transport.settings"),
    ),
    "hawse_gateway.preview": gateway_rule(
        *("preview", "http", "upstream", "sandboxes", "auth", "limits", "transport", "tunnels"), also=LINK
    ),
    "hawse_gateway.preview.methods": gateway_rule("preview", also=SERVED),
    "hawse_gateway.connection": gateway_rule(
        *("connection", "http", "upstream", "auth", "limits", "transport"), also=(*LINK, SHARES)
    ),
    "hawse_gateway.connection.join": gateway_rule(
        *("connection", "http", "upstream", "auth", "limits", "transport"),
        also=(*LINK, SHARES),
        exactly=(
            *("hawse_gateway.providers.joined.machines", "hawse_gateway.providers.joined.provider"),
            "hawse_gateway.sandboxes.joining",
        ),
    ),
    "hawse_gateway.metrics": gateway_rule("metrics", "http", "upstream", "auth", also=LINK),
    "hawse_gateway.metrics.telemetry": gateway_rule(
        *("metrics", "http", "upstream", "auth"), also=LINK, exactly=("hawse_gateway",)
    ),
}


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name, and where."""

    target: str
    line: int
    lazy: bool  # inside a function, or under TYPE_CHECKING


def is_module(name: str) -> bool:
    top, *rest = name.split(".")
    path = PACKAGES[top].joinpath(*rest)
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
    if module.startswith("hawse_gateway.") and module.endswith(".feature") and module != "hawse_gateway.core.feature":
        return FEATURE  # it connects its package with others
    return RULES[max((package for package in RULES if within(module, (package,))), key=len)]


def breaches(module: str, source: str, *, is_package: bool = False) -> list[str]:
    package = module if is_package else module.rpartition(".")[0]
    rule = rule_for(module)
    return [
        f"{module}:{found.line} imports {found.target}: {reason}"
        for found in imports(source, package)
        if (reason := why_not(rule, found))
    ]


MODULES = sorted(modules())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_along_the_arrows(path: Path) -> None:
    found = breaches(name_of(path), path.read_text("utf-8"), is_package=path.name == "__init__.py")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        (
            "hawse.wire",
            "asyncio socket selectors ssl subprocess websockets hawse.client hawse.cli hawse_runtime hawse_gateway",
        ),
        ("hawse.client", "hawse.cli hawse_runtime hawse_gateway"),
        ("hawse_runtime", "hawse.client hawse.cli hawse_gateway"),
        ("hawse_gateway", "hawse.client hawse.cli hawse_runtime"),
    ],
)
def test_what_a_package_loads_agrees_with_what_it_says(package: str, unwanted: str) -> None:
    modules = [name_of(path) for path in MODULES if path.name != "__main__.py"]
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
    program = "import sys, hawse_gateway.server; print('redis' in sys.modules)"
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
        ("hawse.cli.commands.serve", "import hawse_gateway.app"),
        ("hawse", "from hawse.client import connect"),
        ("hawse_runtime.terminal.terminal", "if TYPE_CHECKING:\n    from hawse_gateway.app import App"),
        ("hawse_runtime.terminal.terminal", "import hawse"),
        ("hawse_runtime.code.executor", "import zmq"),
        ("hawse_runtime.code.methods", "def f():\n    from hawse_runtime.code.host.server import serve"),
        ("hawse_runtime.code.host.kernel", "from hawse_runtime.code.run import Run"),
        ("hawse_runtime.terminal.terminal", "from hawse import client"),
        ("hawse_gateway.app", "importlib.import_module('hawse_runtime.main')"),
        ("hawse_gateway.app", "import hawse_runtime"),
        ("hawse_gateway.http.sse", "from hawse_gateway.connection.endpoint import ConnectEndpoint"),
        ("hawse_gateway.providers.local", "from hawse_gateway.upstream.links import Links"),
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
        (
            "hawse.cli.commands.serve",
            "from hawse import __version__\ndef main():\n    from hawse_gateway.app import serve",
        ),
        ("hawse.cli.commands.serve", "def main():\n    importlib.import_module('hawse_runtime.main')"),
        ("hawse", "def __getattr__(name):\n    from hawse import client"),
        ("hawse_runtime.terminal.terminal", "import asyncio, pyghostty\nfrom hawse.wire import frames"),
        ("hawse_gateway.app", "import starlette, hawse.wire.frames\nfrom .links import Link"),
    ],
)
def test_an_import_along_the_arrows_passes(module: str, source: str) -> None:
    assert breaches(module, source, is_package=module == "hawse") == []
