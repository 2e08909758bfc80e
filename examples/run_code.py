"""Run code with rich results: python run_code.py 'http://127.0.0.1:8080/#token=…'"""

import sys

import hawse


async def main(address: str) -> None:
    async with hawse.connect(address) as client, client.sandbox().code.create("python") as ctx:
        # Variables, imports and the working directory persist between runs.
        await ctx.run("from IPython.display import HTML\nsquares = [n * n for n in range(5)]")
        done = await ctx.run("sum(squares)")
        print("value:", done.text)

        # Values have several representations: text, HTML, images and more.
        shown = await ctx.run("HTML('<b>bold</b>')")
        print("html:", shown.results[0].html)

        # An error in the code is a result, not an exception.
        failed = await ctx.run("1 / 0")
        print("error:", failed.error and failed.error.name)

        # Output arrives while the code runs, and a function answers `input()`.
        await ctx.run(
            "print('hello', input('name? '))",
            on_stdout=lambda data: print("output:", data.decode().strip()),
            on_input=lambda request: "Ada",
        )


hawse.run(main(sys.argv[1]))
