"""An agent of the OpenAI Agents SDK with a model that follows a script: it writes, runs and repairs a program."""

import asyncio
import sys

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseApplyPatchToolCall, ResponseFunctionShellToolCall

import hawse
from hawse.adapters.openai_agents import editor_tool, function_tools, shell_tool

CREATE = "+def double(n):\n+    return n + 2\n+\n+print(double(21))\n"
REPAIR = "@@\n def double(n):\n-    return n + 2\n+    return n * 2\n"


def patch(number, operation):
    return ResponseApplyPatchToolCall(
        id=f"p{number}", call_id=f"p{number}", type="apply_patch_call", status="completed", operation=operation
    )


def shell(number, *commands):
    action = {"commands": list(commands), "timeout_ms": 20_000}
    return ResponseFunctionShellToolCall(
        id=f"s{number}", call_id=f"s{number}", type="shell_call", status="completed", action=action
    )


STEPS = [
    [patch(1, {"type": "create_file", "path": "work/double.py", "diff": CREATE})],
    [patch(2, {"type": "create_file", "path": "work/double.py", "diff": CREATE})],  # fails: it exists
    [shell(1, "python3 work/double.py", "exit 3")],
    [patch(3, {"type": "update_file", "path": "work/double.py", "diff": REPAIR})],
    [shell(2, "python3 work/double.py")],
    [function_call("exec", {"command": "echo $((40 + 2)) > answer; cat answer"}, call_id="f1")],
    [function_call("file_read", {"path": "missing"}, call_id="f2")],
    [patch(4, {"type": "delete_file", "path": "answer"})],
    [assistant_message("done")],
]


async def main(address):
    async with hawse.connect(address) as hw:
        box = hw.sandbox()
        tools = [shell_tool(box), editor_tool(box), *function_tools(box, ["exec", "file_read"])]
        agent = Agent(name="engineer", model=ScriptedModel([{"output": step} for step in STEPS]), tools=tools)
        result = await Runner.run(
            agent, "Write a program that prints 42.", max_turns=20, run_config=RunConfig(tracing_disabled=True)
        )
        for item in result.new_items:
            if item.type == "tool_call_output_item":
                print(repr(str(item.output)))
        print(result.final_output)


asyncio.run(main(sys.argv[1]))
