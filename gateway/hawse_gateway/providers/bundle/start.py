"""Runs a module from the bundle: `start.py MODULE ARGUMENTS…`. This file is part of the bundle and imports no hawse
code.

The interpreter is started with `-S`, and with `-I` for the runtime. Modules are therefore only imported from the
bundle, regardless of the contents of the image. Kernels are started without `-I`, so that users can set PYTHONPATH.
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
        site.sethelper()  # defines help(), which Python skips because of -S
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
