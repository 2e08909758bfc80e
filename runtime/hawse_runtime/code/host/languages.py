"""Finds installed Jupyter kernels by language or name.

Kernels installed in the sandbox take precedence over kernels that belong to the Python running this host. The search
covers Jupyter's directories and the prefix of each directory in PATH: a Python in `/opt/conda/bin` has its kernels in
`/opt/conda/share/jupyter/kernels`.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_core.paths import SYSTEM_JUPYTER_PATH, jupyter_path

from hawse_runtime.code.host.unlimited_output import keeping_output
from hawse_runtime.code.host_protocol import OWN_PYTHON, Failure


class Known(NamedTuple):
    """A language that has a default kernel."""

    kernel: str  # the name of the default kernel
    install: str  # a command that installs the kernel


PYTHONS = ("python", "python3", f"python3.{sys.version_info.minor}")  # program names that jupyter_client would replace
KERNELS = Path("share", "jupyter", "kernels")  # path below the prefix of a Python installation

KNOWN = {
    "python": Known("python3", "pip install ipykernel"),
    "javascript": Known("deno", "npm install -g deno"),
    "typescript": Known("deno", "npm install -g deno"),
    "bash": Known("bash", "pip install bash_kernel"),
}


class Unavailable(Exception):
    """Raised when no kernel is installed for a language. `failure` contains the message."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(code="language_unavailable", message=message)


class Installed(NamedTuple):
    """An installed kernel."""

    name: str
    language: str
    spec: KernelSpec


class Languages(KernelSpecManager):
    """The kernels currently installed. Each query reads the file system."""

    def __init__(self, python: Sequence[str] = OWN_PYTHON) -> None:
        """Create the instance. `python` is the command for running a module in this interpreter."""
        super().__init__(ensure_native_kernel=False)  # `_built_in` provides the native kernel instead
        self._python = [word for word in python if word != "-I"]  # -I would ignore PYTHONPATH, which user code may need

    def _kernel_dirs_default(self) -> list[str]:
        own = Path(sys.prefix) / KERNELS
        programs = [Path(path).parent for path in os.get_exec_path() if Path(path).name == "bin"]
        others = [
            *jupyter_path("kernels"),
            *(str(Path(path) / "kernels") for path in SYSTEM_JUPYTER_PATH),
            *(str(prefix / KERNELS) for prefix in programs),
        ]
        return [*dict.fromkeys(path for path in others if Path(path) != own), str(own)]

    def find(self, language: str | None, kernel: str | None) -> Installed:
        """Return the kernel with this name or, without a name, the kernel for this language.

        Raises:
            Unavailable: The kernel is not installed.
        """
        if kernel is not None:
            spec = self._spec(kernel)
            if spec is None:
                raise Unavailable(f"no Jupyter kernel named {kernel} is installed")
            return Installed(kernel, language or spec.language.lower(), spec)
        language = (language or "python").lower()
        known = KNOWN.get(language)
        if known is not None and (spec := self._spec(known.kernel)) is not None:
            return Installed(known.kernel, language, spec)
        for name in sorted(self.find_kernel_specs()):
            spec = self._spec(name)
            if spec is not None and spec.language.lower() == language:
                return Installed(name, language, spec)
        how = f"install one with `{known.install}`" if known else "install one and its kernel specification"
        raise Unavailable(f"no Jupyter kernel for {language} is installed; {how}")

    def all(self) -> list[dict[str, str | None]]:
        """Return all languages that are installed or known, as fields of `hawse.api.code.CodeLanguage`."""
        found: list[dict[str, str | None]] = []
        for language, known in KNOWN.items():
            try:
                installed = self.find(language, None)
            except Unavailable:
                found.append({"language": language, "install": known.install})
            else:
                found.append(_described(installed))
        listed = {(entry["language"], entry.get("kernel")) for entry in found}
        for name in sorted(self.find_kernel_specs()):
            spec = self._spec(name)
            if spec is not None and (spec.language.lower(), name) not in listed:
                found.append(_described(Installed(name, spec.language.lower(), spec)))
        return [entry for entry in found if entry.get("kernel") != "deno" or entry["language"] in KNOWN]

    def _spec(self, name: str) -> KernelSpec | None:
        """Return a kernel's specification, or None if it is missing or invalid."""
        try:
            spec = self.get_kernel_spec(name)
        except Exception:  # KeyError, or any error caused by an invalid file
            return self._built_in(name)
        return spec if spec.argv and shutil.which(spec.argv[0]) is not None else self._built_in(name)

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return a kernel's specification, even if the kernel was installed without one. Raises `KeyError`."""
        if kernel_name.lower() in self.find_kernel_specs():
            spec = super().get_kernel_spec(kernel_name)
        elif (built_in := self._built_in(kernel_name)) is not None:
            spec = built_in
        else:
            raise KeyError(kernel_name)
        if spec.argv:
            spec.argv[0] = self._program_of(spec)
            spec.argv = keeping_output(spec.argv, spec.language)
        return spec

    def _program_of(self, spec: KernelSpec) -> str:
        """Return the program in a specification, where `python` means the interpreter that installed the kernel.

        jupyter_client would replace `python` with the Python that runs this host, which lacks the kernel's packages.
        """
        program = spec.argv[0]
        if program not in PYTHONS:
            return str(program)
        prefix = Path(os.path.normpath(f"{spec.resource_dir}/../../../.."))
        if prefix == Path(sys.prefix):
            return sys.executable
        beside = prefix / "bin" / program
        return str(beside) if os.access(beside, os.X_OK) else shutil.which(program) or sys.executable

    def _built_in(self, name: str) -> KernelSpec | None:
        """Return the specification for a kernel that was installed without one."""
        if name == "deno" and (deno := shutil.which("deno")) is not None:
            argv = [deno, "jupyter", "--kernel", "--conn", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Deno", language="typescript", interrupt_mode="message")
        for kernel, module, title, language in (
            ("python3", "ipykernel", "Python 3", "python"),
            ("bash", "bash_kernel", "Bash", "bash"),
        ):
            if name == kernel and find_spec(module) is not None:
                argv = [*self._python, module, "-f", "{connection_file}"]
                return KernelSpec(argv=argv, display_name=title, language=language)
        return None


def _described(installed: Installed) -> dict[str, str | None]:
    return {"language": installed.language, "kernel": installed.name, "title": installed.spec.display_name}
