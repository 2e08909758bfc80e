"""An agent of deepagents (LangGraph) with a model that follows a script."""

import sys

from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage

import hawse.sync
from hawse.adapters.deepagents import Backend


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def call(number, name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}])


def main(address):
    with hawse.sync.connect(address) as hw:
        box = hw.sandbox()
        folder = box.exec("mkdir -p work; cd work; pwd", check=True).text.strip()
        program = f"{folder}/program.py"
        steps = [
            call(1, "write_file", file_path=program, content="print(6 * 6)\n"),
            call(2, "edit_file", file_path=program, old_string="6 * 6", new_string="6 * 7"),
            call(3, "execute", command=f"python3 {program}; exit 3"),
            call(4, "read_file", file_path=program),
            call(5, "grep", pattern="print", path=folder, output_mode="content"),
            call(6, "glob", pattern="*.py", path=folder),
            call(7, "ls", path=folder),
            call(8, "read_file", file_path=f"{folder}/missing"),
            AIMessage("done"),
        ]
        backend = Backend(box)
        agent = create_deep_agent(model=Scripted(messages=iter(steps)), backend=backend)
        result = agent.invoke({"messages": [("user", "Write a program that prints 42.")]})
        for message in result["messages"]:
            if isinstance(message, ToolMessage):
                print(message.name, repr(message.content.replace(folder, "FOLDER"))[:300])
        print(result["messages"][-1].content)

        print(backend.execute("sleep 60", timeout=1).output.strip())
        uploads = backend.upload_files([(f"{folder}/a", b"\0"), (folder, b"")])
        print([answer.error for answer in uploads])
        print([(answer.content, answer.error) for answer in backend.download_files([f"{folder}/a", "/missing"])])


main(sys.argv[1])
