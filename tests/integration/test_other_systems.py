"""The client and the command line can be imported without POSIX-only modules, as on Windows.

Windows is imitated by removing modules, names and signals that it lacks, and the packages of the extra `server`.
`e2e/apps/test_release.py` checks that every dependency has a wheel for macOS and Windows.
"""

import subprocess
import sys

WALK = """
import importlib, pkgutil
import hawse
# Without what serves, and what only a server uses.
left = ("hawse.adapters.", "hawse.mcp.http", "hawse.mcp.server", "hawse.mcp.stdio", "hawse.rpc", "hawse.machine")
left += ("hawse.link.",)
for module in pkgutil.walk_packages(hawse.__path__, "hawse."):
    if not module.name.startswith(left) and not module.name.endswith(("__main__", ".join")):
        importlib.import_module(module.name)
"""
# Other packages are loaded first, since they would expect more of Windows.
IMITATE = f"""{WALK}
import importlib.abc, os, signal, sys, types
for name in [name for name in sys.modules if name.partition(".")[0] == "hawse"]:
    del sys.modules[name]
"""
IMITATE += """

LACKING = set("fcntl termios tty pty pwd grp resource uvloop readline curses".split())
SERVER = set("starlette uvicorn httptools pyghostty re2 h11 redis ipykernel jupyter_client zmq backports anyio".split())

class Lacking(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in LACKING | SERVER:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in [name for name in sys.modules if name.partition(".")[0] in LACKING]:
    del sys.modules[name]
sys.meta_path.insert(0, Lacking())
sys.platform = "win32"
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
for name in ("SIGHUP", "SIGQUIT", "SIGWINCH", "SIGTSTP", "SIGCONT", "SIGKILL", "pthread_kill"):
    delattr(signal, name)
for name in ("pread", "pwrite", "fchmod", "getuid", "O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "O_NONBLOCK", "mkfifo"):
    delattr(os, name)
"""


def test_the_client_and_the_commands_import_on_a_system_without_posix() -> None:
    subprocess.run([sys.executable, "-c", IMITATE + WALK], check=True, timeout=60)


def test_the_help_of_a_command_is_printed_on_a_system_without_posix() -> None:
    program = IMITATE + "from hawse.cli import main\nsys.exit(main(['exec', '--help']))"
    run = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert run.stdout.startswith("Usage: hawse exec")
