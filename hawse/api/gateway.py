"""The method of the gateway itself that concerns no sandbox and no access: `preview.host`."""

from hawse.api.rights import VIEW
from hawse.api.spec import SELECTED, Params, Reply, method

# ---- values


class PreviewHostResult(Reply, frozen=True, kw_only=True):
    """Where previews are reached by host name.

    Attributes:
        host: The parent domain of the previews' host names; null if previews are reached by path only.
    """

    host: str | None = None


# ---- methods


@method("preview.host", safe=True, requires=VIEW, terminal=SELECTED, sandbox=False)
class PreviewHost(Params[PreviewHostResult], kw_only=True):
    """Return the domain below which each preview has a host name of its own."""
