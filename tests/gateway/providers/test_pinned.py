import asyncio
import ssl

import pytest

from hawse_gateway.providers.kubernetes.certificate import make_certificate
from hawse_gateway.providers.pinned import pinned_context
from hawse_runtime.tls import server_context


async def test_only_the_server_with_the_certificate_is_trusted_whatever_its_name_is() -> None:
    made = make_certificate("box")
    context = server_context(made.with_key)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        address = server.sockets[0].getsockname()
        _, writer = await asyncio.open_connection(*address, ssl=pinned_context(made.certificate))
        writer.transport.abort()
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection(*address, ssl=pinned_context(make_certificate("box").certificate))
