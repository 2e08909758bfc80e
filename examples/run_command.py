"""Run commands in a sandbox: python run_command.py 'http://127.0.0.1:8080/#token=…'"""

import sys

import hawse


async def main(address: str) -> None:
    async with hawse.connect(address) as client:
        box = client.sandbox()  # the sandbox "local"

        # A shell command. `check=True` raises `CommandError` if its exit code is not 0.
        system = await box.exec("uname -s", check=True)
        print("system:", system.text.strip())

        # An argument list runs without a shell. stdout and stderr stay separate.
        listing = await box.exec(["ls", "/nothing-here"])
        print("ls:", listing.code, "stderr:", listing.stderr.decode().strip())

        # Input.
        words = await box.exec(["wc", "-w"], stdin=b"one two three", check=True)
        print("words:", words.text.strip())

        # A timeout in seconds kills the command and all its child processes. The output so far is kept.
        slow = await box.exec("echo started; sleep 60", timeout=1)
        print("slow:", slow.text.strip(), "timed out:", slow.timed_out)


hawse.run(main(sys.argv[1]))
