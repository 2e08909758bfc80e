"""`python -m hawse_runtime.posix.isolation_check`: tests the inner sandbox and prints its restrictions as JSON.

A provider runs this in the outer sandbox before offering isolation. Exit code 4: the inner sandbox can't be created.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from hawse_runtime.posix import inner_sandbox, linux

NOT_SEPARATED = 4  # the same exit code as `python -m hawse_runtime`
LOOK = "cat /proc/self/status; echo; ls /proc; echo; cat /proc/net/dev"


def main() -> None:
    parser = argparse.ArgumentParser(prog="isolation_check")
    parser.add_argument("--private", type=Path)
    parser.add_argument("--no-network", action="store_true")
    parser.add_argument("--shared-user", action="store_true")
    args = parser.parse_args()
    linux.deny_dumps()
    try:
        options = inner_sandbox.InnerOptions(
            covered=args.private, network=not args.no_network, shared_user=args.shared_user
        )
        inner = inner_sandbox.enter(options)
        status, names, interfaces = inner.thread.run(look).split("\n\n")
    except (OSError, ValueError) as error:
        print(f"cannot separate user code from the runtime: {error}", file=sys.stderr)
        sys.exit(NOT_SEPARATED)
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    found = {
        "uid": int(fields["Uid"].split()[0]),
        "capabilities": int(fields["CapEff"], 16),
        "no_new_privileges": fields["NoNewPrivs"] == "1",
        "seccomp": int(fields.get("Seccomp", "0")) == 2,  # 2 is filter mode; a kernel without seccomp omits the field
        "pids": sorted(int(name) for name in names.split() if name.isdigit()),
        "interfaces": [line.partition(":")[0].strip() for line in interfaces.splitlines()[2:]],
    }
    print(json.dumps(found))


def look() -> str:
    """Run a program that prints how much of the system is visible to it. Raises `OSError`."""
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write, 1)]
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", LOOK], {"PATH": os.defpath}, file_actions=actions)
    finally:
        os.close(write)
    with open(read) as output:
        text = output.read()
    os.waitpid(pid, 0)
    return text


if __name__ == "__main__":
    main()
