"""TLS for the listening socket, with certificates that can be renewed while the gateway is running.

New connections use the renewed certificate. The files are polled instead of being reloaded on SIGHUP, because a gateway
also receives SIGHUP when its terminal is closed (docs/decisions/0115).
"""

import logging
import ssl
from pathlib import Path
from typing import Any, Final

log = logging.getLogger(__name__)

POLL: Final = 10.0  # seconds between checks of the files
HANDSHAKE_TIMEOUT: Final = 10.0  # seconds; the same as for request headers, since a handshake needs no token

Version = tuple[int, int, int]


class CertificateError(Exception):
    """The certificate or its key can't be used. The message names the affected file."""


class Certificate:
    """A gateway's certificate chain and key, read from PEM files.

    Attributes:
        context: The server's context. Each handshake uses the most recently loaded certificate.
    """

    def __init__(self, chain: Path, key: Path | None = None) -> None:
        """Load the files.

        Args:
            chain: The file with the certificate, followed by the intermediate certificates.
            key: The file with the private key, which must not have a passphrase. None if the key is in the certificate
                file.

        Raises:
            CertificateError: The files can't be used.
        """
        self._chain = chain.expanduser()
        self._key = self._chain if key is None else key.expanduser()
        self._versions = self._look()
        self._newest = self._load()
        self.context = self._load()
        self.context.sni_callback = self._choose

    def reload(self) -> bool:
        """Reload files that have changed. Return whether new connections get a different certificate.

        If the files can't be used, log the error and keep using the previous certificate. For example, a renewal may
        have written only one of the two files so far.
        """
        try:
            versions = self._look()
            if versions == self._versions:
                return False
            self._versions = versions
            self._newest = self._load()
        except CertificateError as error:
            log.error("! cannot renew the certificate: %s", error)
            return False
        log.info("= renewed the certificate from %s", self._chain)
        return True

    def _choose(self, handshake: Any, name: str | None, context: ssl.SSLContext) -> None:
        """Select the current certificate. OpenSSL calls this method in each handshake, even without a server name."""
        handshake.context = self._newest

    def _look(self) -> tuple[Version, Version]:
        return _version(self._chain), _version(self._key)

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._chain, self._key, password=self._no_passphrase)
        except ssl.SSLError as error:
            reason = error.reason or str(error)
            raise CertificateError(
                f"{self._chain} and {self._key} are not a PEM certificate and its key: {reason}"
            ) from error
        except OSError as error:
            raise CertificateError(f"{self._chain}, {self._key}: {error.strerror or error}") from error
        return context

    def _no_passphrase(self) -> str:
        raise CertificateError(f"{self._key} has a passphrase, which is not supported")


def _version(path: Path) -> Version:
    try:
        found = path.stat()
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from error
    return found.st_ino, found.st_mtime_ns, found.st_size
