"""HTTP clients for servers on this machine."""

from typing import Any

import httpx


def http_client(base_url: str = "", **options: Any) -> httpx.AsyncClient:
    """Return a client without the settings of the environment, such as a proxy.

    It has no certificates: loading them takes 20 ms of processor time, and no server of its is reached by HTTPS.

    Args:
        base_url: What a path is relative to; empty: only complete URLs are requested.
        options: Further options of `httpx.AsyncClient`.
    """
    return httpx.AsyncClient(base_url=base_url, verify=False, trust_env=False, **options)
