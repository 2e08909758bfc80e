"""An evaluation of Inspect with a model that follows a script, and Inspect's own checks of a sandbox provider."""

import asyncio
import os
import sys
import traceback

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash, python
from inspect_ai.util import sandbox
from inspect_ai.util._sandbox import self_check

import hawse.adapters.inspect_ai as adapter

# What a sandbox of hawse does not have: other users, files that its own user may not use (the tests run as root), and
# commands of more than 1 MiB, the size of a message.
NOT_SUPPORTED = {
    "test_exec_large_command",
    "test_exec_as_user",
    "test_exec_as_nonexistent_user",
    "test_read_file_not_allowed",
    "test_write_text_file_without_permissions",
    "test_write_binary_file_without_permissions",
}


@scorer(metrics=[accuracy()])
def answer_file():
    async def score(state, target):
        answer = await sandbox().read_file("answer.txt")
        return Score(value="C" if answer.strip() == target.text else "I", answer=answer)

    return score


def evaluate():
    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "cat question.txt; echo 41 > answer.txt"}),
        ModelOutput.for_tool_call("mockllm/model", "python", {"code": "open('answer.txt', 'w').write(str(6 * 7))"}),
        ModelOutput.from_content("mockllm/model", "done"),
    ]
    for output in outputs:  # otherwise Inspect counts tokens with a vocabulary that it downloads
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = Task(
        dataset=[Sample(input="Compute it.", target="42", files={"question.txt": "What is 6 * 7?"})],
        solver=[use_tools([bash(timeout=30), python(timeout=30)]), generate()],
        scorer=answer_file(),
        sandbox="hawse",
    )
    (log,) = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), display="none", log_dir="logs")
    print(log.status, log.error and log.error.message, log.results and log.results.scores[0].metrics["accuracy"].value)
    print([message.text for message in log.samples[0].messages if message.role == "tool"] if log.samples else "")


async def check():
    environments = await adapter.HawseSandbox.sample_init("check", None, {})
    failed = []
    try:
        for name, function in vars(self_check).items():
            if name.startswith("test_") and name not in NOT_SUPPORTED:
                try:
                    await function(environments["default"])
                except Exception:
                    failed.append(name)
                    traceback.print_exc(file=sys.stdout)
    finally:
        await adapter.HawseSandbox.sample_cleanup("check", None, environments, False)
    print("failed:", failed)


os.environ["HAWSE_URL"] = sys.argv[1]
evaluate()
asyncio.run(check())
