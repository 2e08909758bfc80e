"""The gateway: authenticates clients, checks their rights and forwards their calls to sandboxes."""

from importlib.metadata import version

VERSION = version("hawse")
