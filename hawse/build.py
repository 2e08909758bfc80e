"""Which build of hawse is running: pure Python, or with compiled modules for keys and bytes (docs/decisions/0127)."""

from typing import Final

from hawse.wire import frames

BUILD: Final = "pure" if str(frames.__file__).endswith(".py") else "compiled"
