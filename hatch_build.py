"""Build hook: refuse to build a distribution that lacks the browser client.

`gateway/_web/` is built from `web/` by `make build` (or by `npm run build` in `web/`) and is not in the repository. An
editable install works without it.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebBundleHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter is hatchling's own
    """Check that `gateway/_web/index.html` exists before a wheel or an sdist is built."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises RuntimeError if the browser client is missing, except for an editable install."""
        if version == "editable":
            return
        index = Path(self.root, "gateway", "_web", "index.html")
        if not index.is_file():
            raise RuntimeError(
                f"gateway/_web/index.html is missing, so this {self.target_name} would have no browser "
                "client. Build it first: `make build`, or `cd web && npm ci && npm run build`."
            )
