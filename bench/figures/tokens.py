"""The time to look up a token: a wrong token, a token where only the last character is wrong, and a valid token.

If the time depended on the number of correct characters, the second would differ from the first, and tokens could be
guessed character by character. Rounds alternate, because the CPU's clock rate changes.
"""

import secrets
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.lab import Figures, Lab, percentile
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.store.sqlite import SqliteStore

ROUNDS: Final = 400
LOOKUPS: Final = 100  # look-ups per measurement, because the clock is not precise enough for a single one


async def tokens(lab: Lab, number: int) -> Figures:
    owner = secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory() as folder:
        async with Credentials(owner, SqliteStore(Path(folder) / "store.db")).running() as credentials:
            identity = credentials.find(owner)
            assert identity is not None
            token, _ = await credentials.create("token", OWNER, identity)
            last = "A" if token[-1] != "A" else "B"
            cases = {
                "wrong token, ns": "hwt_" + secrets.token_urlsafe(32),
                "token wrong at its end, ns": token[:-1] + last,
                "right token, ns": token,
            }
            found: dict[str, list[float]] = {name: [] for name in cases}
            for _ in range(ROUNDS):
                for name, secret in cases.items():
                    start = time.perf_counter_ns()
                    for _ in range(LOOKUPS):
                        credentials.find(secret)
                    found[name].append((time.perf_counter_ns() - start) / LOOKUPS)
    return {(name, "hawse"): percentile(times, 50) for name, times in found.items()}
