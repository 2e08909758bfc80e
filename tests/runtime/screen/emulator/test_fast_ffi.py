"""pyghostty is imported with compiled declarations, and as it is where they do not fit."""

import subprocess
import sys

import pytest

from hawse_runtime.screen.emulator.fast_ffi import DeclaredFFI, digest, install


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_runtime_does_not_parse_declarations() -> None:
    program = """if True:
        import sys
        import hawse_runtime.screen.emulator.screen
        ffi = type(sys.modules["pyghostty._ffi"].ffi)
        print("pycparser" in sys.modules, ffi.__name__, ffi.__module__)
    """
    assert run(program) == "False FFI _cffi_backend"


def test_another_version_of_pyghostty_is_imported_as_it_is() -> None:
    program = """if True:
        import sys
        import hawse_runtime.screen.emulator.ghostty_abi as abi
        abi.DIGEST = "of another version"
        for name in [name for name in sys.modules if name.startswith("pyghostty")]:
            del sys.modules[name]
        from hawse_runtime.screen.emulator import fast_ffi
        print(fast_ffi.install(), "pyghostty" in sys.modules)
    """
    assert run(program) == "False False"


def test_the_interface_is_that_of_the_installed_version() -> None:
    from hawse_runtime.screen.emulator import ghostty_abi

    assert digest() == ghostty_abi.DIGEST, "run `make generate`"


def test_nothing_happens_once_pyghostty_was_imported() -> None:
    import pyghostty

    assert pyghostty.Terminal is not None
    assert not install()


def test_declarations_are_ignored_and_everything_else_is_passed_on() -> None:
    class Compiled:
        def sizeof(self, name: str) -> int:
            return len(name)

    declared = DeclaredFFI(Compiled())
    declared.cdef("typedef int x;")
    assert declared.sizeof("abc") == 3
    with pytest.raises(AttributeError):
        _ = declared.missing
