"""An agent of pydantic-ai with a model that follows a script."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

import hawse
from hawse.adapters.pydantic_ai import toolset

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = f"import base64; from IPython.display import Image; Image(base64.b64decode('{PNG}'), format='png')"
STEPS = iter([
    ToolCallPart("file_write", {"path": "work/program.py", "content": "print(6 * 7)\n"}),
    ToolCallPart("exec", {"command": "python3 work/program.py"}),
    ToolCallPart("exec", {"command": 7}),
    ToolCallPart("file_read", {"path": "missing"}),
    ToolCallPart("code_run", {"source": PICTURE}),
    TextPart("done"),
])  # fmt: skip


async def follow(messages, info):
    assert {"exec", "file_write", "terminal_open"} <= {tool.name for tool in info.function_tools}
    return ModelResponse([next(STEPS)])


async def main(address):
    async with hawse.connect(address) as hw:
        agent = Agent(FunctionModel(follow), toolsets=[toolset(hw.sandbox())])
        result = await agent.run("Write a program that prints 42.")
        for message in result.all_messages():
            for part in message.parts:
                if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
                    print([content.media_type for content in part.content])
                if isinstance(part, ToolReturnPart):
                    print(part.tool_name, part.outcome, repr(part.model_response_str())[:300])
        print(result.output)


asyncio.run(main(sys.argv[1]))
