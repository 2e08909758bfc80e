"""Build hook: a wheel without the browser client is a broken wheel, so refuse to build one.

`gateway/_web/` is built from `web/` by `make build` (or `npm run build` in `web/`) and is no part of the
repository. An editable install works without it: whoever runs from a checkout may want only the Python side.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebBundleHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter is hatchling's own
    """Checks, before a wheel or an sdist is made, that `gateway/_web/index.html` is there to go in."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises RuntimeError when a distribution would lack the bundle; an editable install may."""
        if version == "editable":
            return
        index = Path(self.root, "gateway", "_web", "index.html")
        if not index.is_file():
            raise RuntimeError(
                f"gateway/_web/index.html is missing, so this {self.target_name} would have no browser "
                "client. Build it first: `make build`, or `cd web && npm ci && npm run build`."
            )
