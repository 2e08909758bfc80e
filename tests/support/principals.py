"""Principals as a gateway sends them to a runtime, for tests of runtimes and of the wire format."""

from hawse.wire import Principal

VIEWER = Principal(id="viewer", name="viewer", kind="guest", rights=("view",))
AT_MAIN = Principal(id="link", name="", kind="guest", rights=("write@main",))
PREVIEW = Principal(id="preview", name="preview", kind="guest", rights=("preview",))
