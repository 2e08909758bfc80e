"""The tools of a sandbox for any framework."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

import hawse
from hawse.adapters.tools import bound_tools
from hawse.client import Sandbox
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def box(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    async with (
        Stack(tmp_path_factory.mktemp("g") / "state") as stack,
        hawse.connect(stack.base, token=stack.token) as client,
    ):
        yield client.sandbox()


async def test_a_tool_has_a_schema_and_works_in_its_sandbox(box: Sandbox) -> None:
    (run,) = bound_tools(box, ["exec"])
    assert (run.name, run.safe, run.schema["required"]) == ("exec", False, ["command"])
    assert run.description.startswith("Run a shell command")
    answer = await run.call({"command": "echo $((6 * 7))"})
    assert (answer.text, answer.failed) == ("42\n[exit code 0]", False)


async def test_what_fails_is_an_answer_that_a_model_can_read(box: Sandbox) -> None:
    (read,) = bound_tools(box, ["file_read"])
    assert (read.safe, (await read.call({"path": "missing"})).text) == (
        True,
        "not_found: missing: No such file or directory",
    )
    wrong = await read.call({"path": 7})
    assert (wrong.failed, wrong.text) == (True, "invalid arguments: Expected `str`, got `int` - at `$.path`")


async def test_a_long_answer_is_cut_in_its_middle(box: Sandbox) -> None:
    (run,) = bound_tools(box, ["exec"], limit=2000)
    answer = await run.call({"command": "seq 100000"})
    assert answer.text.startswith("1\n2\n")
    assert "bytes are omitted here" in answer.text
    assert len(answer.text) < 3000


async def test_all_tools_are_bound_unless_names_are_given(box: Sandbox) -> None:
    names = {tool.name for tool in bound_tools(box)}
    assert {"exec", "session_exec", "file_edit", "terminal_open", "code_run"} <= names
    with pytest.raises(ValueError, match=r"no tool 'nope'; the tools are backup_create, .*code_"):
        bound_tools(box, ["nope"])
