"""Continue a terminal's output at the exact byte: python resume.py 'http://127.0.0.1:8080/#token=…'

A client reconnects and resumes automatically. This program does the same with two clients, as after a restart: the
first remembers the instance and the offset, and the second continues there.
"""

import re
import sys

import hawse

COUNT = ["sh", "-c", "n=0; while [ $n -lt 200 ]; do n=$((n+1)); echo line $n; sleep 0.01; done; echo end"]


async def main(address: str) -> None:
    output = b""
    async with hawse.connect(address) as client, client.sandbox().terminals.open("counter", argv=COUNT) as terminal:
        async for chunk in terminal:
            output += chunk
            if b"line 50" in output:
                break
        instance, offset = terminal.instance, terminal.offset
    print("disconnected at offset", offset)

    async with (
        hawse.connect(address) as client,
        client.sandbox().terminals.attach("counter", instance=instance, since=offset) as terminal,
    ):
        async for chunk in terminal:
            output += chunk

    numbers = [int(number) for number in re.findall(rb"line (\d+)", output)]
    print("nothing lost or doubled:", numbers == list(range(1, 201)))


hawse.run(main(sys.argv[1]))
