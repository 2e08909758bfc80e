"""Copy the bundle of an image into a directory: `install.py TARGET`. It is copied into the bundle, as start.py is.

A pod has the image of its user, so an init container with the image of the bundle copies it into a volume of the pod.
"""

import os
import sys


def main() -> None:
    bundle = os.path.dirname(os.path.abspath(__file__))
    standard = os.path.join(bundle, "python", "lib", f"python{sys.version_info.major}.{sys.version_info.minor}")
    sys.path[:] = [standard, os.path.join(standard, "lib-dynload")]
    import shutil  # from the bundle

    for directory, _, names in os.walk(bundle):
        target = os.path.join(sys.argv[1], os.path.relpath(directory, bundle))
        os.makedirs(target, exist_ok=True)  # the directory itself belongs to another user
        for name in names:
            shutil.copy(os.path.join(directory, name), target)


if __name__ == "__main__":
    main()
