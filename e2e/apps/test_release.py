"""The distributions as users get them: installed in an empty environment, by pip's rules, uvx and pipx."""

import asyncio
import email
import json
import os
import pwd
import re
import signal
import sys
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

import hawse
from e2e.apps.conftest import PYTHON, ROOT
from tests.support import running
from tests.support.documentation import PAGES, blocks, requirements, run_page
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
TIMEOUT = 240.0  # s for one step: an installer downloads what its cache lacks
UV = PYTHON.with_name("uv")
CLIENT = ("click", "markdown-it-py", "mdurl", "msgspec", "pygments", "rich", "websockets")  # what the client needs


def installer_environment() -> dict[str, str]:
    """The environment of the user who runs the tests: its package index and its cache, and no setting of ours.

    The tests have a HOME of their own (tests/support/isolation.py), which has neither.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HAWSE_", "PYTHON"))}
    return kept | {"HOME": pwd.getpwuid(os.getuid()).pw_dir}


async def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a program in the environment of an installer; it has to exit with 0. Return its standard output."""
    return await running.run(*command, cwd=cwd, env={**installer_environment(), **(env or {})}, timeout=TIMEOUT)


@dataclass(frozen=True)
class Distributions:
    """What `make build` writes into dist/."""

    sdist: Path
    wheel: Path


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist of this checkout, and the wheel that is built from that sdist alone."""
    folder = tmp_path_factory.mktemp("dist")
    await run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Distributions(sdist, wheel)


async def install(folder: Path, *requirements: str | Path) -> Path:
    """Install in a new environment; return its folder of programs."""
    await run(UV, "venv", "-q", "--python", sys.executable, folder / "venv", cwd=folder)
    programs = folder / "venv" / "bin"
    await run(UV, "pip", "install", "-q", "--python", programs / "python", *requirements, cwd=folder)
    return programs


@asynccontextmanager
async def served(programs: Path, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """`hawse serve` of an installation, and a client with its token. It ends by SIGTERM, with the exit code 0."""
    process = await asyncio.create_subprocess_exec(
        programs / "hawse",
        *("serve", "--port", "0", "--state", folder / "state", "--isolation", "none"),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        base, token = "", ""
        async with asyncio.timeout(60):
            while not base:
                line = (await process.stdout.readline()).decode()
                assert line, "the gateway has ended"
                if found := re.search(r"(http://\S+)/#token=(\S+)", line):
                    base, token = found.groups()
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False, timeout=60) as http:
            yield http
            await http.post("/v1/sandbox.delete", json={"id": "local"})
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            await process.communicate()
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_wheel_serves_from_an_empty_environment_and_all_its_parts_have_one_version(
    built: Distributions, tmp_path: Path
) -> None:
    programs = await install(tmp_path, f"hawse[server] @ {built.wheel.as_uri()}")
    assert await run(programs / "hawse", "--version", cwd=tmp_path) == f"hawse {hawse.__version__} (pure)\n"
    show = "import importlib.metadata, hawse; print(hawse.__version__, importlib.metadata.version('hawse'))"
    assert (await run(programs / "python", "-c", show, cwd=tmp_path)).split() == [hawse.__version__] * 2

    async with served(programs, tmp_path) as http:
        page = (await http.get("/")).text
        script = re.search(r'src="([^"]+\.js)"', page)
        assert script is not None
        assert (await http.get(script[1].removeprefix("."))).is_success
        ran = (await http.post("/v1/sandboxes/local/exec", json={"command": "echo $((6 * 7))"})).json()
        assert (ran["code"], ran["stdout"]) == (0, "42\n")
        code = (await http.post("/v1/sandboxes/local/code.run", json={"source": "print(6 * 7)"})).text
        assert "42" in code

        versions = {
            "health": (await http.get("/healthz")).json()["version"],
            "openapi": (await http.get("/v1/openapi.json")).json()["info"]["version"],
            "runtime": (await http.post("/v1/sandboxes/local/runtime.info")).json()["version"],
        }
        metrics = re.findall(r'^hawse_info\{version="([^"]+)"\}', (await http.get("/metrics")).text, re.M)
        assert {*versions.values(), *metrics} == {hawse.__version__}, versions


async def test_the_sdist_installs_with_every_extra_and_finds_its_modules(built: Distributions, tmp_path: Path) -> None:
    programs = await install(tmp_path, f"hawse[docker,oidc,otel,mcp] @ {built.sdist.as_uri()}")
    modules = "hawse_gateway.providers.docker, hawse_gateway.sign_on.oidc, hawse_gateway.metrics.telemetry"
    modules += ", hawse.mcp.server, hawse.sync"
    await run(programs / "python", "-c", f"import {modules}", cwd=tmp_path)
    assert "Usage: hawse mcp" in await run(programs / "hawse", "mcp", "--help", cwd=tmp_path)


async def test_the_client_alone_is_small_and_works_without_the_server(
    built: Distributions, stack: Stack, tmp_path: Path
) -> None:
    programs = await install(tmp_path, built.wheel)
    listed = await run(UV, "pip", "list", "--python", programs / "python", "--format", "json", cwd=tmp_path)
    assert {package["name"] for package in json.loads(listed)} == {"hawse", *CLIENT}
    environment = {"HAWSE_URL": stack.base, "HAWSE_TOKEN": stack.token}
    assert await run(programs / "hawse", "exec", "--", "echo", "here", cwd=tmp_path, env=environment) == "here\n"
    refused = await asyncio.create_subprocess_exec(programs / "hawse", "serve", stderr=asyncio.subprocess.PIPE)
    _, message = await refused.communicate()
    assert refused.returncode == 1
    assert b"pip install 'hawse[server]'" in message


async def test_the_description_of_the_package_links_to_the_site_only(built: Distributions) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_string(wheel.read(name).decode())
    targets = re.findall(r"\]\(([^)]*)\)", str(metadata.get_payload()))
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    assert [line for line in metadata.get_all("Project-URL", []) if line.startswith("Homepage, https://")]


@pytest.mark.parametrize("platform", ["win_amd64", "macosx_11_0_arm64", "manylinux_2_28_x86_64"])
async def test_the_client_installs_from_wheels_on_each_system(
    platform: str, built: Distributions, tmp_path: Path
) -> None:
    wheels = ("--only-binary=:all:", "--platform", platform, "--python-version", "3.11", "--dest", "wheels")
    await run(PYTHON, "-m", "pip", "download", "-q", *wheels, built.wheel, cwd=tmp_path)
    found = {path.name.partition("-")[0].lower().replace("_", "-") for path in (tmp_path / "wheels").iterdir()}
    assert found == {"hawse", *CLIENT}


async def test_uvx_runs_the_command_without_an_installation(built: Distributions, tmp_path: Path) -> None:
    printed = await run(UV, "tool", "run", "--from", built.wheel, "hawse", "--version", cwd=tmp_path)
    assert printed == f"hawse {hawse.__version__} (pure)\n"


async def test_pipx_installs_the_command(built: Distributions, tmp_path: Path) -> None:
    folders = {f"PIPX_{name}": str(tmp_path / name) for name in ("HOME", "BIN_DIR", "MAN_DIR")}
    await run(PYTHON, "-m", "pipx", "install", "--python", sys.executable, built.wheel, cwd=tmp_path, env=folders)
    assert await run(tmp_path / "BIN_DIR" / "hawse", "--version", cwd=tmp_path) == f"hawse {hawse.__version__} (pure)\n"


class Installations:
    """Environments with hawse and further packages, each installed once."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self._wheel = wheel
        self._folder = folder
        self._programs: dict[tuple[str, ...], Path] = {}

    async def programs(self, packages: Sequence[str]) -> Path:
        """Return the folder of programs of an environment.

        Args:
            packages: Names of the packages to install. `hawse`, with or without extras, is installed from the wheel.
        """
        names = tuple(
            re.sub(r"^(hawse(?:\[.*\])?)$", rf"\1 @ {self._wheel.as_uri()}", package)
            for package in ("hawse[server]", *packages)
        )
        if names not in self._programs:
            folder = self._folder / str(len(self._programs))
            folder.mkdir()
            self._programs[names] = await install(folder, *names)
        return self._programs[names]


@pytest.fixture(scope="session")
def installations(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installations:
    return Installations(built.wheel, tmp_path_factory.mktemp("installations"))


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page))], ids=lambda page: page.stem)
async def test_the_programs_of_a_page_need_only_the_packages_that_it_says_to_install(
    page: Path, installations: Installations, tmp_path: Path
) -> None:
    programs = await installations.programs(requirements(page))
    async with served(programs, tmp_path) as http:
        token = http.headers["Authorization"].removeprefix("Bearer ")
        folder = tmp_path / "page"
        folder.mkdir()
        env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "HAWSE_URL": f"{str(http.base_url).rstrip('/')}/#token={token}",
            "PYTHONPATH": str(folder),
            "NO_PROXY": "*",
        }
        await run_page(page, folder, programs / "python", env)
