import compileall
import os
from pathlib import Path

from hawse_gateway.providers.bytecode import is_compiled


def test_a_package_is_compiled_if_each_module_has_bytecode_that_is_not_older(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "module.py").write_text("VALUE = 1\n")
    assert not is_compiled(package)
    compileall.compile_dir(package, quiet=2)
    assert is_compiled(package)
    os.utime(package / "inner" / "module.py", (2e9, 2e9))
    assert not is_compiled(package)
