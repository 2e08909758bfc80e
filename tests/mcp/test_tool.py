import json

import jsonschema
import msgspec
import pytest

from hawse.client import Sandbox
from hawse.mcp.server import all_tools
from hawse.mcp.tool import TOOLS, ToolCall


@pytest.mark.parametrize("tool", all_tools(every_method=True).values(), ids=lambda tool: tool.name)
def test_each_tool_has_a_schema_and_says_what_its_arguments_are(tool) -> None:
    schema = tool.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "(?!" not in json.dumps(schema), "some models cannot read such a pattern"
    assert tool.description
    assert all(field["description"] for field in schema["properties"].values())


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$.timeout"):
        TOOLS["exec"].decode({"command": "ls", "timeout": -1})
    with pytest.raises(msgspec.ValidationError, match="cmd"):
        TOOLS["exec"].decode({"cmd": "ls"})
    with pytest.raises(msgspec.ValidationError, match=r"`log`; the arguments of process_wait are: id, "):
        TOOLS["process_wait"].decode({"id": "web", "log": "ready"})


@pytest.mark.asyncio(loop_scope="session")
async def test_progress_is_reported_at_most_once_a_second(box: Sandbox) -> None:
    reports = []

    async def report(done: float, text: str) -> None:
        reports.append((done, text))

    call = ToolCall(box, report=report)
    for n in range(100):
        await call.progress(n, f"first\nline {n}\n")
    assert reports[0] == (0, "line 0")
    assert len(reports) < 10
