"""Images, with a scripted engine: a real one would need a registry to pull from."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from hawse.wire import HawseError
from hawse_gateway.providers.base import Progress
from hawse_gateway.providers.docker.engine import Engine
from hawse_gateway.providers.docker.images import Images

PULLED = [
    {"status": "Pulling from library/x", "id": "1"},
    {"status": "Pulling fs layer", "id": "a"},
    {"status": "Pulling fs layer", "id": "b"},
    {"status": "Downloading", "id": "a", "progressDetail": {"current": 50, "total": 100}},
    {"status": "Extracting", "id": "a", "progressDetail": {"current": 50, "total": 100}},
    {"status": "Pull complete", "id": "a", "progressDetail": {}},
    {"status": "Already exists", "id": "b", "progressDetail": {}},
    {"status": "Status: Downloaded newer image"},
]

LISTED = [
    {"Id": "sha256:2", "RepoTags": ["y:latest", "y:1"], "Size": 2000, "Created": 1700000000},
    {"Id": "sha256:1", "RepoTags": ["<none>:<none>"], "Size": 1000, "Created": 1600000000},
    {"Id": "sha256:0", "RepoTags": None, "Size": 1000, "Created": 1600000000},
    {"Id": "sha256:3", "RepoTags": ["x:latest"], "Size": 3000, "Created": 1800000000},
]

Make = Callable[..., Any]


@pytest_asyncio.fixture
async def make_images(tmp_path: Path) -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        async def make(*, existing: tuple[str, ...] = (), answer: Any = PULLED, status: int = 200) -> Images:
            pulled: set[str] = set()

            async def version(request: web.Request) -> web.Response:
                return web.json_response({"ApiVersion": "1.41"})

            async def listed(request: web.Request) -> web.Response:
                return web.json_response(LISTED)

            async def delete(request: web.Request) -> web.Response:
                name = request.match_info["name"]
                code = 409 if name == "used" else 200 if name in existing else 404
                return web.json_response([] if code == 200 else {"message": "no"}, status=code)

            async def inspect(request: web.Request) -> web.Response:
                known = request.match_info["name"] in pulled.union(existing)
                return web.json_response({"Id": "1"} if known else {"message": "no"}, status=200 if known else 404)

            async def pull(request: web.Request) -> web.Response:
                if status != 200:
                    refusal = json.dumps(answer).encode()
                    return web.Response(body=refusal, status=status, headers={"Content-Type": "application/json"})
                pulled.add(request.query["fromImage"])
                return web.Response(text="\r\n".join(map(json.dumps, answer)), content_type="application/json")

            app = web.Application()
            app.router.add_get("/version", version)
            app.router.add_get("/{version}/images/json", listed)
            app.router.add_get("/{version}/images/{name:.+}/json", inspect)
            app.router.add_delete("/{version}/images/{name:.+}", delete)
            app.router.add_post("/{version}/images/create", pull)
            runner = web.AppRunner(app)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.UnixSite(runner, str(tmp_path / "engine.sock")).start()
            engine = Engine(f"unix://{tmp_path}/engine.sock")
            stack.push_async_callback(engine.close)
            return Images(engine)

        yield make


async def test_an_image_that_exists_is_not_pulled(make_images: Make) -> None:
    images = await make_images(existing=("x",))
    reports: list[Progress] = []
    await images.ensure("x", reports.append)
    assert reports == []


async def test_a_pull_reports_its_progress_up_to_completion(make_images: Make) -> None:
    images = await make_images()
    reports: list[Progress] = []
    await images.ensure("x", reports.append)
    done = [report.done for report in reports]
    assert done == sorted(done, key=lambda part: part or 0.0)
    assert (done[0], done[-1]) == (0.0, 1.0)
    assert 0.375 in done  # one of two layers is unpacked to the half
    assert {report.phase for report in reports} == {"pulling"}


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ([{"errorDetail": {"message": "manifest unknown"}, "error": "manifest unknown"}], 200),
        ({"message": "manifest unknown"}, 404),
    ],
)
async def test_an_image_that_the_registry_does_not_have_is_a_wrong_parameter(
    make_images: Make, answer: Any, status: int
) -> None:
    images = await make_images(answer=answer, status=status)
    with pytest.raises(HawseError, match="cannot pull image x: manifest unknown") as caught:
        await images.ensure("x", lambda progress: None)
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.image"})


async def test_an_engine_that_fails_is_unavailable(make_images: Make) -> None:
    images = await make_images(answer={"message": "disk full"}, status=500)
    with pytest.raises(HawseError, match="disk full") as caught:
        await images.ensure("x", lambda progress: None)
    assert caught.value.code == "unavailable"


async def test_a_pulled_image_is_returned(make_images: Make) -> None:
    images = await make_images(existing=("x",))
    assert (await images.pull("x", lambda progress: None)).id == "1"


async def test_images_with_a_name_are_listed(make_images: Make) -> None:
    images = await make_images()
    assert [(each.id, each.names, each.size) for each in await images.list()] == [
        ("sha256:3", ["x:latest"], 3000),
        ("sha256:2", ["y:latest", "y:1"], 2000),
    ]


@pytest.mark.parametrize(("name", "code"), [("missing", "not_found"), ("used", "conflict")])
async def test_an_image_that_cannot_be_removed_is_a_typed_error(make_images: Make, name: str, code: str) -> None:
    images = await make_images(existing=("x",))
    await images.remove("x")
    with pytest.raises(HawseError) as caught:
        await images.remove(name)
    assert caught.value.code == code
