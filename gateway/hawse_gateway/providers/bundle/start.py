"""Run a module of the bundle: `start.py MODULE ARGUMENTS…`. It is copied into the bundle and imports nothing of ours.

The interpreter is started with `-S`, and `-I` for the runtime, so that only the directories of the bundle are searched
for modules, whatever the image contains. Kernels are started without `-I`: user code may set PYTHONPATH.
"""

import os
import runpy
import site
import sys

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
STANDARD = f"python{VERSION.replace('.', '')}.zip"  # in python/lib
SITE = "site.zip"


def main() -> None:
    bundle = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(bundle, "python", "lib")
    extensions = os.path.join(library, f"python{VERSION}", "lib-dynload")
    sys.path[:] = [
        os.path.join(library, STANDARD),
        extensions,
        os.path.join(bundle, SITE),
        os.path.join(bundle, "site"),
    ]
    if not sys.flags.isolated:
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(":"))
        site.sethelper()  # which -S leaves out
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
