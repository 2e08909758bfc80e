"""Start a development server and open a preview of it: python dev_server.py 'http://127.0.0.1:8080/#token=…'"""

import asyncio
import sys
import urllib.request

import hawse

PORT = 5173


async def main(address: str, port: int) -> None:
    async with hawse.connect(address) as client:
        box = client.sandbox()
        await box.files.write_text("site/index.html", "<h1>It works</h1>")
        command = ["python3", "-u", "-m", "http.server", str(port), "--bind", "127.0.0.1", "-d", "site"]
        async with box.processes.start(command) as server:
            await server.wait_for_port(port)

            # Anyone with this address can reach the port, and nothing else.
            preview = await box.ports.expose(port)
            print("open:", preview.url)

            # `path_url` needs no separate host name, so it works with every HTTP client.
            page = await asyncio.to_thread(urllib.request.urlopen, preview.path_url)
            print("page:", page.read().decode())

            await box.ports.unexpose(port)  # the address stops working
            await server.kill()


hawse.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else PORT))
