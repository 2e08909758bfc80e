"""The system-call filters for user code: BPF programs that scripts/seccomp.py writes, two for each architecture."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("filters")
# The second filter to be installed must not refuse the call that installs it; both allow it.
NAMES: Final = ("arguments", "calls")


def system_call_filters(machine: str | None = None) -> list[bytes]:
    """Return the BPF programs for an architecture, as in `uname -m`; none if there are none for it.

    `machine`: by default that of this kernel.
    """
    files = [FOLDER / f"{machine or os.uname().machine}.{name}.bpf" for name in NAMES]
    return [file.read_bytes() for file in files if file.exists()]
