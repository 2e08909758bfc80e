"""Who loads libghostty."""

import subprocess
import sys


def test_a_runtime_does_not_load_the_emulator() -> None:
    """It is C that reads hostile bytes. Only the screen process does, which may crash."""
    program = "import sys, hawse_runtime.app; print([name for name in sys.modules if 'ghostty' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
