"""Each test runs in a separate interpreter, because its modules must not be loaded before."""

import subprocess
import sys

import pytest

from tests.support.stack import Stack

BEGIN = "import sys; from hawse.cli.deferred_modules import RARE, defer; defer(*RARE);"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "use",
    [
        "import importlib.metadata; print(importlib.metadata.version('click'))",
        "from importlib import metadata; print(metadata.version('click'))",
        "from importlib.metadata import version; print(version('click'))",
        "import urllib.request; print(urllib.request.getproxies() is not None)",
        "import linecache; print(linecache.getline(linecache.__file__, 1))",
        "import msgspec; defer(*RARE); print(msgspec.inspect.type_info(int))",
    ],
)
def test_a_module_is_loaded_when_it_is_used(use: str) -> None:
    assert run(use).strip()


def test_an_import_alone_loads_nothing() -> None:
    code = "import importlib.metadata, urllib.request;"
    code += "print([name for name in ('zipfile', 'http.client') if name in sys.modules])"
    assert run(code) == "[]\n"


def test_a_loaded_module_stays() -> None:
    code = "import importlib.metadata; importlib.metadata.version('click'); defer('importlib.metadata');"
    assert run(f"{code} print(type(sys.modules['importlib.metadata']))") == "<class 'module'>\n"


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    assert run("import urllib.request; print(hasattr(urllib.request, 'no_such_name'))") == "False\n"


def test_a_command_that_connects_loads_no_module_for_mail_or_archives(gateway: Stack) -> None:
    code = (
        "from hawse.cli import main; main(['ps']);"
        "print([name for name in ('email.message', 'zipfile', 'http.client', 'rich') if name in sys.modules])"
    )
    environment = {"HAWSE_URL": gateway.base, "HAWSE_TOKEN": gateway.token}
    argv = [sys.executable, "-c", BEGIN + code]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
