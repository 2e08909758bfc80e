"""A person and an agent share a terminal: python shared_terminal.py 'http://127.0.0.1:8080/#token=…'

Open the same address in a browser to join: the page shows the same terminal, "main".
"""

import sys

import hawse


async def main(address: str) -> None:
    async with (
        hawse.connect(address) as client,
        client.sandbox().terminals.open("main", name="Ada", kind="person") as person,
        client.sandbox().terminals.open("main", name="helper", kind="agent") as agent,
    ):
        print("participants:", sorted(viewer.name for viewer in agent.viewers))

        # The person types. The agent waits until the shell has printed the result.
        await person.write(b"echo $((6 * 7)) apples\n")
        await agent.expect(r"^42 apples$")

        # The agent reads the screen as the person sees it.
        screen = await agent.screen()
        print("on screen:", "42 apples" in screen.content)

        # The agent runs a command at the prompt and gets its exit code and its output.
        ran = await agent.run("ls /nothing-here")
        print("exit code:", ran.code)

        # The agent drives an interactive program: it types, waits for the question, and answers.
        await agent.send("read -p 'name? ' name; echo \"hello $name\"", keys=["enter"])
        await agent.expect(r"^name\? ")
        await agent.send("gateway", keys=["enter"])
        answer = await agent.expect(r"^hello (\w+)$")
        print("answer:", answer.groups[0])

        # The agent takes the writer lease: until it is released, only the agent can type.
        lease = await agent.take()
        print("only the agent may type:", agent.me is not None and lease.holder == agent.me.id)
        await agent.release()


hawse.run(main(sys.argv[1]))
