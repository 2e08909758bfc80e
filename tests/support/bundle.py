"""The runtime bundle that all tests share."""

import fcntl
from pathlib import Path

from hawse_gateway.providers.bundle.build import ensure_bundle

BUNDLES = Path(__file__).resolve().parents[2] / "build" / "bundles"  # a bundle takes up to half a minute to build


def ensure_tests_bundle() -> Path:
    """Return the bundle. If several processes need it, one process builds it and the others wait."""
    BUNDLES.mkdir(parents=True, exist_ok=True)
    with BUNDLES.with_name("bundles.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return ensure_bundle(BUNDLES)
