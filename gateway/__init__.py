"""What stands in front of the sandboxes: it authenticates, authorizes and forwards."""

from importlib.metadata import version

VERSION = version("hawse")
