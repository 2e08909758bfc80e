"""The gateway. It authenticates clients, checks their permissions and forwards their calls to sandboxes."""

from hawse import __version__ as VERSION

__all__ = ["VERSION"]
