"""All gateway settings, combined from the settings of each feature (`hawse_gateway.core.settings`)."""

from dataclasses import dataclass

from hawse_gateway.auth.settings import AccessSettings
from hawse_gateway.backups.settings import BackupSettings
from hawse_gateway.connection.settings import ConnectionSettings
from hawse_gateway.core.log_config import LogSettings
from hawse_gateway.limits.settings import LimitSettings
from hawse_gateway.metrics.settings import SpanSettings
from hawse_gateway.mounts.settings import MountFileSettings
from hawse_gateway.preview.settings import PreviewSettings
from hawse_gateway.providers.settings import ProviderSettings
from hawse_gateway.sandboxes.settings import CapacitySettings, SandboxSettings
from hawse_gateway.sign_on.settings import ProxyUserSettings, SignOnSettings
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.transport.settings import ProxySettings, ServerSettings, TlsSettings
from hawse_gateway.tunnels.settings import TunnelSettings


@dataclass(frozen=True, kw_only=True)
class Settings(
    # The bases are in the reverse order of `hawse serve --help`, because a dataclass puts the fields of its last base
    # class first.
    LogSettings,
    SpanSettings,
    SandboxSettings,
    BackupSettings,
    MountFileSettings,
    StoreSettings,
    CapacitySettings,
    LimitSettings,
    ConnectionSettings,
    TunnelSettings,
    PreviewSettings,
    ProxyUserSettings,
    ProxySettings,
    AccessSettings,
    SignOnSettings,
    TlsSettings,
    ProviderSettings,
    ServerSettings,
):
    """The settings for `hawse serve`."""
