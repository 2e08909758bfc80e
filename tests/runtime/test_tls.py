import asyncio
import os
import ssl

import pytest

from hawse_gateway.providers.kubernetes.certificate import make_certificate
from hawse_runtime.tls import server_context


async def test_a_server_proves_that_it_owns_its_certificate() -> None:
    made = make_certificate("box")
    before = set(os.listdir("/proc/self/fd"))
    context = server_context(made.with_key)
    assert set(os.listdir("/proc/self/fd")) == before
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    host, port = server.sockets[0].getsockname()
    for trusted, accepted in ((made.certificate, True), (make_certificate("box").certificate, False)):
        client = ssl.create_default_context(cadata=trusted)
        client.check_hostname = False
        try:
            _, writer = await asyncio.open_connection(host, port, ssl=client)
        except ssl.SSLCertVerificationError:
            assert not accepted
        else:
            assert accepted
            assert writer.get_extra_info("ssl_object").version() == "TLSv1.3"
            writer.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("text", ["", "no certificate", make_certificate("box").certificate])
def test_what_is_no_key_and_certificate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid key or certificate"):
        server_context(text)
