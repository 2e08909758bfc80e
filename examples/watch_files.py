"""React to changes in a directory: python watch_files.py 'http://127.0.0.1:8080/#token=…'"""

import sys

import hawse
from hawse.client import WatchRescan


async def main(address: str) -> None:
    async with hawse.connect(address) as client:
        box = client.sandbox()
        await box.files.mkdir("notes", parents=True)

        # Every change after `async with` is reported. A reconnect misses nothing.
        async with box.watches.start("notes", include=["*.txt"]) as watch:
            await box.files.write_text("notes/ignored.log", "not matched by `include`")
            await box.exec("echo first > notes/a.txt; echo second > notes/b.txt", check=True)
            seen: set[str] = set()
            async for change in watch:
                if isinstance(change, WatchRescan):  # changes were lost: a real program would list the directory again
                    continue
                name = str(change.path).rpartition("/")[2]
                if change.type != "deleted" and name not in seen:
                    seen.add(name)
                    print(name, "->", (await box.files.read_text(f"notes/{name}")).strip())
                if len(seen) == 2:
                    break


hawse.run(main(sys.argv[1]))
