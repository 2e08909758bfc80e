"""A coding agent: a model calls tools that work in a sandbox: python coding_agent.py 'http://127.0.0.1:8080/#token=…'

The model is a script here, so the program runs without an account. Replace `next_step` with a call to your model, and
pass it the messages and the name, description and schema of each tool.
"""

import sys
from collections.abc import Sequence
from typing import Any

import hawse
from hawse.adapters.tools import BoundTool, bound_tools

TOOLS = ["exec", "file_read", "file_write", "file_edit", "file_search"]
WRONG = (
    "def area(width, height):\n    return width + height\n\n\nassert area(6, 7) == 42, area(6, 7)\nprint('passed')\n"
)
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("file_write", {"path": "shapes/area.py", "content": WRONG}),
    ("exec", {"command": "python3 shapes/area.py"}),
    ("file_search", {"pattern": "return", "path": "shapes"}),
    ("file_edit", {"path": "shapes/area.py", "old": "width + height", "new": "width * height"}),
    ("exec", {"command": "python3 shapes/area.py"}),
]


async def next_step(tools: Sequence[BoundTool], messages: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of the next tool, or None if the task is done."""
    done = len(messages) - 1
    return SCRIPT[done] if done < len(SCRIPT) else None


async def main(address: str) -> None:
    # The sandbox is deleted at the end, with everything in it.
    async with hawse.connect(address) as client, client.sandboxes.create(labels={"task": "area"}) as box:
        tools = bound_tools(box, TOOLS, limit=4000)  # bytes of output; the middle of longer output is removed
        by_name = {tool.name: tool for tool in tools}
        messages = ["Make the assertion in shapes/area.py hold."]
        while step := await next_step(tools, messages):
            name, arguments = step
            answer = await by_name[name].call(arguments)  # the model reads failures as well
            messages.append(answer.text)
            print(f"{name}: {answer.text.splitlines()[-1]}")


hawse.run(main(sys.argv[1]))
