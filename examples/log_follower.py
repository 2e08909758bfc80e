"""Follow a log across restarts of the follower: python log_follower.py 'http://127.0.0.1:8080/#token=…'

The position is stored with each line. A restarted follower continues there, and no line is lost or duplicated. Lost
connections and replaced gateways need no code: the client resumes automatically.
"""

import json
import sys
from pathlib import Path

import hawse
from hawse.client import StaleHandleError, TruncatedError

WRITER = "for n in $(seq 300); do echo event $n; sleep 0.005; done"
POSITION = Path("position.json")  # the instance of the process, and the offset of the first unhandled byte


def load() -> tuple[str | None, int]:
    return tuple(json.loads(POSITION.read_text())) if POSITION.exists() else (None, 0)


def store(instance: str, offset: int) -> None:
    POSITION.write_text(json.dumps([instance, offset]))


async def follow(address: str, stop_after: int) -> list[str]:
    """Handle at most `stop_after` lines, or all until the log ends. Return the handled lines."""
    handled: list[str] = []
    async with hawse.connect(address) as client:
        instance, offset = load()
        processes = client.sandbox().processes
        try:
            log = await processes.attach("writer", instance=instance, since={"stdout": offset})
        except StaleHandleError:  # a new process has this id: its log starts at 0
            offset = 0
            log = await processes.attach("writer")
        rest = b""
        while True:
            try:
                chunk = await anext(log.stdout)
            except StopAsyncIteration:
                return handled
            except TruncatedError as error:  # these bytes are no longer kept; the iteration continues after them
                print("lost:", error)
                continue
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                handled.append(line.decode())
                offset += len(line) + 1
                store(log.instance, offset)
                if len(handled) == stop_after:
                    return handled


async def main(address: str) -> None:
    async with hawse.connect(address) as client:
        (await client.sandbox().processes.start(WRITER, id="writer")).detach()  # the process runs without a client

    first = await follow(address, stop_after=100)
    print("the first follower ended after", first[-1])
    second = await follow(address, stop_after=1000)
    print("the second one continued with", second[0])
    print("nothing lost or doubled:", first + second == [f"event {n}" for n in range(1, 301)])


hawse.run(main(sys.argv[1]))
