"""A guest joins a shell with a link: python collaborative_shell.py 'http://127.0.0.1:8080/#token=…'

The owner gives a guest access to one terminal, types with the guest, takes the keyboard for a while, and revokes
the access. The guest is a program here; a person would open the link in a browser.
"""

import sys

import hawse
from hawse.client import HawseError


async def main(address: str) -> None:
    base = address.partition("/#")[0]
    async with (
        hawse.connect(address) as client,
        client.sandbox().terminals.open("shared", name="Ada", kind="person") as owner,
    ):
        link = await client.links.create(terminal="shared", role="writer", name="Bob", expires_in=3600)
        print("a browser opens:", base + link.path.partition("#")[0])

        async with (
            hawse.connect(base, token=link.token) as guest_client,
            guest_client.sandbox().terminals.attach("shared", kind="person") as guest,
        ):
            print("participants:", sorted(viewer.name for viewer in guest.viewers))

            # Both type into the same shell.
            await guest.run("cd /; NAME=Bob")
            ran = await owner.run('echo "hello $NAME from $PWD"')
            print("one shell:", ran.text.strip())

            # The owner takes the writer lease: the guest's input is refused until the lease is released.
            await owner.take()
            try:
                await guest.send("echo intruding", keys=["enter"])
            except HawseError as error:
                print("while the owner types alone:", error.code)
            await owner.release()

            # The guest has access to this terminal and nothing else.
            try:
                await guest_client.sandbox().exec("id")
            except HawseError as error:
                print("commands of the guest:", error.code)

            await client.links.revoke(link.info.id)
            try:
                await guest.screen()
            except HawseError as error:
                print("after the end of the link:", error.code)


hawse.run(main(sys.argv[1]))
