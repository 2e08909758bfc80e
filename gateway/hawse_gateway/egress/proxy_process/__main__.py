"""`python -m hawse_gateway.egress.proxy_process`: runs one sandbox's proxy, with the plan on standard input."""

import logging
import os
import sys

import msgspec

from hawse_gateway.egress.plan import EgressPlan
from hawse_gateway.egress.proxy_process.proxy import run

BAD_PLAN = 2


def main() -> int:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=EgressPlan)

    def ready(line: bytes) -> None:
        os.write(1, line)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

    try:
        return run(plan, ready)
    except (OSError, ValueError) as error:
        print(f"cannot start the proxy: {error}", file=sys.stderr)
        return BAD_PLAN


if __name__ == "__main__":
    sys.exit(main())
