"""Drive an interactive program: python repl.py 'http://127.0.0.1:8080/#token=…'

`expect` waits for output, and `send` types. The program here is Python's debugger; a shell, a database client or an
installer work in the same way. A person can watch: the gateway's page also shows the terminal `debugger`.
"""

import sys

import hawse

PROGRAM = """\
def average(numbers):
    total = 0
    for number in numbers:
        total += number
    return total / len(numbers)

print(average([1, 2, 6]))
"""


async def main(address: str) -> None:
    async with hawse.connect(address) as client:
        box = client.sandbox()
        await box.files.write_text("average.py", PROGRAM)
        async with box.terminals.open("debugger", argv=["python3", "-m", "pdb", "average.py"]) as debugger:
            await debugger.expect(r"^\(Pdb\) ")
            await debugger.send("break 5", keys=["enter"])
            stop = await debugger.expect(r"^Breakpoint 1 at .*:(\d+)")
            print("breakpoint in line", stop.groups[0])

            await debugger.send("continue", keys=["enter"])
            await debugger.expect(r"^-> return total")
            await debugger.send("p 'total', total", keys=["enter"])
            value = await debugger.expect(r"^\('total', (\d+)\)", timeout=10)
            print("total:", value.groups[0])

            await debugger.send("continue", keys=["enter"])
            result = await debugger.expect(r"^(\d\.\d)\r?$")
            print("result:", result.groups[0])

            await debugger.send(keys=["ctrl+d"])  # leave the debugger
            print("exit:", (await debugger.wait()).code)


hawse.run(main(sys.argv[1]))
