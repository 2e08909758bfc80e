"""Where a browser may be sent after a login. No I/O."""

import re
from typing import Final

RETURN_MAX: Final = 1024  # characters of the address to return to
_PATH: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # a path on this host: no second slash, backslash or space


def valid_return(path: str) -> bool:
    """Return whether a browser may be sent to `path` after a login: a path of this host without a fragment."""
    return len(path) <= RETURN_MAX and "#" not in path and _PATH.fullmatch(path) is not None
