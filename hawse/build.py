"""Which build of hawse runs: machine code for the path of keys and bytes, or Python for all (docs/decisions/0127)."""

from typing import Final

from hawse.wire import frames

BUILD: Final = "pure" if str(frames.__file__).endswith(".py") else "compiled"
