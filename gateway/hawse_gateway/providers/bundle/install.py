"""Copies the bundle from an image into a directory. Like start.py, this file is part of the bundle.

The sandbox's container uses the user's image. Therefore, a second container in the pod, with the bundle's image, copies
the bundle into a volume.

install.py copy TARGET    copies the bundle
install.py wait TARGET    exits on SIGTERM, or with code 1 if `copy` has not started within a minute

`wait` keeps running after the copy, because a pod with an exited container is never ready. The pod's readiness must
reflect the node's state: when a node is lost, only its pods' readiness changes.
"""

import os
import sys

LOCK = ".installing"  # name of a file in the target directory, locked until the `copy` process exits
LIMIT = 60.0  # s
POLL = 0.02  # s


def main() -> None:
    bundle = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(bundle, "python", "lib")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    archive = os.path.join(library, f"python{version.replace('.', '')}.zip")
    sys.path[:] = [archive, os.path.join(library, f"python{version}", "lib-dynload")]
    _, what, target = sys.argv
    if what == "copy":
        copy(bundle, target)
    else:
        wait(target)


def copy(bundle: str, target: str) -> None:
    import fcntl  # imported from the bundle
    import shutil

    lock = os.path.join(target, LOCK)
    unlocked = f"{lock}.new"
    file = os.open(unlocked, os.O_CREAT | os.O_RDWR, 0o600)  # the file stays locked until the process ends
    fcntl.flock(file, fcntl.LOCK_EX)
    os.rename(unlocked, lock)
    for directory, _, names in os.walk(bundle):
        copied = os.path.join(target, os.path.relpath(directory, bundle))
        os.makedirs(copied, exist_ok=True)  # the target itself exists, and belongs to another user
        for name in names:
            shutil.copy(os.path.join(directory, name), copied)


def wait(target: str) -> None:
    import fcntl  # imported from the bundle
    import signal
    import time

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # without a handler, a container's process 1 ignores signals
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        try:
            file = os.open(os.path.join(target, LOCK), os.O_RDWR)
        except FileNotFoundError:
            time.sleep(POLL)
        else:
            fcntl.flock(file, fcntl.LOCK_SH)
            os.close(file)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            print("the runtime is installed", flush=True)
            signal.sigwait([signal.SIGTERM])
            return
    sys.exit(1)


if __name__ == "__main__":
    main()
