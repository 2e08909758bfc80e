"""The npm package `hawse`, installed from its tarball: in a Vite project of another origin, and in Node."""

import asyncio
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from e2e.apps.conftest import NODE_MODULES, ROOT, SOURCES, STEP
from e2e.apps.test_openapi_clients import COMPILER, TIMEOUT, run
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
_SHOWN = """([name, text]) => {
  const terminal = name === "element" ? document.querySelector("hawse-terminal").terminal : window.embedded;
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true))
    .join("\\n").includes(text);
}"""


def npm(*arguments: str | Path, cwd: Path) -> None:
    """Run the npm of the node that the tests use, which is not on their PATH."""
    node = shutil.which("node")
    assert node is not None
    script = Path(node).resolve().with_name("npm").resolve()
    done = subprocess.run(
        [node, script, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as `npm publish` would send it."""
    folder = tmp_path_factory.mktemp("package")
    npm("pack", "--pack-destination", folder, cwd=ROOT / "web")
    return next(folder.glob("hawse-*.tgz"))


@pytest.fixture
def project(tarball: Path) -> Iterator[Path]:
    """A project that has installed the package. It finds its other packages in the folder above it."""
    with tempfile.TemporaryDirectory(dir=NODE_MODULES.parent, prefix="npm-") as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"name": "blank", "private": true, "type": "module"}')
        npm("install", "--offline", "--no-audit", "--no-fund", tarball, cwd=folder)
        yield folder


async def test_the_package_contains_its_license_and_a_readme_that_stands_alone(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        texts = {}
        for name in ("LICENSE", "README.md"):
            file = archive.extractfile(f"package/{name}")
            assert file is not None
            texts[name] = file.read().decode()
    assert texts["LICENSE"] == (ROOT / "LICENSE").read_text("utf-8")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", texts["README.md"]) if not link.startswith("https://")] == []


async def test_the_package_works_in_a_vite_project_of_another_origin(project: Path, page: Page, tmp_path: Path) -> None:
    shutil.copytree(SOURCES / "vite", project, dirs_exist_ok=True)
    vite: list[str | Path] = ["node", NODE_MODULES / "vite" / "bin" / "vite.js"]
    await run(*vite, "build", cwd=project)
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    command = [*map(str, vite), "preview", "--host", "127.0.0.1", "--port", str(port), "--strictPort"]
    server = await asyncio.create_subprocess_exec(
        *command, cwd=project, stdout=PIPE, env={**os.environ, "NO_COLOR": "1"}
    )
    try:
        async with Stack(tmp_path / "state", "--allow-origin", origin) as stack:
            await printed(server, f"{origin}/")
            await page.goto(f"{origin}/#base={stack.base}/&token={stack.token}")
            await expect(page.locator("#exec")).to_have_text("42", timeout=STEP)
            await expect(page.locator("#file")).to_have_text("written across origins", timeout=STEP)
            await page.locator("#terminal textarea").focus()
            await page.keyboard.type("echo type''d\n")
            for name in ("addon", "element"):  # both show the same terminal
                await page.wait_for_function(_SHOWN, arg=[name, "typed"], timeout=STEP)
            await page.evaluate("document.querySelector('hawse-terminal').remove()")
    finally:
        server.kill()
        await server.wait()


async def printed(server: Process, text: str) -> None:
    """Wait until the server has printed a line that contains `text`: it prints its address when it listens."""
    assert server.stdout is not None
    lines = []
    async with asyncio.timeout(STEP / 1000):
        async for line in server.stdout:
            lines.append(line.decode())
            if text in lines[-1]:
                return
    raise AssertionError("".join(lines))


@pytest.fixture
def bare_project(tarball: Path, tmp_path: Path) -> Path:
    """A project for Node that has installed the package and `ws`, and has neither xterm.js nor the types of a DOM."""
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "bare", "private": true, "type": "module"}')
    npm("install", "--offline", "--no-audit", "--no-fund", tarball, cwd=folder)
    (folder / "node_modules" / "@types").mkdir()
    for name in ("ws", "@types/ws", "@types/node"):
        (folder / "node_modules" / name).symlink_to(NODE_MODULES / name)
    return folder


async def compile_strictly(*files: str, cwd: Path, module: str = "nodenext") -> None:
    """Compile for Node, with the declarations of all packages checked."""
    options = (
        f"--module {module} --target es2022 --lib es2023 --strict --exactOptionalPropertyTypes --types node".split()
    )
    await run("node", NODE_MODULES / "typescript" / "bin" / "tsc", *options, "--skipLibCheck", "false", *files, cwd=cwd)


async def test_the_package_works_in_node_and_its_types_without_xterm(stack: Stack, bare_project: Path) -> None:
    shutil.copy(SOURCES / "use_npm_package.ts", bare_project)
    await compile_strictly("use_npm_package.ts", cwd=bare_project)
    assert await run("node", "use_npm_package.js", stack.base, stack.token, cwd=bare_project) == "done\n"


async def test_every_call_ends_however_a_gateway_refuses_it(bare_project: Path) -> None:
    shutil.copy(SOURCES / "use_npm_refusals.ts", bare_project)
    await compile_strictly("use_npm_refusals.ts", cwd=bare_project)
    assert await run("node", "use_npm_refusals.js", cwd=bare_project) == "done\n"


async def test_a_program_ends_with_the_error_if_it_does_not_handle_it(stack: Stack, bare_project: Path) -> None:
    source = """import { HawseClient } from "hawse";
const [, , base, token] = process.argv;
const WebSocket = process.argv[4] && (await import("ws")).default;
const openSocket = WebSocket && ((url, protocol) => new WebSocket(url, protocol));
const client = new HawseClient({ base, token, openSocket, connectTimeout: 1 });
client.connect();
await client.sandbox("local").exec("true");
client.close();
"""
    (bare_project / "program.mjs").write_text(source)

    async def printed(*arguments: str) -> str:
        return await run("node", "program.mjs", *arguments, cwd=bare_project, status=1)

    assert "code: 'unauthenticated'" in await printed(stack.base, "wrong", "ws")
    assert "no connection within 1 s" in await printed(f"http://127.0.0.1:{free_port()}", "x", "ws")
    assert "MisuseError: this runtime has no WebSocket: pass `openSocket`" in await printed(stack.base, stack.token)


async def test_the_package_is_found_by_each_way_to_import_it(bare_project: Path) -> None:
    (bare_project / "module.mts").write_text('import { HawseClient } from "hawse";\nconsole.log(typeof HawseClient);\n')
    (bare_project / "common.cts").write_text('import { HawseClient } from "hawse";\nconsole.log(typeof HawseClient);\n')
    await compile_strictly("module.mts", "common.cts", cwd=bare_project)
    for name in ("module.mjs", "common.cjs"):
        assert await run("node", "--no-warnings", name, cwd=bare_project) == "function\n"
    await compile_strictly("module.mts", "--moduleResolution", "bundler", "--noEmit", cwd=bare_project, module="esnext")


def snippets() -> list[str]:
    text = (ROOT / "web" / "README.md").read_text("utf-8")
    return re.findall(r"^```ts\n(.*?)^```", text, re.S | re.M)


async def test_the_first_snippet_of_the_readme_runs_as_it_is(stack: Stack, bare_project: Path) -> None:
    (bare_project / "quickstart.ts").write_text(snippets()[0])
    await compile_strictly("quickstart.ts", cwd=bare_project)
    environment = {"HAWSE_URL": stack.base, "HAWSE_TOKEN": stack.token}
    printed = await run("node", "quickstart.js", cwd=bare_project, env=environment)
    assert printed == "0 42\nhello\nok out [0, 1, 4, 9]\n"


async def test_the_snippets_of_the_readme_have_the_types_of_the_package(project: Path) -> None:
    declared = """
declare const client: import("hawse").HawseClient;
declare const token: string;
declare const element: HTMLElement;
declare const file: Uint8Array;
declare const box: ReturnType<typeof client.sandbox>;
declare function ask(question: string | null | undefined): Promise<string>;
"""
    (project / "page.d.ts").write_text(declared)
    modules = [f"snippet-{number}.ts" for number in range(4)]
    for name, snippet in zip(modules, snippets(), strict=True):
        (project / name).write_text(f"{snippet}\nexport {{}};\n")
    await run("node", NODE_MODULES / ".bin" / "tsc", *COMPILER, "--noEmit", "page.d.ts", *modules, cwd=project)
