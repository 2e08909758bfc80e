"""Clients that three generators create from `GET /v1/openapi.json` compile and call a live gateway."""

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.apps.conftest import NODE_MODULES, PYTHON, SOURCES
from hawse_gateway.http import openapi
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
SDK_PLUGINS = ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"]
TIMEOUT = 200.0  # s for a generator or a compiler on a busy machine; each needs about 10 s of processor time
COMPILER = (
    "--module nodenext --target es2022 --lib es2022,dom,dom.iterable --strict --skipLibCheck --types node".split()
)


async def run(*command: str | Path, cwd: Path, status: int = 0, env: Mapping[str, str] | None = None) -> str:
    """Run a program; return what it printed. It has to exit with `status`. `env` is added to its environment."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        env=None if env is None else {**os.environ, **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = printed.decode()
    assert process.returncode == status, text
    return text


@pytest.fixture
def document(tmp_path: Path) -> str:
    """The path of the description of the HTTP API."""
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(openapi.document()))
    return str(path)


@pytest.fixture
def node_project(tmp_path: Path) -> Path:
    folder = tmp_path / "node"
    folder.mkdir()
    (folder / "node_modules").symlink_to(NODE_MODULES)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


async def test_openapi_python_client(stack: Stack, document: str, tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    generator = [str(PYTHON.with_name("openapi-python-client")), "generate", "--path", document, "--fail-on-warning"]
    options = ["--meta", "none", "--config", "config.yml", "--output-path", "hawse_api"]
    await run(*generator, *options, cwd=tmp_path)
    shutil.copy(SOURCES / "use_python_client.py", tmp_path)
    assert await run(PYTHON, "use_python_client.py", stack.base, stack.token, cwd=tmp_path) == "done\n"


async def test_openapi_typescript_with_openapi_fetch(stack: Stack, document: str, node_project: Path) -> None:
    shutil.copy(SOURCES / "use_fetch_client.ts", node_project)
    bin = NODE_MODULES / ".bin"
    # Otherwise parameters with a default would be required.
    options = ["-o", "schema.ts", "--default-non-nullable", "false"]
    await run("node", bin / "openapi-typescript", document, *options, cwd=node_project)
    await run("node", bin / "tsc", *COMPILER, "use_fetch_client.ts", cwd=node_project)
    assert await run("node", "use_fetch_client.js", stack.base, stack.token, cwd=node_project) == "done\n"


async def test_hey_api_openapi_ts(stack: Stack, document: str, node_project: Path) -> None:
    shutil.copy(SOURCES / "use_sdk_client.ts", node_project)
    bin = NODE_MODULES / ".bin"
    config = {"input": document, "output": {"path": "sdk", "importFileExtension": ".js"}, "plugins": SDK_PLUGINS}
    (node_project / "openapi-ts.config.js").write_text(f"export default {json.dumps(config)};\n")
    await run("node", bin / "openapi-ts", "-f", "openapi-ts.config.js", cwd=node_project)
    await run("node", bin / "tsc", *COMPILER, "use_sdk_client.ts", cwd=node_project)
    assert await run("node", "use_sdk_client.js", stack.base, stack.token, cwd=node_project) == "done\n"
